// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/modelled_time.h"

#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "tuner/core/dims_text.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/time_gates.h"
#include "tuner/evaluate/launch_verdict.h"

namespace hone {
namespace {

// The key of the inputs under a modelled time. It is a function of the candidate's text, so that a modelled time is one
// number, whoever asks and however often; and not of anything a candidate could know: text that names a value drawn
// from its own hash changes the hash.
uint64_t ModelledInputKey(const CompiledProgram& candidate) {
  return std::stoull(Sha256Hex(candidate.candidate.source).substr(0, 16), nullptr, 16) | 1;
}

const char* DecisionOf(double ratio) {
  return ratio > policy::kModelledFaster ? "faster" : ratio < policy::kModelledSlower ? "slower" : "same";
}

}  // namespace

Result<Gate> TimeModelled(Judgement& judgement, const Case& time_case, CaseResult& result) {
  const Dims& dims = time_case.dims;
  const double launch_limit = judgement.request.launch_limit_seconds;
  HONE_ASSIGN_OR_RETURN(const std::optional<TimedPrograms> served, ServeTimed(judgement, dims, true, result));
  if (!served) return Gate::kStopped;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        CaseBuffers::Make(judgement.session, judgement.task, dims, served->plans(), 1, false,
                                          judgement.secrets.Next(), true));
  const InputSet inputs{.key = ModelledInputKey(*judgement.request.candidate)};
  HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));

  const auto modelled = [&](const Served& side) -> Result<SampleOutcome> {
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, inputs, side.plan));
    return judgement.session.TimeSample(
        {.program = side.program, .plan = &side.plan, .sets = {&buffers->set(0)}, .limit_seconds = launch_limit});
  };
  judgement.Announce("model", DimsText(dims), launch_limit * policy::kModelledLaunches + policy::kModelSeconds);
  HONE_ASSIGN_OR_RETURN(SampleOutcome mine, modelled(served->candidate));
  judgement.AddFindings(mine.launch.findings, dims, CaseRole::kTime);
  if (mine.launch.status != LaunchStatus::kOk) {
    judgement.Stop(VerdictOf(mine.launch.status), mine.launch.detail + ", for " + DimsText(dims));
    return StoppedBy(judgement, served->candidate);
  }
  result.timing.status = "modelled";
  result.time_us = Interval{mine.us_per_plan, mine.us_per_plan, mine.us_per_plan};
  if (mine.launch.cost) {
    result.sampled_block_fraction = mine.launch.cost->sampled_block_fraction;
    judgement.evaluation.metrics["observed_accesses"] += mine.launch.cost->accesses;
  }
  if (served->incumbent) {
    HONE_ASSIGN_OR_RETURN(SampleOutcome theirs, modelled(*served->incumbent));
    if (theirs.launch.status != LaunchStatus::kOk) {
      return judgement.Stop(Verdict::kInvalidTask, "the incumbent failed: " + theirs.launch.detail);
    }
    result.baseline_us = theirs.us_per_plan;
    const double ratio = theirs.us_per_plan / mine.us_per_plan;
    result.speedup = Interval{ratio, ratio, ratio};
    result.timing.decision = DecisionOf(ratio);
  }
  HONE_RETURN_IF_ERROR(AddFloor(judgement, dims, 1, result));
  return Gate::kPassed;
}

}  // namespace hone
