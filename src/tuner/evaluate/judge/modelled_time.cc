// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/modelled_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers/hash.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/device/block_shares.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/plausible.h"
#include "tuner/evaluate/judge/problem_parts.h"
#include "tuner/evaluate/judge/serve.h"
#include "tuner/evaluate/judge/stress_choices.h"
#include "tuner/evaluate/judge/time_gates.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/shapes/fair_shapes.h"
#include "tuner/evaluate/timing/paired_timer.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

// Returns the key from which a modelled launch's inputs are drawn, and the blocks whose cost gives the modelled time.
// The key is a hash of the candidate's text, so that a modelled time is the same number on every run and machine. A
// candidate cannot contain its own key, because adding it would change the hash.
uint64_t ModelledInputKey(const CompiledProgram& candidate) {
  return std::stoull(Sha256Hex(candidate.candidate.source).substr(0, 16), nullptr, 16) | 1;
}

const char* DecisionOf(double ratio) {
  return ratio > policy::kModelledFaster ? "faster" : ratio < policy::kModelledSlower ? "slower" : "same";
}

// Turns a comparison with the oracle into its effect on the verdict.
Result<Gate> JudgeComparison(Judgement& judgement, const Result<CheckOutcome>& checked, CaseResult& result) {
  if (!checked.ok()) {
    return checked.status().code() == StatusCode::kInvalidArgument
               ? Result<Gate>(judgement.Stop(Verdict::kInvalidTask, checked.status().message()))
               : Result<Gate>(checked.status());
  }
  result.max_scaled_error = std::max(result.max_scaled_error, checked->max_scaled_error);
  result.rms_error = std::max(result.rms_error, checked->rms_error);
  return checked->mismatch ? judgement.StopWrong(*checked) : Gate::kPassed;
}

// Comparing says how a launch's outputs are compared, which depends on the kind of inputs.
struct Comparing {
  bool require_rms = true;  // outputs must meet c_rms as well as c_max
  double share = 1;         // share of the oracle's usual work that is done
};

// Compares secretly drawn parts of a launch's outputs, in the slices `written`, with the oracle.
Result<Gate> CompareParts(Judgement& judgement, CaseBuffers& buffers, const InputSet& inputs,
                          const std::vector<int64_t>& written, const Comparing& comparing, CaseResult& result) {
  if (written.empty()) return Gate::kPassed;
  OracleChecker checker = judgement.MakeChecker();
  HONE_ASSIGN_OR_RETURN(const std::vector<ProblemPart> parts, DrawParts(judgement, buffers, written, comparing.share));
  for (const ProblemPart& part : parts) {
    const auto slices = static_cast<int64_t>(part.slices.size());
    const bool enough = part.dimension.empty() ? EnoughElements(judgement.task, buffers, slices)
                                               : slices * static_cast<int64_t>(part.indices.size()) >= policy::kLeastRmsElements;
    const bool require_rms = comparing.require_rms && enough;
    const Result<CheckOutcome> checked = part.dimension.empty() ? checker.CheckSlices(buffers, 0, inputs, part.slices, require_rms)
                                                                : checker.CheckPart(buffers, 0, inputs, part, require_rms);
    HONE_RETURN_UNLESS_PASSED(JudgeComparison(judgement, checked, result));
  }
  return Gate::kPassed;
}

// Returns all slices, or 4096 evenly spaced ones if there are more.
std::vector<int64_t> AllSlices(const CaseBuffers& buffers) {
  std::vector<int64_t> slices(static_cast<size_t>(std::min<int64_t>(buffers.slices(), 4096)));
  for (size_t i = 0; i < slices.size(); ++i) {
    slices[i] = static_cast<int64_t>(i) * buffers.slices() / static_cast<int64_t>(slices.size());
  }
  return slices;
}

// A Comparer runs launches of one program at one shape and compares their outputs with the oracle.
class Comparer {
 public:
  Comparer(Judgement& judgement, CaseBuffers& buffers, const ServedProgram& served, const ModelledCost& timed, CaseResult& result)
      : judgement_(judgement), buffers_(buffers), served_(served), timed_(timed), result_(result) {}

