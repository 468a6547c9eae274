// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/measured_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/units.h"
#include "tuner/core/dims_text.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/checked_launch.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/time_gates.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/timing/paired_timer.h"
#include "tuner/evaluate/timing/quad_order.h"

namespace hone {
namespace {

constexpr char kNondeterministic[] = "nondeterministic";

// One timed case in the making; the gates below are asked in the order in which they stand.
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
        checker_(judgement.session, judgement.task, judgement.request.oracle->candidate, *judgement.programs.oracle) {}

  // New buffers of `sets` sets, in the place of those that were.
  Status MakeBuffers(int sets);

  Result<Gate> CheckTrials();
  Result<Gate> CheckBaseSet();
  Result<Gate> CheckIncumbent();
  Result<Gate> ChooseSets();
  Result<Gate> TimeCold();
  Result<Gate> RefuseImpossible();
  Result<Gate> TimeWarm();

  int sets() const { return buffers_->sets(); }

 private:
  // Slices on which a large shape is judged where the oracle has been slow; nullopt: on all of them.
  std::optional<std::vector<int64_t>> SliceShare(bool slow);
  Result<Gate> Launch(const InputSet& inputs, const std::optional<std::vector<int64_t>>& slices);
  // nullopt: the judgement has stopped.
  Result<std::optional<double>> RoughMicroseconds();
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
};

Status MeasuredCase::MakeBuffers(int sets) {
  buffers_.reset();
  HONE_ASSIGN_OR_RETURN(buffers_, CaseBuffers::Make(judgement_.session, task_, dims_, served_.plans(), sets, false,
                                                    judgement_.secrets.Next()));
  return Status::Ok();
}

std::optional<std::vector<int64_t>> MeasuredCase::SliceShare(bool slow) {
  if (!slow || buffers_->slices() < policy::kSlowOracleShare) return std::nullopt;
  return SecretSubset(buffers_->slices(), buffers_->slices() / policy::kSlowOracleShare, judgement_.secrets.Next());
}

Result<Gate> MeasuredCase::Launch(const InputSet& inputs, const std::optional<std::vector<int64_t>>& slices) {
  HONE_ASSIGN_OR_RETURN(const Gate gate,
                        LaunchChecked(judgement_, *buffers_, served_.candidate, inputs, checker_,
                                      {.require_rms = true, .slices = slices ? &*slices : nullptr}, &result_));
  return gate == Gate::kPassed ? gate : StoppedBy(judgement_, served_.candidate);
}

// Level 1: the oracle on fresh input sets at this very shape.
Result<Gate> MeasuredCase::CheckTrials() {
  for (int trial = 0; trial + 1 < judgement_.request.options.correctness_trials; ++trial) {
    const InputSet inputs{.key = judgement_.secrets.NextOdd()};
    judgement_.Announce("check", fmt::format("{} trial {}", DimsText(dims_), trial + 1), phase_limit_seconds_);
    const bool slow = trial > 0 && checker_.last_oracle_seconds() > policy::kSlowOracleSeconds;
    HONE_PASS_OR_RETURN(Launch(inputs, SliceShare(slow)));
  }
  return Gate::kPassed;
}

// The base set of the timed launches: verified like the others, then remembered by digest on the host, out of the
// candidate's reach.
Result<Gate> MeasuredCase::CheckBaseSet() {
  options_.seed = judgement_.secrets.Next();
  options_.digest_key = judgement_.secrets.Next();
  options_.base = InputSet{.key = judgement_.secrets.NextOdd()};
  options_.launch_limit_seconds = launch_limit_seconds_;
  judgement_.Announce("check", fmt::format("{} base set", DimsText(dims_)), phase_limit_seconds_);
  const bool slow = checker_.last_oracle_seconds() > policy::kSlowOracleForBaseSeconds &&
                    judgement_.request.options.correctness_trials > 1;
  HONE_PASS_OR_RETURN(Launch(options_.base, SliceShare(slow)));
  mine_ = TimedSide{served_.candidate.program, &served_.candidate.plan, {}};
  HONE_ASSIGN_OR_RETURN(mine_.base_digests,
                        OutputDigests(judgement_.session, task_, *buffers_, 0, options_.digest_key));
  return Gate::kPassed;
}

// The same for the other side, which has passed a judgement of its own: a secret share of the slices will do.
Result<Gate> MeasuredCase::CheckIncumbent() {
  if (!served_.incumbent) return Gate::kPassed;
  const ResolvedPlan& plan = served_.incumbent->plan;
  theirs_ = TimedSide{served_.incumbent->program, &plan, {}, judgement_.request.incumbent_is_library};
  HONE_RETURN_IF_ERROR(buffers_->PrepareLaunch(0, options_.base, plan));
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
  HONE_ASSIGN_OR_RETURN(CheckOutcome checked, some.empty()
                                                  ? checker_.CheckAll(*buffers_, 0, options_.base, true)
                                                  : checker_.CheckSlices(*buffers_, 0, options_.base, some, true));
  if (checked.mismatch) return judgement_.Stop(Verdict::kInvalidTask, "the incumbent is wrong: " + checked.detail);
  HONE_ASSIGN_OR_RETURN(theirs_.base_digests,
                        OutputDigests(judgement_.session, task_, *buffers_, 0, options_.digest_key));
  return Gate::kPassed;
}

Result<std::optional<double>> MeasuredCase::RoughMicroseconds() {
  double rough_us = 1e30;
  for (int i = 0; i < policy::kRoughLaunches; ++i) {
    HONE_RETURN_IF_ERROR(buffers_->PrepareLaunch(0, options_.base, served_.candidate.plan));
    HONE_ASSIGN_OR_RETURN(SampleOutcome sample,
                          judgement_.session.TimeSample({.program = served_.candidate.program,
                                                         .plan = &served_.candidate.plan,
                                                         .sets = {&buffers_->set(0)},
                                                         .limit_seconds = launch_limit_seconds_}));
    if (sample.launch.status != LaunchStatus::kOk) {
      judgement_.Stop(VerdictOf(sample.launch.status), sample.launch.detail);
      return std::optional<double>();
    }
    rough_us = std::min(rough_us, sample.us_per_plan);
  }
  return std::optional<double>(rough_us);
}

// How long is one launch? Short ones are timed many to a graph, over disjoint buffers.
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
  if (sets > 1) HONE_RETURN_IF_ERROR(MakeBuffers(sets));
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
  if (timed.nondeterministic && std::find(labels.begin(), labels.end(), kNondeterministic) == labels.end()) {
    labels.push_back(kNondeterministic);
  }
  if (timed.verdict != Verdict::kOk) {
    judgement_.evaluation.mismatch = timed.mismatch;
    judgement_.Stop(timed.verdict, timed.detail);
    return StoppedBy(judgement_, served_.candidate);
  }
  result_.timing = timed.timing;
  result_.time_us = timed.candidate_us;
  if (served_.incumbent) {
    result_.baseline_us = timed.incumbent_us;
    result_.speedup = timed.speedup;
  }
  return Gate::kPassed;
}

