// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/measured_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/checked_launch.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/plausible.h"
#include "tuner/evaluate/judge/stress_choices.h"
#include "tuner/evaluate/judge/time_gates.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/timing/paired_timer.h"
#include "tuner/evaluate/timing/quad_order.h"

namespace hone {
namespace {

constexpr char kNondeterministic[] = "nondeterministic";

// A MeasuredCase takes one timed case through its gates, which are called in the order of their declarations.
class MeasuredCase {
 public:
  MeasuredCase(Judgement& judgement, const Dims& dims, TimedPrograms served, CaseResult& result)
      : judgement_(judgement),
        task_(judgement.task),
        dims_(dims),
        served_(std::move(served)),
        result_(result),
        launch_limit_seconds_(judgement.request.launch_limit_seconds),
        phase_limit_seconds_(launch_limit_seconds_ * policy::kTimedLaunches + policy::kTimedSeconds),
        checker_(judgement.MakeChecker()) {}

  // Replaces buffers_ by new buffers with `sets` sets.
  Status MakeBuffers(int sets);

  Result<Gate> CheckTrials();
  // Draws the base input of one more buffer set and verifies the outputs of both sides for it.
  Result<Gate> CheckBaseSet();
  Result<Gate> ChooseSets();
  Result<Gate> TimeCold();
  Result<Gate> LookAgain();
  // Measures the time of the plan's library calls alone, on the buffers that were timed.
  Status TimeCalls();
  Result<Gate> TimeWarm();

  int sets() const { return buffers_->sets(); }

 private:
  // Returns secretly chosen slices on which to judge a large shape if the oracle is slow; nullopt: all slices.
  std::optional<std::vector<int64_t>> SliceShare(bool slow);
  // Runs the trials on the present buffers with the program in `served`.
  Result<Gate> RunTrials(const std::vector<InputSet>& trials, const ServedProgram& served);
  Result<Gate> Launch(const ServedProgram& served, const InputSet& inputs, const std::optional<std::vector<int64_t>>& slices);
  Result<Gate> CheckIncumbent(const InputSet& base);
  // Checks the output of a timed launch on set 0, whose input is the first base, against the verified output.
  Result<Gate> CheckRough();
  // Returns a rough duration of one launch; nullopt where the judgement has stopped.
  Result<std::optional<double>> RoughMicroseconds();
  void NoteDoubts(const PairedTiming& timed);
  Result<PairedTiming> Time(const char* phase);