  // Compares the outputs of the blocks whose cost gave the modelled time; they are still in set 0 and were computed
  // from `timed_inputs`. Then runs and compares other blocks, drawn secretly, on secret inputs and on stress values. So
  // a candidate that leaves out work at a timed shape fails one of the two comparisons.
  Result<Gate> Run(const InputSet& timed_inputs);
  // Compares a secret sample of blocks at a shape that is not timed. A sample that cannot be run or compared passes.
  Result<Gate> RunSample(const SampleSize& size);
  // Returns false if no outputs could be compared.
  bool verified() const { return verified_; }
  // Returns the accesses of all blocks, over those extrapolated from the timed blocks; 1 if not all blocks were run.
  double whole_over_sample() const { return whole_over_sample_; }

 private:
  bool sliced() const { return !judgement_.task.slice.empty(); }
  // Draws further secret samples, because `first` wrote less than `least` of its share. Returns the last one, whose outputs
  // are in the buffers and whose inputs are in *inputs. Its written_share is that of all samples together, and
  // `comparable` says whether that may be chance. If a sample fails, returns that one unchanged.
  Result<LaunchOutcome> Resample(LaunchOutcome first, const SampleSize& size, double least, InputSet* inputs);
  // Adds the finding that nothing was compared at this shape. `why`: a clause for a reader who knows only the kernel.
  Gate FindUnverified(const std::string& why);
  // Returns why a part of the blocks cannot be checked alone.
  std::string WhyOnlyWhole() const;
  // Runs a secret sample of `size` blocks; null: all blocks.
  Result<LaunchOutcome> Launch(const InputSet& inputs, const SampleSize* size);
  Gate StopAfterFailure(const LaunchOutcome& outcome);
  // Compares on special values and on one other stress distribution, with samples of these sizes; null: all blocks. A
  // sample that cannot be compared passes.
  Result<Gate> RunStress(const SampleSize* special, const SampleSize* other);
  Result<Gate> RunWhole(double accesses);

  Judgement& judgement_;
  CaseBuffers& buffers_;
  const ServedProgram& served_;
  const ModelledCost& timed_;
  CaseResult& result_;
  // Refuses the candidate if its blocks write too little of the outputs, so that elements stay unwritten. In a sample,
  // an unwritten element cannot be told from an element of a block that did not run.
  Gate CheckShares();

  bool verified_ = true;
  double whole_over_sample_ = 1;
  std::vector<double> shares_;  // ModelledCost::block_shares of all launches so far
};

Gate Comparer::FindUnverified(const std::string& why) {
  verified_ = false;
  judgement_.AddFinding({"unverified_timed_shape",
                         fmt::format("the simulated GPU did not check the results for {}, because {}. Smaller shapes were checked; the "
                                     "kernel is not at fault, but its modelled time for this shape counts as no gain",
                                     DimsText(buffers_.dims()), why),
                         ""});
  return Gate::kPassed;
}

std::string Comparer::WhyOnlyWhole() const {
  if (!sliced()) {
    return "the task names no dimension along which outputs are independent (`slice` in task.toml), so that a part of them cannot be checked "
           "alone";
  }
  const std::vector<ResolvedStep>& steps = served_.plan.steps;
  if (steps.size() > 1) {
    return fmt::format("the kernel's {} {} build on one another, so that a part of their blocks cannot be checked alone", steps.size(),
                       std::all_of(steps.begin(), steps.end(), [](const ResolvedStep& step) { return step.is_launch(); }) ? "launches" : "steps");
  }
  return "the kernel's blocks build on one another's results, so that a part of them cannot be checked alone";
}

Result<LaunchOutcome> Comparer::Launch(const InputSet& inputs, const SampleSize* size) {
  LaunchRequest launch{.plan = &served_.plan,
                       .bindings = &buffers_.set(0),
                       .limit_seconds = judgement_.request.launch_limit_seconds,
                       .sample_blocks = size != nullptr,
                       .sample_key = size != nullptr ? judgement_.secrets.NextOdd() : 0};
  if (size != nullptr) launch.sample_size = *size;
  HONE_RETURN_IF_ERROR(buffers_.DrawInputs(0, inputs));
  HONE_RETURN_IF_ERROR(buffers_.PrepareLaunch(0, inputs, served_.plan));
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, judgement_.session.Launch(*served_.program, launch));
  if (outcome.cost) shares_.insert(shares_.end(), outcome.cost->block_shares.begin(), outcome.cost->block_shares.end());
  return outcome;
}

