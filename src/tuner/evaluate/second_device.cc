// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/second_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/core/finding_text.h"
#include "tuner/core/tensor_roles.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/compile/compile_candidate.h"

namespace hone {
namespace {

constexpr char kLabel[] = "not_simulated";
// One core simulates some 1e7 accesses a second; a case of this many operations or bytes takes a tenth of a second.
constexpr double kMostFlops = 2e6;
constexpr int64_t kMostBytes = 256 << 10;

bool WritesAnything(const Task& task, const Dims& dims) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    if (!IsOutput(tensor)) return false;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    return shape.ok() && shape->elements > 0;
  });
}

// nullopt: too much to simulate.
std::optional<int64_t> CheapBytes(const Task& task, const Dims& dims) {
  const Result<int64_t> bytes = CaseBuffers::SetBytes(task, dims);
  const Result<double> flops = Flops(task, dims);
  if (!bytes.ok() || *bytes > kMostBytes || !flops.ok() || *flops > kMostFlops) return std::nullopt;
  return *bytes;
}

Result<CompiledProgram> Compile(Compiler& compiler, const Task& task, const std::string& source, const std::string& name,
                                const Binding& binding, bool is_oracle, int jobs) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(source, name, task, is_oracle));
  return CompileCandidate(compiler, candidate, task, binding, is_oracle, jobs);
}

const CompiledModule* Failure(const CompiledProgram& program) {
  for (const auto& [key, module] : program.modules) {
    if (module.verdict != Verdict::kOk) return &module;
  }
  return nullptr;
}

// What the candidate did to memory, wherever it ran.
bool Condemns(Verdict verdict) { return verdict == Verdict::kCrashed || verdict == Verdict::kRuleViolation; }

}  // namespace

Task SmallCases(const Task& task) {
  Task small = task;
  small.cases.clear();
  std::vector<std::pair<int64_t, Case>> cheap;
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kCheck || !WritesAnything(task, c.dims)) continue;
    if (const std::optional<int64_t> bytes = CheapBytes(task, c.dims)) cheap.emplace_back(*bytes, c);
  }
  std::stable_sort(cheap.begin(), cheap.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!cheap.empty()) small.cases.push_back(cheap.front().second);
  if (cheap.size() > 1) small.cases.push_back(cheap.back().second);
  for (HiddenGroup& group : small.hidden) group.count = 1;
  // Ranges whose upper ends are dear would be drawn from all the same.
  std::erase_if(small.hidden, [&](const HiddenGroup& group) {
    Dims largest;
    for (const HiddenRange& range : group.ranges) largest[range.dim] = range.high;
    return !CheapBytes(task, largest);
  });
  return small;
}

Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference) {
  Evaluation cannot;
  cannot.verdict = Verdict::kUnsupported;
  JudgeJob job;
  job.task = SmallCases(task);
  if (job.task.cases.empty()) {
    cannot.detail = "no check case is small enough to simulate beside a GPU";
    return cannot;
  }
  HONE_ASSIGN_OR_RETURN(job.candidate, Compile(simulated.compiler(), task, request.source, request.name, request.binding,
                                               false, compile_jobs));
  if (const CompiledModule* failure = Failure(job.candidate)) {
    cannot.detail = "it does not compile there: " + failure->digest;
    return cannot;
  }
  if (reference != nullptr) {
    job.reference = std::move(reference);
  } else {
    HONE_ASSIGN_OR_RETURN(job.oracle, Compile(simulated.compiler(), task, task.oracle_source, task.name + "/oracle.cu", {},
                                              true, compile_jobs));
    if (const CompiledModule* failure = Failure(job.oracle)) {
      cannot.detail = "the oracle does not compile there: " + failure->digest;
      return cannot;
    }
  }
  if (!task.seed_source.empty()) {
    // For shapes that the plan leaves out.
    Result<CompiledProgram> seed =
        Compile(simulated.compiler(), task, task.seed_source, task.name + "/seed.cu", {}, false, compile_jobs);
    if (seed.ok() && Failure(*seed) == nullptr) job.fallback = *std::move(seed);
  }
  job.options = request;
  job.options.time = job.options.profile = job.options.libraries = false;
  job.launch_limit_seconds = launch_limit_seconds;
  return simulated.Judge(job, {});
}

Evaluation WithoutSimulation(Evaluation measured, const std::string& why) {
  measured.labels.push_back(kLabel);
  measured.findings.push_back({.kind = kLabel, .message = "the small cases did not run on the simulated GPU too: " + why, .location = ""});
  return measured;
}

Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated) {
  if (!simulated.ok()) return WithoutSimulation(std::move(measured), simulated.status().message());
  measured.stages.insert(measured.stages.end(), simulated->stages.begin(), simulated->stages.end());
  for (size_t i = measured.stages.size() - simulated->stages.size(); i < measured.stages.size(); ++i) {
    measured.stages[i].name = "simulated " + measured.stages[i].name;
    measured.stages[i].holds_device = false;
  }
  const bool condemned = Condemns(simulated->verdict), wrong = simulated->verdict == Verdict::kWrongOutput;
  if (simulated->verdict != Verdict::kOk && !condemned && !wrong) {
    return WithoutSimulation(std::move(measured), fmt::format("{}{}{}", VerdictName(simulated->verdict),
                                                              simulated->detail.empty() ? "" : ": ", simulated->detail));
  }
  // Advice about speed is the GPU's own to give.
  std::vector<Finding> joined;
  if (wrong) {
    joined.push_back({.kind = "simulated_wrong_output", .message = "on the simulated GPU, " + simulated->detail, .location = ""});
  }
  for (const Finding& finding : simulated->findings) {
    if (!IsAdvice(finding.kind) && finding.kind != "untested_alternative") joined.push_back(finding);
  }
  measured.findings.insert(measured.findings.begin(), joined.begin(), joined.end());
  if (!condemned || measured.verdict != Verdict::kOk) return measured;
  measured.verdict = simulated->verdict;
  measured.detail = "on the simulated GPU, where small cases run too: " + simulated->detail;
  measured.mismatch.reset();
  measured.profile.reset();
  measured.geomean_speedup.reset();
  std::erase_if(measured.cases, [](const CaseResult& c) { return c.role == CaseRole::kTime; });
  return measured;
}

}  // namespace hone
