// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/numbers/random.h"
#include "tuner/core/evaluation/finding_text.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {
namespace {

constexpr uint64_t kAlignmentPurpose = 0xa119;

}  // namespace

Judgement::Judgement(DeviceSession& device, const JudgeRequest& given_request, const JudgeProgress& progress)
    : alignment_turn_(Keyed(given_request.options.seed, kAlignmentPurpose, 0)),
      special_turn_(Keyed(given_request.options.seed, kAlignmentPurpose, 1)),
      progress_(progress),
      phase_limit_seconds_(policy::kLoadSeconds),
      session(device, [this](double limit_seconds) { AnnounceLaunch(limit_seconds); }),
      request(given_request),
      task(*given_request.task),
      secrets(given_request.options.seed),
      unrepeated(SystemSeed()),
      digest_key(unrepeated.Next()) {
  evaluation.task = task.name;
  evaluation.device = facts().id + " " + facts().name;
  evaluation.modelled = facts().modelled;
  evaluation.binding = request.candidate->binding;
  evaluation.seed = request.options.seed;
  evaluation.gates = kGatesVersion;
  evaluation.verdict = Verdict::kOk;
}

OracleChecker Judgement::MakeChecker() {
  if (request.reference != nullptr) return OracleChecker(session, task, {.host = request.reference});
  return OracleChecker(session, task,
                       {.candidate = &request.oracle->candidate,
                        .program = programs.oracle.get(),
                        .limit_seconds = policy::OracleSeconds(request.launch_limit_seconds)});
}

Gate Judgement::Stop(Verdict verdict, std::string detail) {
  evaluation.verdict = verdict;
  evaluation.detail = std::move(detail);
  return Gate::kStopped;
}

Gate Judgement::StopWrong(const CheckOutcome& checked) {
  std::string detail = checked.detail;
  if (checked.mismatch->wrong_elements == 0) {
    // Every element is near enough and all together are not: name the sizes up to which the kernel was precise.
    for (const auto& [name, size] : checked.mismatch->dims) {
      int64_t largest = -1;
      for (const CaseResult& passed : evaluation.cases) {
        if (const auto found = passed.dims.find(name); found != passed.dims.end())
          largest = std::max(largest, found->second);
      }
      if (largest > 0 && largest < size) detail += fmt::format("; wrong at {}={}, right up to {}", name, size, largest);
    }
  }
  evaluation.mismatch = checked.mismatch;
  return Stop(Verdict::kWrongOutput, std::move(detail));
}

void Judgement::Announce(const std::string& phase, const std::string& detail, double limit_seconds) {
  phase_ = phase;
  phase_detail_ = detail;
  phase_limit_seconds_ = limit_seconds;
  if (progress_) progress_(phase, detail, limit_seconds);
}

void Judgement::AnnounceLaunch(double limit_seconds) {
  if (progress_) progress_(phase_, phase_detail_, limit_seconds > 0 ? limit_seconds : phase_limit_seconds_);
}

void Judgement::AddFindings(const std::vector<Finding>& findings, const Dims& shape, CaseRole role) {
  const bool timed = role == CaseRole::kTime;
  for (const Finding& finding : findings) {
    auto known = std::find_if(evaluation.findings.begin(), evaluation.findings.end(), [&](const Finding& f) {
      return f.kind == finding.kind && f.location == finding.location;
    });
    const bool first = known == evaluation.findings.end();
    if (!first && known->timed && !timed) continue;
    if (first) known = evaluation.findings.insert(known, finding);
    std::set<Dims>& shapes = shapes_of_finding_[{finding.kind, finding.location}];
    if (first || (timed && !known->timed)) {
      *known = finding;
      known->dims = shape;
      known->timed = timed;
      shapes.clear();
    }
    shapes.insert(shape);
    known->shapes = static_cast<int64_t>(shapes.size());
  }
}

Result<std::unique_ptr<CaseBuffers>> Judgement::MakeBuffers(const Dims& dims,
                                                            const std::vector<const ResolvedPlan*>& plans, int sets,
                                                            bool exact_align) {
  const Placement placement{.apart = request.gates.apart,
                            .read_only_inputs = request.gates.read_only_inputs,
                            .mapped_neighbors = request.gates.mapped_neighbors};
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<CaseBuffers> buffers,
      CaseBuffers::Make(session, task, dims, plans, sets, exact_align, secrets.Next(), /*sampled=*/false, placement));
  buffers->UseFillKey(unrepeated.Next());
  if (!request.gates.changing_fills) buffers->UseFixedFills();
  return buffers;
}

void Judgement::AddDoubt(Finding finding) {
  std::vector<Finding>& findings = evaluation.findings;
  const auto known = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& f) { return f.kind == finding.kind && f.dims == finding.dims; });
  if (known == findings.end()) findings.insert(findings.begin(), std::move(finding));
}

void Judgement::DropUntimedAdvice() {
  std::erase_if(evaluation.findings, [](const Finding& f) { return IsAdvice(f.kind) && !f.timed; });
}

void Judgement::EndStage(const char* name, double started) {
  const double seconds = SteadySeconds() - started;
  evaluation.stages.push_back({name, seconds, true});
  evaluation.device_seconds += seconds;
}

}  // namespace hone