Result<LaunchOutcome> Comparer::Resample(LaunchOutcome first, const SampleSize& size, double least, InputSet* inputs) {
  LaunchOutcome outcome = std::move(first);
  std::vector<double> blocks = outcome.cost->block_shares;
  double shares = outcome.cost->written_share;
  int samples = 1;
  for (; samples < policy::kShareSamples; ++samples) {
    *inputs = InputSet{.key = judgement_.secrets.NextOdd()};
    HONE_ASSIGN_OR_RETURN(outcome, Launch(*inputs, &size));
    if (outcome.status != LaunchStatus::kOk || !outcome.cost || !outcome.cost->complete || outcome.cost->written_share < 0) return outcome;
    shares += outcome.cost->written_share;
    blocks.insert(blocks.end(), outcome.cost->block_shares.begin(), outcome.cost->block_shares.end());
  }
  const BlockShares summary = SummarizeShares(blocks);
  const double mean = blocks.empty() ? shares / samples : summary.mean;
  outcome.cost->written_share = mean;
  outcome.cost->comparable = mean >= least || (!blocks.empty() && summary.MayBeAll());
  return outcome;
}

Gate Comparer::CheckShares() {
  if (!judgement_.request.gates.block_shares || shares_.size() < policy::kLeastBlocksForShares) return Gate::kPassed;
  const double most = *std::max_element(shares_.begin(), shares_.end());
  if (most >= policy::kFullShare) return Gate::kPassed;
  return judgement_.Stop(Verdict::kWrongOutput,
                         fmt::format("elements are left unwritten for {}: none of {} blocks, drawn at random, wrote more than {:.4g} times the "
                                     "average share of the outputs",
                                     DimsText(buffers_.dims()), shares_.size(), most));
}

Gate Comparer::StopAfterFailure(const LaunchOutcome& outcome) {
  judgement_.AddFindings(outcome.findings, buffers_.dims(), CaseRole::kTime);
  return judgement_.Stop(VerdictOf(outcome.status), outcome.detail + ", for " + DimsText(buffers_.dims()));
}

Result<Gate> Comparer::RunStress(const SampleSize* special, const SampleSize* other) {
  const GateSwitches& gates = judgement_.request.gates;
  if (!gates.stress_when_timed || !TakesStress(judgement_.task)) return Gate::kPassed;
  const size_t kinds = std::size(policy::kStress) - 1;
  const Distribution drawn = policy::kStress[1 + judgement_.secrets.Next() % kinds];
  for (const auto& [stress, size] : {std::pair{Distribution::kSpecial, special}, std::pair{drawn, other}}) {
    if (stress == Distribution::kSpecial && !gates.special_values) continue;
    InputSet inputs{.key = judgement_.secrets.NextOdd(), .stress = stress, .use_stress = true};
    if (stress == Distribution::kSpecial) inputs.turn = judgement_.NextSpecialTurn();
    HONE_ASSIGN_OR_RETURN(const LaunchOutcome outcome, Launch(inputs, size));
    // A sample of the blocks ended in time. So if all blocks do not, the simulator is too slow, and not the kernel.
    if (size == nullptr && outcome.status == LaunchStatus::kTimedOut) return Gate::kPassed;
    if (outcome.status != LaunchStatus::kOk) return StopAfterFailure(outcome);
    if (!sliced()) {
      OracleChecker checker = judgement_.MakeChecker();
      HONE_RETURN_UNLESS_PASSED(
          JudgeComparison(judgement_, checker.CheckAll(buffers_, 0, inputs, /*require_rms=*/false), result_));
      continue;
    }
    const Comparing comparing{.require_rms = false, .share = policy::kStressShare};
    if (size == nullptr) {
      HONE_RETURN_UNLESS_PASSED(CompareParts(judgement_, buffers_, inputs, AllSlices(buffers_), comparing, result_));
    } else if (outcome.cost && outcome.cost->complete) {
      HONE_RETURN_UNLESS_PASSED(
          CompareParts(judgement_, buffers_, inputs, outcome.cost->written_slices, comparing, result_));
    }
  }
  return Gate::kPassed;
}