// A time no memory could deliver is no time. Writes may still sit in L2 when the interval ends.
Result<Gate> MeasuredCase::RefuseImpossible() {
  const DeviceFacts& facts = judgement_.facts();
  HONE_ASSIGN_OR_RETURN(Traffic traffic, CompulsoryTraffic(task_, dims_));
  const double must_move =
      traffic.read_bytes + std::max(0.0, traffic.written_bytes - static_cast<double>(facts.l2_bytes));
  if (facts.memory_bandwidth <= 0) return Gate::kPassed;
  result_.refuse_below_us = MicrosecondsToMove(must_move, facts.memory_bandwidth);
  if (result_.time_us->median >= *result_.refuse_below_us) return Gate::kPassed;
  return judgement_.Stop(
      Verdict::kRuleViolation,
      fmt::format("{}: a cold time of {:.2f} us is impossible; reading the inputs alone takes {:.2f} us at the "
                  "datasheet bandwidth",
                  DimsText(dims_), result_.time_us->median, *result_.refuse_below_us));
}

// Warm times are taken only where the working set can be warm at all.
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
  HONE_ASSIGN_OR_RETURN(std::optional<TimedPrograms> served, ServeTimed(judgement, time_case.dims, false, result));
  if (!served) return Gate::kStopped;
  MeasuredCase measured(judgement, time_case.dims, std::move(*served), result);
  HONE_RETURN_IF_ERROR(measured.MakeBuffers(1));
  HONE_PASS_OR_RETURN(measured.CheckTrials());
  HONE_PASS_OR_RETURN(measured.CheckBaseSet());
  HONE_PASS_OR_RETURN(measured.CheckIncumbent());
  HONE_PASS_OR_RETURN(measured.ChooseSets());
  HONE_PASS_OR_RETURN(measured.TimeCold());
  HONE_PASS_OR_RETURN(measured.RefuseImpossible());
  HONE_RETURN_IF_ERROR(AddFloor(judgement, time_case.dims, measured.sets(), result));
  return measured.TimeWarm();
}

}  // namespace hone