  Judgement& judgement_;
  const Task& task_;
  const Dims& dims_;
  const TimedPrograms served_;
  CaseResult& result_;
  const double launch_limit_seconds_, phase_limit_seconds_;
  OracleChecker checker_;
  std::unique_ptr<CaseBuffers> buffers_;
  int64_t set_bytes_ = 0;
  PairedTimerOptions options_;
  TimedSide mine_, theirs_;
  bool varies_ = false;  // the candidate gave outputs of different bits for the same input
};

// Returns the input sets with which a timed shape is checked before it is timed, in a secret order. There are `count`,
// or more so that kSpecialTrials hold special values. Every second one holds the task's own values, the others special
// values and then other stress distributions.
std::vector<InputSet> TrialInputs(Judgement& judgement, int count) {
  std::vector<InputSet> trials;
  const GateSwitches& gates = judgement.request.gates;
  const bool stress = judgement.request.options.check_cases && gates.stress_when_timed && TakesStress(judgement.task);
  if (stress) count = std::max(count, policy::kSpecialTrials);
  std::vector<int> others = SecretOrder(static_cast<int>(std::size(policy::kStress)), judgement.secrets.Next());
  for (int trial = 0; trial < count; ++trial) {
    InputSet inputs{.key = judgement.secrets.NextOdd()};
    if (stress && trial % 2 == 0) {
      inputs.use_stress = true;
      inputs.stress = trial < 2 * policy::kSpecialTrials ? Distribution::kSpecial
                                                         : policy::kStress[others[static_cast<size_t>(trial / 2) % others.size()]];
    }
    if (inputs.use_stress && inputs.stress == Distribution::kSpecial && !gates.special_values) inputs.use_stress = false;
    if (inputs.use_stress && inputs.stress == Distribution::kSpecial) inputs.turn = judgement.NextSpecialTurn();
    trials.push_back(inputs);
  }
  std::vector<InputSet> ordered;
  for (const int at : SecretOrder(static_cast<int>(trials.size()), judgement.secrets.Next())) ordered.push_back(trials[static_cast<size_t>(at)]);
  return ordered;
}

Status MeasuredCase::MakeBuffers(int sets) {
  buffers_.reset();
  HONE_ASSIGN_OR_RETURN(buffers_, judgement_.MakeBuffers(dims_, served_.plans(), sets, /*exact_align=*/false));
  return Status::Ok();
}

std::optional<std::vector<int64_t>> MeasuredCase::SliceShare(bool slow) {
  if (!slow || buffers_->slices() < policy::kSlowOracleShare) return std::nullopt;
  return SecretSubset(buffers_->slices(), buffers_->slices() / policy::kSlowOracleShare, judgement_.secrets.Next());
}

Result<Gate> MeasuredCase::Launch(const ServedProgram& served, const InputSet& inputs,
                                  const std::optional<std::vector<int64_t>>& slices) {
  HONE_ASSIGN_OR_RETURN(const Gate gate,
                        LaunchChecked(judgement_, *buffers_, served, inputs, checker_,
                                      {.require_rms = !inputs.use_stress, .slices = slices ? &*slices : nullptr}, &result_));
  return gate == Gate::kPassed ? gate : StoppedBy(judgement_, served);
}

Result<Gate> MeasuredCase::RunTrials(const std::vector<InputSet>& trials, const ServedProgram& served) {
  for (const InputSet& inputs : trials) {
    judgement_.Announce("check", fmt::format("{} trial, {} inputs", DimsText(dims_), inputs.name()), phase_limit_seconds_);
    const bool slow = checker_.last_oracle_seconds() > policy::kSlowOracleSeconds;
    HONE_RETURN_UNLESS_PASSED(Launch(served, inputs, SliceShare(slow)));
  }
  return Gate::kPassed;
}

// Checks level 1: the oracle judges fresh input sets at the timed shape. In half of the trials, bases are aligned
// exactly as the task promises, because a caller's tensors may be at this shape too; in the others, they are aligned as
// in timed launches, on the same buffers.
Result<Gate> MeasuredCase::CheckTrials() {
  std::vector<InputSet> trials = TrialInputs(judgement_, judgement_.request.options.correctness_trials - 1);
  std::vector<InputSet> exact;
  if (trials.size() > 1) {
    const size_t half_trials = trials.size() / 2;
    exact.assign(trials.end() - static_cast<std::ptrdiff_t>(half_trials), trials.end());
    trials.resize(trials.size() - half_trials);
    // Special values must also occur on bases aligned as in timed launches, whatever the secret order is.
    const auto special = [](const InputSet& inputs) { return inputs.use_stress && inputs.stress == Distribution::kSpecial; };
    const auto lost = std::find_if(exact.begin(), exact.end(), special);
    if (lost != exact.end() && std::none_of(trials.begin(), trials.end(), special)) std::swap(*lost, trials.front());
  }
  if (!exact.empty()) {
    HONE_ASSIGN_OR_RETURN(std::optional<ServedProgram> served, Serve(judgement_, dims_, PromisedAlignment(task_)));
    if (!served) return Gate::kStopped;
    buffers_.reset();
    HONE_ASSIGN_OR_RETURN(buffers_, judgement_.MakeBuffers(dims_, {&served->plan}, /*sets=*/1, /*exact_align=*/true));
    HONE_RETURN_UNLESS_PASSED(RunTrials(exact, *served));
    buffers_.reset();
  }
  HONE_RETURN_IF_ERROR(MakeBuffers(1));
  return RunTrials(trials, served_.candidate);
}

// Checks the candidate's output for a new base input, then keeps the output's digests on the host, out of the
// candidate's reach.
Result<Gate> MeasuredCase::CheckBaseSet() {
  if (options_.bases.empty()) {
    options_.seed = judgement_.secrets.Next();
    options_.digest_key = judgement_.digest_key;
    options_.launch_limit_seconds = launch_limit_seconds_;
    options_.require_rms = judgement_.request.gates.timed_rms;
    options_.watch_ends = judgement_.request.gates.watch_ends;
    mine_ = TimedSide{served_.candidate.program, &served_.candidate.plan, {}};
    if (served_.incumbent) {
      theirs_ = TimedSide{served_.incumbent->program, &served_.incumbent->plan, {}, judgement_.request.incumbent_is_library};
    }
  }
  const InputSet base{.key = judgement_.secrets.NextOdd()};
  judgement_.Announce("check", fmt::format("{} base set {}", DimsText(dims_), options_.bases.size() + 1), phase_limit_seconds_);
  const bool slow = checker_.last_oracle_seconds() > policy::kSlowOracleForBaseSeconds &&
                    judgement_.request.options.correctness_trials > 1;
  HONE_RETURN_UNLESS_PASSED(Launch(served_.candidate, base, SliceShare(slow)));
  HONE_ASSIGN_OR_RETURN(SliceDigests digests,
                        OutputDigests(judgement_.session, task_, *buffers_, 0, options_.digest_key));
  mine_.base_digests.push_back(std::move(digests));
  options_.bases.push_back(base);
  return CheckIncumbent(base);
}

// Checks the incumbent's output for the base input and keeps its digests. The incumbent has passed a judgement of its
// own, so only a secret share of the slices is checked.
Result<Gate> MeasuredCase::CheckIncumbent(const InputSet& base) {
  if (!served_.incumbent) return Gate::kPassed;
  const ResolvedPlan& plan = served_.incumbent->plan;
  HONE_RETURN_IF_ERROR(buffers_->PrepareLaunch(0, base, plan));
  LaunchRequest launch{.plan = &plan, .bindings = &buffers_->set(0), .limit_seconds = launch_limit_seconds_};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, judgement_.session.Launch(*served_.incumbent->program, launch));
  if (outcome.status != LaunchStatus::kOk) {
    return judgement_.Stop(Verdict::kInvalidTask, "the incumbent failed: " + outcome.detail);
  }
  const std::vector<int64_t> some =
      task_.slice.empty()
          ? std::vector<int64_t>{}
          : SecretSubset(buffers_->slices(), std::max<int64_t>(1, buffers_->slices() / policy::kSlowOracleShare),
                         judgement_.secrets.Next());
  checker_.JudgeIncumbent(true);
  HONE_ASSIGN_OR_RETURN(CheckOutcome checked,
                        some.empty() ? checker_.CheckAll(*buffers_, 0, base, /*require_rms=*/true)
                                     : checker_.CheckSlices(*buffers_, 0, base, some, /*require_rms=*/true));
  checker_.JudgeIncumbent(false);
  if (checked.mismatch) return judgement_.Stop(Verdict::kInvalidTask, "the incumbent is wrong: " + checked.detail);
  HONE_ASSIGN_OR_RETURN(SliceDigests digests,
                        OutputDigests(judgement_.session, task_, *buffers_, 0, options_.digest_key));
  theirs_.base_digests.push_back(std::move(digests));
  return Gate::kPassed;
}

Result<Gate> MeasuredCase::CheckRough() {
  const std::string where = DimsText(dims_) + " (a first timed launch)";
  HONE_RETURN_UNLESS_PASSED(CheckMemoryRules(judgement_, *buffers_, 0, served_.candidate, where));
  HONE_ASSIGN_OR_RETURN(const SliceDigests slice_digests,
                        OutputDigests(judgement_.session, task_, *buffers_, 0, options_.digest_key));
  if (slice_digests == mine_.base_digests.front()) return Gate::kPassed;
  varies_ = true;
  std::vector<int64_t> judged;
  if (CanPermuteSlices(task_, *buffers_)) {
    const std::vector<int64_t> differing = DifferingSlices(slice_digests, mine_.base_digests.front(), nullptr);
    const auto differing_slices = static_cast<int64_t>(differing.size());
    for (int64_t pick : SecretSubset(differing_slices, std::min(differing_slices, policy::kDifferingSlicesJudged),
                                     judgement_.secrets.Next())) {
      judged.push_back(differing[static_cast<size_t>(pick)]);
    }
    judged = WithEnoughElements(std::move(judged), task_, *buffers_, judgement_.secrets.Next());
  }
  const InputSet& base = options_.bases.front();
  HONE_ASSIGN_OR_RETURN(CheckOutcome checked, judged.empty() ? checker_.CheckAll(*buffers_, 0, base, options_.require_rms)
                                                             : checker_.CheckSlices(*buffers_, 0, base, judged, options_.require_rms));
  result_.max_scaled_error = std::max(result_.max_scaled_error, checked.max_scaled_error);
  if (!checked.mismatch) return Gate::kPassed;
  judgement_.evaluation.mismatch = checked.mismatch;
  return judgement_.Stop(Verdict::kWrongOutput, "in a timed launch, " + checked.detail);
}

Result<std::optional<double>> MeasuredCase::RoughMicroseconds() {
  double rough_us = 1e30;
  for (int i = 0; i < policy::kRoughLaunches; ++i) {
    HONE_RETURN_IF_ERROR(buffers_->PrepareLaunch(0, options_.bases.front(), served_.candidate.plan));
    HONE_ASSIGN_OR_RETURN(SampleOutcome sample,
                          judgement_.session.TimeSample({.program = served_.candidate.program,
                                                         .plan = &served_.candidate.plan,
                                                         .sets = {&buffers_->set(0)},
                                                         .limit_seconds = launch_limit_seconds_,
                                                         .watched = options_.watch_ends
                                                                        ? WatchedOutputs(task_, *buffers_, {0})
                                                                        : std::vector<TensorView>()}));
    if (sample.launch.status != LaunchStatus::kOk) {
      judgement_.Stop(VerdictOf(sample.launch.status), sample.launch.detail);
      return std::optional<double>();
    }
    if (sample.changed_after_end) {
      judgement_.Stop(Verdict::kRuleViolation, fmt::format("{} (a first timed launch): {}", DimsText(dims_), kChangedAfterEnd));
      StoppedBy(judgement_, served_.candidate);
      return std::optional<double>();
    }
    rough_us = std::min(rough_us, sample.us_per_plan);
    HONE_ASSIGN_OR_RETURN(const Gate checked,
                          judgement_.request.gates.rough_times ? CheckRough() : Result<Gate>(Gate::kPassed));
    if (checked == Gate::kStopped) {
      StoppedBy(judgement_, served_.candidate);
      return std::optional<double>();
    }
  }
  return std::optional<double>(rough_us);
}

// Chooses the number of buffer sets from a launch's rough duration: short launches are timed many to a graph, each on a
// set of its own. Makes and verifies the sets.
Result<Gate> MeasuredCase::ChooseSets() {
  HONE_ASSIGN_OR_RETURN(const std::optional<double> rough_us, RoughMicroseconds());
  if (!rough_us) return Gate::kStopped;
  HONE_ASSIGN_OR_RETURN(set_bytes_, CaseBuffers::SetBytes(task_, dims_));
  int sets = 1;
  if (*rough_us < policy::kLongLaunchUs) {
    sets = static_cast<int>(
        std::clamp(std::ceil(policy::kLongLaunchUs / *rough_us), 2.0, static_cast<double>(policy::kMostSets)));
    const int64_t room = judgement_.session.FreeBytes() / policy::kSetsMemoryShare / std::max<int64_t>(set_bytes_, 1);
    sets = static_cast<int>(std::clamp<int64_t>(sets, 1, std::max<int64_t>(room, 1)));
  }
  if (sets == 1) return Gate::kPassed;
  // Each set gets a base input of its own, so that no two launches of a sample share a slice and the result of one
  // cannot serve for another.
  while (static_cast<int>(options_.bases.size()) < sets) {
    if (judgement_.request.gates.bases_of_their_own) {
      HONE_RETURN_UNLESS_PASSED(CheckBaseSet());
      continue;
    }
    options_.bases.push_back(options_.bases.front());
    mine_.base_digests.push_back(mine_.base_digests.front());
    if (served_.incumbent) theirs_.base_digests.push_back(theirs_.base_digests.front());
  }
  HONE_RETURN_IF_ERROR(MakeBuffers(sets));
  return Gate::kPassed;
}

// Times the candidate against the incumbent under `options_`.
Result<PairedTiming> MeasuredCase::Time(const char* phase) {
  judgement_.Announce(phase, DimsText(dims_), phase_limit_seconds_ + options_.budget_seconds * policy::kTimingBudgets);
  return TimePaired(judgement_.session, task_, *buffers_, checker_, mine_, served_.incumbent ? &theirs_ : nullptr,
                    options_);
}

Result<Gate> MeasuredCase::TimeCold() {
  const int asked_quads = judgement_.request.options.max_quads;
  options_.max_quads = asked_quads > 0 ? asked_quads : sets() > 1 ? policy::kMostQuadsShort : policy::kMostQuadsLong;
  options_.budget_seconds = judgement_.request.timing_budget_seconds;
  const Result<PairedTiming> ended = Time("time");
  if (!ended.ok()) {
    if (ended.status().code() != StatusCode::kInvalidArgument) return ended.status();
    return judgement_.Stop(Verdict::kInvalidTask, ended.status().message());
  }
  const PairedTiming& timed = *ended;
  result_.max_scaled_error = std::max(result_.max_scaled_error, timed.max_scaled_error);
  std::vector<std::string>& labels = judgement_.evaluation.labels;
  if (served_.incumbent) {
    std::map<std::string, double>& metrics = judgement_.evaluation.metrics;
    metrics["quad_deviation"] = timed.quad_deviation;
    metrics["quad_first_to_last"] = timed.first_to_last;
    metrics["quad_second_to_third"] = timed.second_to_third;
  }
  if (timed.nondeterministic && std::find(labels.begin(), labels.end(), kNondeterministic) == labels.end()) {
    labels.push_back(kNondeterministic);
  }
  if (timed.verdict != Verdict::kOk) {
    judgement_.evaluation.mismatch = timed.mismatch;
    judgement_.Stop(timed.verdict, timed.detail);
    return StoppedBy(judgement_, served_.candidate);
  }
  NoteDoubts(timed);
  result_.timing = timed.timing;
  result_.time_us = timed.candidate_us;
  if (served_.incumbent) {
    result_.baseline_us = timed.incumbent_us;
    result_.speedup = timed.speedup;
  }
  return Gate::kPassed;
}

// Adds findings about what medians and tolerances let pass: slow samples, and outputs that vary.
void MeasuredCase::NoteDoubts(const PairedTiming& timed) {
  const std::string where = DimsText(dims_);
  if (timed.candidate_slow_share > policy::kSlowShare && timed.candidate_slow_share > 2 * timed.incumbent_slow_share) {
    judgement_.AddDoubt({.kind = "slow_samples",
                         .message = fmt::format("{}: {:.0f} % of the timed samples took more than {} medians{}; the median "
                                                "does not show them",
                                                where, 100 * timed.candidate_slow_share, policy::kSlowSample,
                                                served_.incumbent ? fmt::format(", of the incumbent's {:.0f} %",
                                                                                100 * timed.incumbent_slow_share)
                                                                  : ""),
                         .location = "",
                         .dims = dims_,
                         .timed = true,
                         .shapes = 1});
  }
  if (varies_ && !MayVary(task_, served_.candidate.compiled->candidate)) {
    judgement_.AddDoubt({.kind = "varies_between_runs",
                         .message = fmt::format("{}: equal inputs at equal addresses gave outputs of different bits, and "
                                                "neither the task nor an atomic operation of the kernel explains it",
                                                where),
                         .location = "",
                         .dims = dims_,
                         .timed = true,
                         .shapes = 1});
  }
}

// If the times are beyond the device's peak, judges whole what was judged on some slices: every base input, and special
// values once more.
Result<Gate> MeasuredCase::LookAgain() {
  if (!BeyondPeak(judgement_, dims_, result_)) return Gate::kPassed;
  const int timed_sets = sets();
  HONE_RETURN_IF_ERROR(MakeBuffers(1));
  std::vector<InputSet> input_sets = options_.bases;
  input_sets.push_back({.key = judgement_.secrets.NextOdd()});
  if (TakesStress(task_)) {
    for (const Distribution stress : policy::kStress) {
      input_sets.push_back({.key = judgement_.secrets.NextOdd(), .stress = stress, .use_stress = true});
    }
  }
  for (const InputSet& inputs : input_sets) {
    judgement_.Announce("check", fmt::format("{} again, {} inputs", DimsText(dims_), inputs.name()), phase_limit_seconds_);
    HONE_RETURN_UNLESS_PASSED(Launch(served_.candidate, inputs, std::nullopt));
  }
  if (timed_sets > 1) HONE_RETURN_IF_ERROR(MakeBuffers(timed_sets));
  return Gate::kPassed;
}

Status MeasuredCase::TimeCalls() {
  const ResolvedPlan& plan = served_.candidate.plan;
  ResolvedPlan calls = plan;
  std::erase_if(calls.steps, [](const ResolvedStep& step) { return !step.call; });
  if (calls.steps.empty() || served_.candidate.fallback) return Status::Ok();
  judgement_.Announce("time calls", DimsText(dims_), phase_limit_seconds_);
  SampleRequest request{.program = served_.candidate.program, .plan = &plan, .limit_seconds = launch_limit_seconds_};
  for (int set = 0; set < sets(); ++set) {
    const InputSet& base = options_.bases[static_cast<size_t>(set) % options_.bases.size()];
    HONE_RETURN_IF_ERROR(buffers_->DrawInputs(set, base));
    HONE_RETURN_IF_ERROR(buffers_->PrepareLaunch(set, base, plan));
    request.sets.push_back(&buffers_->set(set));
  }
  std::vector<double> samples;
  // The first sample runs the whole plan, so that the calls read the numbers that the plan's other steps write for
  // them.
  for (int i = -1; i < policy::kCallSamples; ++i) {
    HONE_ASSIGN_OR_RETURN(const SampleOutcome sample, judgement_.session.TimeSample(request));
    // The same launches succeeded a moment ago, so a failure is the device's fault.
    if (sample.launch.status != LaunchStatus::kOk) return Status::Device("timing the library calls alone: " + sample.launch.detail);
    if (i >= 0) samples.push_back(sample.us_per_plan);
    request.plan = &calls;
  }
  std::nth_element(samples.begin(), samples.begin() + policy::kCallSamples / 2, samples.end());
  result_.calls_us = samples[policy::kCallSamples / 2];
  return Status::Ok();
}

// Takes warm times, if the request asks for them and the working set is small enough to be warm.
Result<Gate> MeasuredCase::TimeWarm() {
  const int64_t l2_bytes = judgement_.facts().l2_bytes;
  if (!judgement_.request.options.warm || l2_bytes <= 0 || set_bytes_ > policy::kWarmCaches * l2_bytes) {
    return Gate::kPassed;
  }
  const int64_t fitting = l2_bytes / policy::kWarmCacheShare / std::max<int64_t>(set_bytes_, 1);
  const int warm_sets = static_cast<int>(std::clamp<int64_t>(fitting, 1, sets()));
  if (warm_sets != sets()) HONE_RETURN_IF_ERROR(MakeBuffers(warm_sets));
  options_.cache = CacheState::kWarm;
  options_.max_quads = std::min(policy::kWarmQuads, options_.max_quads);
  options_.seed = judgement_.secrets.Next();
  HONE_ASSIGN_OR_RETURN(const PairedTiming timed, Time("time warm"));
  if (timed.verdict != Verdict::kOk) {
    judgement_.evaluation.mismatch = timed.mismatch;
    judgement_.Stop(timed.verdict, timed.detail);
    return StoppedBy(judgement_, served_.candidate);
  }
  result_.warm_time_us = timed.candidate_us;
  if (served_.incumbent) {
    result_.warm_baseline_us = timed.incumbent_us;
    result_.warm_speedup = timed.speedup;
  }
  return Gate::kPassed;
}

}  // namespace

Result<Gate> TimeMeasured(Judgement& judgement, const Case& time_case, CaseResult& result) {
  HONE_ASSIGN_OR_RETURN(std::optional<TimedPrograms> served,
                        ServeTimed(judgement, time_case.dims, /*sampled=*/false, result));
  if (!served) return Gate::kStopped;
  MeasuredCase measured(judgement, time_case.dims, std::move(*served), result);
  HONE_RETURN_UNLESS_PASSED(measured.CheckTrials());
  HONE_RETURN_UNLESS_PASSED(measured.CheckBaseSet());
  HONE_RETURN_UNLESS_PASSED(measured.ChooseSets());
  HONE_RETURN_UNLESS_PASSED(measured.TimeCold());
  HONE_RETURN_UNLESS_PASSED(RefuseImpossibleTime(judgement, time_case.dims, result));
  HONE_RETURN_UNLESS_PASSED(measured.LookAgain());
  HONE_RETURN_IF_ERROR(measured.TimeCalls());
  HONE_RETURN_IF_ERROR(AddFloor(judgement, time_case.dims, measured.sets(), result));
  return measured.TimeWarm();
}

}  // namespace hone