Result<Gate> Comparer::RunWhole(double accesses) {
  const InputSet inputs{.key = judgement_.secrets.NextOdd()};
  HONE_ASSIGN_OR_RETURN(const LaunchOutcome outcome, Launch(inputs, nullptr));
  // A sample of the blocks ended in time. So if all blocks do not, the simulator is too slow, and not the kernel.
  if (outcome.status == LaunchStatus::kTimedOut) {
    return FindUnverified(fmt::format("{}, and all of them take more than {:g} s to simulate", WhyOnlyWhole(),
                                      judgement_.request.launch_limit_seconds));
  }
  if (outcome.status != LaunchStatus::kOk) return StopAfterFailure(outcome);
  if (outcome.cost && accesses > 0) whole_over_sample_ = outcome.cost->accesses / accesses;
  if (sliced()) {
    HONE_RETURN_UNLESS_PASSED(CompareParts(judgement_, buffers_, inputs, AllSlices(buffers_), {}, result_));
  } else {
    OracleChecker checker = judgement_.MakeChecker();
    HONE_RETURN_UNLESS_PASSED(
        JudgeComparison(judgement_, checker.CheckAll(buffers_, 0, inputs, /*require_rms=*/true), result_));
  }
  return accesses <= policy::kWholeStressAccesses ? RunStress(nullptr, nullptr) : Result<Gate>(Gate::kPassed);
}

Result<Gate> Comparer::RunSample(const SampleSize& size) {
  InputSet inputs{.key = judgement_.secrets.NextOdd()};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, Launch(inputs, &size));
  constexpr double kHalf = 0.5;
  const auto wrote_little = [&] {
    return outcome.status == LaunchStatus::kOk && outcome.cost && outcome.cost->complete && outcome.cost->written_share >= 0 &&
           outcome.cost->written_share < kHalf;
  };
  bool by_chance = false;
  if (wrote_little()) {
    HONE_ASSIGN_OR_RETURN(outcome, Resample(std::move(outcome), size, kHalf, &inputs));
    by_chance = outcome.cost && outcome.cost->comparable;
  }
  if (outcome.status == LaunchStatus::kCrashed || outcome.status == LaunchStatus::kRuleViolation)
    return StopAfterFailure(outcome);
  if (outcome.status != LaunchStatus::kOk || !outcome.cost || !outcome.cost->complete) return Gate::kPassed;
  if (wrote_little() && !by_chance) {
    return judgement_.Stop(Verdict::kUnsupported,
                           fmt::format("the simulated GPU cannot check this launch for {}: blocks drawn at random wrote {:.3g} times "
                                       "their share of the outputs; if indices overflow there, most elements are never written",
                                       DimsText(buffers_.dims()), outcome.cost->written_share));
  }
  const Comparing comparing{.require_rms = true, .share = policy::kStressShare};
  return CompareParts(judgement_, buffers_, inputs, outcome.cost->written_slices, comparing, result_);
}

