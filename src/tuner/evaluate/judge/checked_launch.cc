// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/checked_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/launch_verdict.h"

namespace hone {
namespace {

using TensorDigests = std::map<std::string, std::vector<uint64_t>>;

// Returns digests of the inputs in set 0 that a launch may not change.
Result<TensorDigests> InputDigests(Judgement& judgement, const CaseBuffers& buffers, uint64_t digest_key) {
  TensorDigests digests;
  for (const TensorSpec& tensor : judgement.task.tensors) {
    if (tensor.role != TensorRole::kIn) continue;
    const bool overwritten = std::any_of(judgement.task.tensors.begin(), judgement.task.tensors.end(),
                                         [&](const TensorSpec& other) { return other.alias == tensor.name; });
    if (overwritten) continue;
    HONE_ASSIGN_OR_RETURN(digests[tensor.name],
                          judgement.session.Digest(buffers.set(0).tensors.at(tensor.name), digest_key));
  }
  return digests;
}

// Checks that inputs come back unchanged, to the bit.
Result<Gate> CheckInputs(Judgement& judgement, const CaseBuffers& buffers, const TensorDigests& before,
                         uint64_t digest_key, const std::string& where) {
  for (const auto& [tensor, digest] : before) {
    HONE_ASSIGN_OR_RETURN(std::vector<uint64_t> after,
                          judgement.session.Digest(buffers.set(0).tensors.at(tensor), digest_key));
    if (after != digest) {
      return judgement.Stop(Verdict::kRuleViolation, fmt::format("changed its input {} for {}", tensor, where));
    }
  }
  return Gate::kPassed;
}

// Checks the outputs in set 0 against the oracle, and merges their errors into `result` unless that is null.
Result<Gate> CheckOutputs(Judgement& judgement, CaseBuffers& buffers, const InputSet& inputs, OracleChecker& checker,
                          const LaunchChecks& checks, CaseResult* result) {
  Result<CheckOutcome> checked = checks.slices != nullptr
                                     ? checker.CheckSlices(buffers, 0, inputs, *checks.slices, checks.require_rms)
                                     : checker.CheckAll(buffers, 0, inputs, checks.require_rms);
  if (!checked.ok()) {
    if (checked.status().code() == StatusCode::kInvalidArgument) {
      return judgement.Stop(Verdict::kInvalidTask, checked.status().message());
    }
    return checked.status();
  }
  if (result != nullptr) {
    result->max_scaled_error = std::max(result->max_scaled_error, checked->max_scaled_error);
    result->rms_error = std::max(result->rms_error, checked->rms_error);
  }
  return checked->mismatch ? judgement.StopWrong(*checked) : Gate::kPassed;
}

}  // namespace

Result<Gate> CheckMemoryRules(Judgement& judgement, CaseBuffers& buffers, int set, const ServedProgram& served,
                              const std::string& where) {
  HONE_ASSIGN_OR_RETURN(std::optional<std::string> gaps, buffers.CheckGaps());
  if (gaps) {
    return judgement.Stop(Verdict::kRuleViolation, fmt::format("wrote outside its buffers for {}: {}", where, *gaps));
  }
  HONE_ASSIGN_OR_RETURN(bool changed, judgement.session.GlobalsChanged(*served.program));
  if (changed) {
    return judgement.Stop(
        Verdict::kRuleViolation,
        fmt::format("a device global was left changed after the launch for {}; nothing may be kept between "
                    "launches (reset it before the kernel ends, or use a workspace)",
                    where));
  }
  for (const ResolvedWorkspace& workspace : served.plan.workspaces) {
    if (!workspace.zero_on_entry || workspace.bytes == 0) continue;
    HONE_ASSIGN_OR_RETURN(bool zero,
                          judgement.session.IsZero(buffers.set(set).workspaces.at(workspace.name), workspace.bytes));
    if (!zero) {
      return judgement.Stop(
          Verdict::kRuleViolation,
          fmt::format("workspace {} is declared zero on entry but was not left zero for {}", workspace.name, where));
    }
  }
  return Gate::kPassed;
}

Result<Gate> LaunchChecked(Judgement& judgement, CaseBuffers& buffers, const ServedProgram& served, const InputSet& inputs,
                           OracleChecker& checker, const LaunchChecks& checks, CaseResult* result) {
  const ResolvedPlan& plan = served.plan;
  if (!served.fallback) judgement.tested.insert(plan.chosen.begin(), plan.chosen.end());
  const uint64_t digest_key = judgement.digest_key;
  HONE_RETURN_IF_ERROR(buffers.DrawInputs(0, inputs));
  HONE_RETURN_IF_ERROR(buffers.PrepareLaunch(0, inputs, plan));
  HONE_ASSIGN_OR_RETURN(const TensorDigests before, InputDigests(judgement, buffers, digest_key));

  const std::string where = fmt::format("{} ({} inputs)", DimsText(buffers.dims()), inputs.name());
  LaunchRequest launch{
      .plan = &plan, .bindings = &buffers.set(0), .limit_seconds = judgement.request.launch_limit_seconds};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, judgement.session.Launch(*served.program, launch));
  judgement.AddFindings(outcome.findings, buffers.dims(), result != nullptr ? result->role : CaseRole::kCheck);
  if (outcome.cost) judgement.evaluation.metrics["observed_accesses"] += outcome.cost->accesses;
  if (outcome.status != LaunchStatus::kOk) {
    return judgement.Stop(VerdictOf(outcome.status), outcome.detail + ", for " + where);
  }

  HONE_RETURN_UNLESS_PASSED(CheckInputs(judgement, buffers, before, digest_key, where));
  HONE_RETURN_UNLESS_PASSED(CheckMemoryRules(judgement, buffers, 0, served, where));
  return CheckOutputs(judgement, buffers, inputs, checker, checks, result);
}

}  // namespace hone
