// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/modelled_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "tuner/core/dims_text.h"
#include "tuner/core/draw.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/plausible.h"
#include "tuner/evaluate/judge/time_gates.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/timing/paired_timer.h"

namespace hone {
namespace {

// Returns the key of the inputs of a modelled launch, and of the sampled blocks whose cost gives the modelled time. The
// key is a function of the candidate's text, so that a modelled time is one number, however often and by whomever it is
// computed. No candidate can know the key: text that names a value drawn from its own hash changes the hash.
uint64_t ModelledInputKey(const CompiledProgram& candidate) {
  return std::stoull(Sha256Hex(candidate.candidate.source).substr(0, 16), nullptr, 16) | 1;
}

const char* DecisionOf(double ratio) {
  return ratio > policy::kModelledFaster ? "faster" : ratio < policy::kModelledSlower ? "slower" : "same";
}

// Draws, secretly, as many of the slices as the oracle computes in a fraction of a second.
std::vector<int64_t> DrawnSlices(Judgement& judgement, const CaseBuffers& buffers, std::vector<int64_t> slices) {
  const double all = static_cast<double>(std::max<int64_t>(1, buffers.slices()));
  double elements = 0;
  for (const TensorSpec& tensor : judgement.task.tensors) {
    elements += static_cast<double>(buffers.shape(tensor.name).elements);
  }
  const Result<double> flops = Flops(judgement.task, buffers.dims());
  double most = policy::kSampledElements / std::max(1.0, elements / all);
  if (flops.ok() && *flops > 0) most = std::min(most, policy::kSampledFlops / (*flops / all));
  const auto count = static_cast<size_t>(std::clamp(most, 1.0, static_cast<double>(policy::kMostSampledSlices)));
  for (size_t i = 0; i < slices.size() && i < count; ++i) {
    std::swap(slices[i], slices[i + judgement.secrets.Next() % (slices.size() - i)]);
  }
  slices.resize(std::min(slices.size(), count));
  std::sort(slices.begin(), slices.end());
  return slices;
}

// Turns a comparison with the oracle into its effect on the verdict.
Result<Gate> Compared(Judgement& judgement, const Result<CheckOutcome>& checked, CaseResult& result) {
  if (!checked.ok()) {
    return checked.status().code() == StatusCode::kInvalidArgument
               ? Result<Gate>(judgement.Stop(Verdict::kInvalidTask, checked.status().message()))
               : Result<Gate>(checked.status());
  }
  result.max_scaled_error = std::max(result.max_scaled_error, checked->max_scaled_error);
  result.rms_error = std::max(result.rms_error, checked->rms_error);
  if (!checked->mismatch) return Gate::kPassed;
  judgement.evaluation.mismatch = checked->mismatch;
  return judgement.Stop(Verdict::kWrongOutput, checked->detail);
}

// Compares some of the slices that a launch has written with the oracle.
Result<Gate> CompareSlices(Judgement& judgement, CaseBuffers& buffers, const InputSet& inputs,
                           const std::vector<int64_t>& written, CaseResult& result) {
  if (written.empty()) return Gate::kPassed;
  OracleChecker checker = judgement.MakeChecker();
  const std::vector<int64_t> drawn = DrawnSlices(judgement, buffers, written);
  const Result<CheckOutcome> checked = checker.CheckSlices(
      buffers, 0, inputs, drawn, EnoughElements(judgement.task, buffers, static_cast<int64_t>(drawn.size())));
  return Compared(judgement, checked, result);
}

std::vector<int64_t> AllSlices(const CaseBuffers& buffers) {
  std::vector<int64_t> slices(static_cast<size_t>(std::min<int64_t>(buffers.slices(), 4096)));
  for (size_t i = 0; i < slices.size(); ++i) {
    slices[i] = static_cast<int64_t>(i) * buffers.slices() / static_cast<int64_t>(slices.size());
  }
  return slices;
}

// Compares the outputs of the blocks whose cost gives the time, and those of other blocks, drawn by a secret and on
// secret inputs: a candidate that spares itself work at a timed shape is found out by the one or the other. `timed` is
// the cost of the timed launch, whose outputs still stand in set 0, computed from `timed_inputs`. `verified` becomes
// false where nothing could be compared.
Result<Gate> CompareSamples(Judgement& judgement, CaseBuffers& buffers, const ServedProgram& served,
                            const InputSet& timed_inputs, const ModelledCost& timed, CaseResult& result,
                            bool* verified) {
  if (served.fallback || !judgement.request.options.check_cases) return Gate::kPassed;
  const Dims& dims = buffers.dims();
  const auto unverified = [&](const std::string& why) {
    *verified = false;
    judgement.AddFinding(
        {"unverified_timed_shape",
         fmt::format("nothing that was computed for {} was compared, so a modelled time there counts as no gain: {}",
                     DimsText(dims), why),
         ""});
    return Gate::kPassed;
  };
  double called = 0;
  for (const ResolvedStep& step : served.plan.steps) called += step.call ? step.call->flops() : 0;
  if (called > policy::kCallFlops) {
    return unverified(fmt::format("its library calls are {:.2g} operations, and {:.2g} are computed in a launch", called, policy::kCallFlops));
  }
  const Result<double> flops = Flops(judgement.task, dims);
  const bool sliced = !judgement.task.slice.empty();
  if (!sliced && (!flops.ok() || *flops > policy::kSampledFlops)) {
    return unverified(
        "the task names no dimension along which outputs are independent (`slice` in task.toml), and its oracle would "
        "have to do all of it");
  }
  // Where one slice is work enough for the oracle, only the secret sample is compared, because a candidate cannot
  // foresee it.
  const bool dear = flops.ok() && *flops > policy::kSampledFlops * static_cast<double>(buffers.slices());
  if (sliced && timed.comparable && !dear) {
    HONE_PASS_OR_RETURN(CompareSlices(judgement, buffers, timed_inputs, timed.written_slices, result));
  }
  const InputSet inputs{.key = judgement.secrets.NextOdd()};
  LaunchRequest launch{.plan = &served.plan,
                       .bindings = &buffers.set(0),
                       .limit_seconds = judgement.request.launch_limit_seconds,
                       .sample_blocks = true,
                       .sample_key = judgement.secrets.NextOdd()};
  const auto run = [&]() -> Result<LaunchOutcome> {
    HONE_RETURN_IF_ERROR(buffers.DrawInputs(0, inputs));
    HONE_RETURN_IF_ERROR(buffers.PrepareLaunch(0, inputs, served.plan));
    return judgement.session.Launch(*served.program, launch);
  };
  LaunchOutcome outcome;
  const auto failed = [&] {
    judgement.AddFindings(outcome.findings, dims, CaseRole::kTime);
    return judgement.Stop(VerdictOf(outcome.status), outcome.detail + ", for " + DimsText(dims));
  };
  ModelledCost secret;
  if (sliced) {
    HONE_ASSIGN_OR_RETURN(outcome, run());
    if (outcome.status != LaunchStatus::kOk) return failed();
    secret = outcome.cost.value_or(ModelledCost());
  }
  if (secret.comparable) {
    if (secret.sampled_block_fraction < 1 && secret.time_us > policy::kSampleDearer * timed.time_us) {
      return judgement.Stop(Verdict::kUnsupported, fmt::format("the simulated GPU cannot time this launch for {}: by "
                                                               "the blocks that give modelled times it takes {:.2f} "
                                                               "us, by others, drawn at random, {:.2f} us",
                                                               DimsText(dims), timed.time_us, secret.time_us));
    }
    return CompareSlices(judgement, buffers, inputs, secret.written_slices, result);
  }
  const double accesses = timed.accesses / std::max(timed.sampled_block_fraction, 1e-9);
  if (accesses > policy::kWholeAccesses && secret.written_share >= 0 &&
      secret.written_share < policy::kLeastWrittenShare) {
    return judgement.Stop(
        Verdict::kUnsupported,
        fmt::format("the simulated GPU cannot check this launch for {}: blocks drawn at random wrote {:.3g} times "
                    "their share of the outputs, and all of them would take {:.2g} accesses",
                    DimsText(dims), secret.written_share, accesses));
  }
  if (accesses > policy::kWholeAccesses) {
    return unverified(
        fmt::format("{}, and all of its blocks would take {:.2g} accesses",
                    sliced ? "its blocks build on each other's results"
                           : "the task names no dimension along which outputs are independent (`slice` in task.toml)",
                    accesses));
  }
  launch.sample_blocks = false;
  launch.sample_key = 0;
  HONE_ASSIGN_OR_RETURN(outcome, run());
  // A sample of its blocks ended in time, so when all of them do not, the simulator is slow and not the kernel.
  if (outcome.status == LaunchStatus::kTimedOut) {
    return unverified(fmt::format("all of its blocks, which build on each other's results, take more than {:g} s to simulate",
                                  judgement.request.launch_limit_seconds));
  }
  if (outcome.status != LaunchStatus::kOk) return failed();
  if (sliced) return CompareSlices(judgement, buffers, inputs, AllSlices(buffers), result);
  OracleChecker checker = judgement.MakeChecker();
  return Compared(judgement, checker.CheckAll(buffers, 0, inputs, true), result);
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

  const auto modelled = [&](const ServedProgram& side) -> Result<SampleOutcome> {
    // Both sides run on the same inputs; between them, samples on secret inputs are compared.
    HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, inputs, side.plan));
    return judgement.session.TimeSample({.program = side.program,
                                         .plan = &side.plan,
                                         .sets = {&buffers->set(0)},
                                         .limit_seconds = launch_limit,
                                         .block_key = draw::Mix(inputs.key)});
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
    if (mine.launch.cost->calls_us > 0) result.calls_us = mine.launch.cost->calls_us;
    judgement.evaluation.metrics["observed_accesses"] += mine.launch.cost->accesses;
  }
  // Effects that the model does not see may lower a modelled time, but not below the time that the memory needs.
  HONE_PASS_OR_RETURN(RefuseImpossibleTime(judgement, dims, result));
  bool verified = true;
  if (mine.launch.cost) {
    HONE_ASSIGN_OR_RETURN(const Gate compared, CompareSamples(judgement, *buffers, served->candidate, inputs,
                                                              *mine.launch.cost, result, &verified));
    if (compared == Gate::kStopped) return StoppedBy(judgement, served->candidate);
  }
  if (served->incumbent) {
    HONE_ASSIGN_OR_RETURN(SampleOutcome theirs, modelled(*served->incumbent));
    if (theirs.launch.status != LaunchStatus::kOk) {
      return judgement.Stop(Verdict::kInvalidTask, "the incumbent failed: " + theirs.launch.detail);
    }
    result.baseline_us = theirs.us_per_plan;
    double ratio = theirs.us_per_plan / mine.us_per_plan;
    if (!verified) ratio = std::min(ratio, 1.0);  // outputs that were not compared count as no gain
    result.speedup = Interval{ratio, ratio, ratio};
    result.timing.decision = DecisionOf(ratio);
  }
  HONE_RETURN_IF_ERROR(AddFloor(judgement, dims, 1, result));
  return Gate::kPassed;
}

}  // namespace hone