Result<Gate> Comparer::Run(const InputSet& timed_inputs) {
  if (served_.fallback || !judgement_.request.options.check_cases) return Gate::kPassed;
  const Dims& dims = buffers_.dims();
  double called = 0;
  for (const ResolvedStep& step : served_.plan.steps) called += step.call ? step.call->flops() : 0;
  if (called > policy::kCallFlops) {
    return FindUnverified(fmt::format(
        "the kernel's library calls make {:.2g} operations there, of which it computes {:.2g} at most in a launch",
        called, policy::kCallFlops));
  }
  const Result<double> flops = Flops(judgement_.task, dims);
  if (!sliced() && (!flops.ok() || *flops > policy::kSampledFlops)) {
    return FindUnverified(
        "the task names no dimension along which outputs are independent (`slice` in task.toml), and its oracle would "
        "have to compute all of them");
  }
  if (sliced() && timed_.comparable) {
    HONE_RETURN_UNLESS_PASSED(CompareParts(judgement_, buffers_, timed_inputs, timed_.written_slices, {}, result_));
  }
  shares_ = timed_.block_shares;
  const double accesses = timed_.accesses / std::max(timed_.sampled_block_fraction, 1e-9);
  ModelledCost secret;
  if (sliced()) {
    InputSet inputs{.key = judgement_.secrets.NextOdd()};
    HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, Launch(inputs, &policy::kSecretSample));
    // All blocks run instead where that is possible, which shows more.
    if (accesses > policy::kWholeAccesses && outcome.status == LaunchStatus::kOk && outcome.cost && !outcome.cost->comparable &&
        outcome.cost->complete && outcome.cost->written_share >= 0 && outcome.cost->written_share < policy::kLeastWrittenShare) {
      HONE_ASSIGN_OR_RETURN(outcome, Resample(std::move(outcome), policy::kSecretSample, policy::kLeastWrittenShare, &inputs));
    }
    if (outcome.status != LaunchStatus::kOk) return StopAfterFailure(outcome);
    secret = outcome.cost.value_or(ModelledCost());
    if (secret.comparable) {
      if (secret.sampled_block_fraction < 1 && secret.time_us > policy::kSampleDearer * timed_.time_us) {
        return judgement_.Stop(Verdict::kUnsupported, fmt::format("the simulated GPU cannot time this launch for {}: by "
                                                                  "the blocks that give modelled times it takes {:.2f} "
                                                                  "us, by others, drawn at random, {:.2f} us",
                                                                  DimsText(dims), timed_.time_us, secret.time_us));
      }
      HONE_RETURN_UNLESS_PASSED(CompareParts(judgement_, buffers_, inputs, secret.written_slices, {}, result_));
      HONE_RETURN_UNLESS_PASSED(RunStress(&policy::kSpecialSample, &policy::kStressSample));
      return CheckShares();
    }
  }
  if (accesses > policy::kWholeAccesses && secret.written_share >= 0 &&
      secret.written_share < policy::kLeastWrittenShare) {
    return judgement_.Stop(
        Verdict::kUnsupported,
        fmt::format("the simulated GPU cannot check this launch for {}: blocks drawn at random wrote {:.3g} times "
                    "their share of the outputs, and all of them would take {:.2g} accesses",
                    DimsText(dims), secret.written_share, accesses));
  }
  if (accesses > policy::kWholeAccesses) {
    return FindUnverified(
        fmt::format("{}, and all of them would take {:.2g} accesses of memory, of which it simulates {:.2g} at most",
                    WhyOnlyWhole(), accesses, policy::kWholeAccesses));
  }
  return RunWhole(accesses);
}

// Returns the number of elements of the largest tensor for each block of the launch with the fewest blocks.
double ElementsOfABlock(const Task& task, const Dims& dims, const ResolvedPlan& plan) {
  double most = 0, blocks = 0;
  for (const TensorSpec& tensor : task.tensors) {
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    if (shape.ok()) most = std::max(most, static_cast<double>(shape->elements));
  }
  for (const ResolvedStep& step : plan.steps) {
    if (!step.is_launch()) continue;
    const double step_threads =
        static_cast<double>(step.grid[0]) * static_cast<double>(step.grid[1]) * static_cast<double>(step.grid[2]);
    blocks = blocks == 0 ? step_threads : std::min(blocks, step_threads);
  }
  return most / std::max(blocks, 1.0);
}

}  // namespace

Result<Gate> CheckVast(Judgement& judgement) {
  const EvaluationRequest& options = judgement.request.options;
  if (judgement.task.slice.empty() || (!options.time && !options.simulate)) return Gate::kPassed;
  const Secrets resume = std::exchange(judgement.secrets, Secrets(Keyed(options.seed, policy::kVastStream, 0)));
  const double started = SteadySeconds();
  const FairShapes fair(judgement.task, {.bytes = judgement.facts().memory_bytes / policy::kVastMemoryShare, .flops = 0});
  // Only a shape that the candidate itself serves is tried; a plan may leave vast shapes to the seed.
  const auto serves = [&](const Dims& dims) { return ResolveCandidate(judgement, dims, AnyAlignment()).ok(); };
  const std::optional<Case> vast = VastShape(judgement.task, fair, policy::kVastElements, serves, judgement.secrets.Next());
  Gate gate = Gate::kPassed;
  if (vast) {
    HONE_ASSIGN_OR_RETURN(const std::optional<ServedProgram> served, Serve(judgement, vast->dims, AnyAlignment()));
    if (!served) return Gate::kStopped;
    // A block that goes through far more elements than a sample allows would be simulated for minutes.
    if (ElementsOfABlock(judgement.task, vast->dims, served->plan) > policy::kVastBlockElements) {
      judgement.secrets = resume;
      return Gate::kPassed;
    }
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                          CaseBuffers::Make(judgement.session, judgement.task, vast->dims, {&served->plan}, /*sets=*/1,
                                            /*exact_align=*/false, judgement.secrets.Next(), /*sampled=*/true));
    judgement.Announce("check", DimsText(vast->dims), judgement.request.launch_limit_seconds + policy::kCheckSeconds);
    CaseResult result{.dims = vast->dims, .role = CaseRole::kHidden};
    const ModelledCost untimed;
    Comparer comparer(judgement, *buffers, *served, untimed, result);
    HONE_ASSIGN_OR_RETURN(gate, comparer.RunSample(policy::kVastSample));
    judgement.EndStage("check_vast", started);
  }
  judgement.secrets = resume;
  return gate;
}

Result<Gate> TimeModelled(Judgement& judgement, const Case& time_case, CaseResult& result) {
  const Dims& dims = time_case.dims;
  const double launch_limit = judgement.request.launch_limit_seconds;
  HONE_ASSIGN_OR_RETURN(const std::optional<TimedPrograms> served,
                        ServeTimed(judgement, dims, /*sampled=*/true, result));
  if (!served) return Gate::kStopped;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        CaseBuffers::Make(judgement.session, judgement.task, dims, served->plans(), /*sets=*/1,
                                          /*exact_align=*/false, judgement.secrets.Next(), /*sampled=*/true));
  const InputSet inputs{.key = ModelledInputKey(*judgement.request.candidate)};

  const auto modelled = [&](const ServedProgram& side) -> Result<SampleOutcome> {
    // Both sides run on the same inputs. They are drawn anew for each side, because the comparison between the two
    // launches draws others.
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
  // The model may miss effects and give too short a time, but no time may be shorter than memory needs for the bytes.
  HONE_RETURN_UNLESS_PASSED(RefuseImpossibleTime(judgement, dims, result));
  bool verified = true;
  if (mine.launch.cost) {
    Comparer comparer(judgement, *buffers, served->candidate, *mine.launch.cost, result);
    HONE_ASSIGN_OR_RETURN(const Gate compared, comparer.Run(inputs));
    if (compared == Gate::kStopped) return StoppedBy(judgement, served->candidate);
    verified = comparer.verified();
    // A few blocks that are rarely sampled may do most of the work. If all blocks were run, their accesses show that.
    if (comparer.whole_over_sample() > policy::kSampleMisses) {
      const double us = mine.us_per_plan * comparer.whole_over_sample();
      result.time_us = Interval{us, us, us};
    }
  }
  if (served->incumbent) {
    HONE_ASSIGN_OR_RETURN(SampleOutcome incumbent_outcome, modelled(*served->incumbent));
    if (incumbent_outcome.launch.status != LaunchStatus::kOk) {
      return judgement.Stop(Verdict::kInvalidTask, "the incumbent failed: " + incumbent_outcome.launch.detail);
    }
    result.baseline_us = incumbent_outcome.us_per_plan;
    // A candidate whose outputs were not compared must not appear faster than the incumbent, in its time or in its
    // speedup, because either may be used to rank candidates.
    if (!verified && result.time_us->median < incumbent_outcome.us_per_plan)
      result.time_us =
          Interval{incumbent_outcome.us_per_plan, incumbent_outcome.us_per_plan, incumbent_outcome.us_per_plan};
    const double ratio = incumbent_outcome.us_per_plan / result.time_us->median;
    result.speedup = Interval{ratio, ratio, ratio};
    result.timing.decision = DecisionOf(ratio);
  }
  HONE_RETURN_IF_ERROR(AddFloor(judgement, dims, 1, result));
  return Gate::kPassed;
}

}  // namespace hone
