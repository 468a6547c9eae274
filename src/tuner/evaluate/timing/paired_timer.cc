// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/timing/paired_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/clock.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/timing/interval.h"
#include "tuner/evaluate/timing/quad_order.h"
#include "tuner/evaluate/timing/sequential_test.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

// Numbers of looks. With more looks, a timing ends sooner after its interval is narrow enough; beyond ten looks, wider
// boundaries cost as much as that saves. Timings of fewer than kQuadsForManyLooks quads have kFewLooks looks, because
// early looks would have hardly any degrees of freedom.
constexpr int kMeasuredLooks = 10, kFewLooks = 5, kQuadsForManyLooks = 80;
constexpr int64_t kSlicesForThreads = 1 << 15;  // fewer slices than this are permuted faster than threads start

// Returns the digests of every output of each of `sets`, in their order.
Result<std::vector<SliceDigests>> OutputDigestsOf(DeviceSession& session, const Task& task, CaseBuffers& buffers,
                                                  const std::vector<int>& sets, uint64_t digest_key) {
  std::vector<TensorView> views;
  for (int set : sets) {
    for (const TensorSpec& tensor : task.tensors) {
      if (IsOutput(tensor)) views.push_back(buffers.set(set).tensors.at(tensor.name));
    }
  }
  HONE_ASSIGN_OR_RETURN(std::vector<std::vector<uint64_t>> digests, session.DigestMany(views, digest_key));
  std::vector<SliceDigests> by_set;
  size_t next = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    by_set.emplace_back();
    for (const TensorSpec& tensor : task.tensors) {
      if (IsOutput(tensor)) by_set.back()[tensor.name] = std::move(digests[next++]);
    }
  }
  return by_set;
}

// A Protocol is one timing in progress: the secret stream, the inputs of the current quad, and the findings.
class Protocol {
 public:
  Protocol(DeviceSession& session, const Task& task, CaseBuffers& buffers, OracleChecker& checker,
           const TimedSide& candidate, const TimedSide* incumbent, const PairedTimerOptions& options)
      : session_(session), task_(task), buffers_(buffers), checker_(checker), candidate_(candidate),
        incumbent_(incumbent), options_(options), secrets_(options.seed) {}

  Result<PairedTiming> Run();

 private:
  uint64_t Secret() { return secrets_.Next(); }

  bool IsBase(int set) const {
    const auto at = static_cast<size_t>(set);
    return inputs_[at].key == options_.bases[at].key;
  }
  // Returns the slices that the oracle must judge of set `set`, whose output has the digests `digests`; nullopt: all
  // slices.
  std::optional<std::vector<int64_t>> SlicesToJudge(const TimedSide& side, int set, const SliceDigests& digests);
  // Returns the part of the audited set's digests that belongs to inputs which no earlier quad had.
  SliceDigests OfNewInputs(const SliceDigests& digests) const;
  bool PassedInThisQuad(int set, const SliceDigests& digests) const {
    return set == audited_set_ && std::find(passed_.begin(), passed_.end(), OfNewInputs(digests)) != passed_.end();
  }
  Status DrawQuad(bool everything);
  void FindOrigins();
  Result<double> Sample(const TimedSide& side, int sets, bool watch_end = false);
  Status CheckSample(const TimedSide& side, const std::vector<int>& executed);
  Status CheckInputs();
  Status Audit();
  Status Fail(Verdict verdict, std::string detail) {
    result_.verdict = verdict;
    result_.detail = std::move(detail);
    return Status::Ok();
  }
  bool failed() const { return result_.verdict != Verdict::kOk; }

  DeviceSession& session_;
  const Task& task_;
  CaseBuffers& buffers_;
  OracleChecker& checker_;
  const TimedSide& candidate_;
  const TimedSide* incumbent_;
  const PairedTimerOptions& options_;
  SecretNumbers secrets_;

  std::vector<InputSet> inputs_;  // inputs of the current quad, per buffer set
  // By buffer set and slice: the slice's place in the base input; -1: drawn anew. The origins are computed once for the
  // four samples of a quad, because that costs more processor time than all other work for a sample.
  std::vector<std::vector<int64_t>> origins_;
  std::map<std::string, std::vector<uint64_t>> audited_input_digests_;
  int audited_set_ = 0;
  // Digests of the audited set's outputs for new inputs that the oracle found right in the current quad. The four
  // samples of a quad have equal inputs, so an output that is bit-equal to one of these is right too. One run of the
  // oracle costs a tenth of a short sample.
  std::vector<SliceDigests> passed_;
  PairedTiming result_;
};

// Returns the share of samples that took more than kSlowSample times the median.
double SlowShare(const std::vector<double>& samples, double median) {
  const auto slow = std::count_if(samples.begin(), samples.end(), [&](double us) { return us > policy::kSlowSample * median; });
  return samples.empty() ? 0.0 : static_cast<double>(slow) / static_cast<double>(samples.size());
}

// Draws fresh inputs for every buffer set. Tensors without a slice axis (weights, a second matrix) keep their set's
// base values, because only slices can be moved without a new reference. If outputs are not sliced, only the audited
// set gets new inputs. Blocks that lie apart in memory move to another place. `everything`: draws also tensors that
// have not changed since the last quad.
Status Protocol::DrawQuad(bool everything) {
  HONE_ASSIGN_OR_RETURN(const bool rearranged, buffers_.Rearrange(Secret()));
  everything = everything || rearranged;
  const bool permutable = CanPermuteSlices(task_, buffers_);
  const int64_t slices = buffers_.slices();
  const std::vector<InputSet> before = std::move(inputs_);
  inputs_.assign(options_.bases.begin(), options_.bases.begin() + buffers_.sets());
  audited_set_ = static_cast<int>(Secret() % static_cast<uint64_t>(buffers_.sets()));
  for (int set = 0; set < buffers_.sets(); ++set) {
    InputSet& inputs = inputs_[static_cast<size_t>(set)];
    if (permutable) {
      inputs.permutation_key = Secret() | 1;
      inputs.redraw_key = Secret() | 1;
      inputs.redrawn = SecretSubset(slices, std::max<int64_t>(1, slices / policy::kRedrawShare), Secret());
    } else if (set == audited_set_) {
      inputs.key = Secret() | 1;
    }
    const bool new_key = everything || before[static_cast<size_t>(set)].key != inputs.key;
    for (const TensorSpec& tensor : task_.tensors) {
      if (tensor.role == TensorRole::kOut || tensor.role == TensorRole::kInOut) continue;  // inout: before each launch
      if (!new_key && tensor.slice_axis < 0) continue;
      HONE_RETURN_IF_ERROR(buffers_.DrawTensor(tensor, inputs, buffers_.set(set).tensors.at(tensor.name)));
    }
  }
  if (permutable) FindOrigins();
  passed_.clear();
  audited_input_digests_.clear();
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role != TensorRole::kIn) continue;
    const bool overwritten_by_alias = std::any_of(task_.tensors.begin(), task_.tensors.end(),
                                                  [&](const TensorSpec& o) { return o.alias == tensor.name; });
    if (overwritten_by_alias) continue;
    HONE_ASSIGN_OR_RETURN(audited_input_digests_[tensor.name],
                          session_.Digest(buffers_.set(audited_set_).tensors.at(tensor.name), options_.digest_key));
  }
  return Status::Ok();
}

void Protocol::FindOrigins() {
  const int64_t slices = buffers_.slices();
  origins_.resize(inputs_.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t set = next++; set < inputs_.size(); set = next++) {
      std::vector<int64_t>& origins = origins_[set];
      origins.resize(static_cast<size_t>(slices));
      const auto n = static_cast<uint64_t>(slices);
      const int half = draw::PermutedHalf(n);
      for (uint64_t slice = 0; slice < n; ++slice) {  // n >= 2 and the key is not 0: see Permutable and DrawQuad
        origins[slice] = static_cast<int64_t>(draw::PermuteWithin(slice, n, inputs_[set].permutation_key, half));
      }
      for (int64_t slice : inputs_[set].redrawn) origins[static_cast<size_t>(slice)] = -1;
    }
  };
  const size_t helpers = slices * static_cast<int64_t>(inputs_.size()) < kSlicesForThreads
                             ? 0 : std::min<size_t>(inputs_.size(), std::max(1u, std::thread::hardware_concurrency())) - 1;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// Takes one sample over the first `sets` buffer sets of a secret order. Returns the microseconds of one launch of the
// plan.
Result<double> Protocol::Sample(const TimedSide& side, int sets, bool watch_end) {
  for (int set = 0; set < buffers_.sets(); ++set) {
    HONE_RETURN_IF_ERROR(buffers_.PrepareLaunch(set, inputs_[static_cast<size_t>(set)], *side.plan));
  }
  const std::vector<int> order = SecretOrder(buffers_.sets(), Secret());
  SampleRequest request;
  request.program = side.program;
  request.plan = side.plan;
  request.cache = options_.cache;
  request.limit_seconds = options_.launch_limit_seconds;
  request.trusted = side.trusted;
  std::vector<int> executed(order.begin(), order.begin() + sets);
  for (int set : executed) request.sets.push_back(&buffers_.set(set));
  if (watch_end && options_.watch_ends) request.watched = WatchedOutputs(task_, buffers_, executed);

  // In an audit, outputs of a set that is not executed must not change.
  std::map<int, SliceDigests> untouched;
  for (size_t i = static_cast<size_t>(sets); i < order.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(untouched[order[i]], OutputDigests(session_, task_, buffers_, order[i], options_.digest_key));
  }

  HONE_ASSIGN_OR_RETURN(SampleOutcome outcome, session_.TimeSample(request));
  const bool is_candidate = &side == &candidate_;
  if (outcome.launch.status != LaunchStatus::kOk) {
    if (!is_candidate) return Status::InvalidArgument("the incumbent failed while it was timed: " + outcome.launch.detail);
    HONE_RETURN_IF_ERROR(Fail(VerdictOf(outcome.launch.status), outcome.launch.detail));
    return 0.0;
  }
  if (outcome.changed_after_end) {
    HONE_RETURN_IF_ERROR(Fail(Verdict::kRuleViolation, fmt::format("in a timed launch, {}", kChangedAfterEnd)));
    return 0.0;
  }
  HONE_RETURN_IF_ERROR(CheckSample(side, executed));
  if (!failed()) {
    for (const auto& [set, before] : untouched) {
      HONE_ASSIGN_OR_RETURN(auto after, OutputDigests(session_, task_, buffers_, set, options_.digest_key));
      if (after != before) {
        HONE_RETURN_IF_ERROR(Fail(Verdict::kRuleViolation,
                                  "work was done for a launch that had not been asked for yet: an output of a later "
                                  "launch was written by an earlier one"));
        break;
      }
    }
  }
  return outcome.us_per_plan;
}

SliceDigests Protocol::OfNewInputs(const SliceDigests& digests) const {
  const std::vector<int64_t>& redrawn = inputs_[static_cast<size_t>(audited_set_)].redrawn;
  if (!CanPermuteSlices(task_, buffers_)) return digests;
  SliceDigests part;
  for (const auto& [tensor, digest] : digests) {
    std::vector<uint64_t>& redrawn_digests = part[tensor];
    redrawn_digests.reserve(redrawn.size());
    for (const int64_t slice : redrawn) redrawn_digests.push_back(digest[static_cast<size_t>(slice)]);
  }
  return part;
}

std::optional<std::vector<int64_t>> Protocol::SlicesToJudge(const TimedSide& side, int set,
                                                            const SliceDigests& digests) {
  const InputSet& inputs = inputs_[static_cast<size_t>(set)];
  const std::vector<int64_t> differing =
      DifferingSlices(digests, side.base_digests.at(static_cast<size_t>(set)), &origins_[static_cast<size_t>(set)]);
  std::vector<int64_t> judged;
  if (!differing.empty()) {
    result_.nondeterministic |= &side == &candidate_;
    const auto differing_slices = static_cast<int64_t>(differing.size());
    for (int64_t pick :
         SecretSubset(differing_slices, std::min(differing_slices, policy::kDifferingSlicesJudged), Secret())) {
      judged.push_back(differing[static_cast<size_t>(pick)]);
    }
  }
  if (set == audited_set_ && !PassedInThisQuad(set, digests)) {
    judged.insert(judged.end(), inputs.redrawn.begin(), inputs.redrawn.end());
  }
  std::sort(judged.begin(), judged.end());
  return WithEnoughElements(std::move(judged), task_, buffers_, Secret());
}

// Checks the outputs of a sample. Each is either bit-equal to an output that passed both tolerances, or is judged by
// both, whole or on secretly chosen slices that differ.
Status Protocol::CheckSample(const TimedSide& side, const std::vector<int>& executed) {
  const bool is_candidate = &side == &candidate_;
  const bool permutable = CanPermuteSlices(task_, buffers_);
  // The digests of all sets are computed by one call of the device.
  HONE_ASSIGN_OR_RETURN(const std::vector<SliceDigests> all_digests,
                        OutputDigestsOf(session_, task_, buffers_, executed, options_.digest_key));
  // The sets to judge, each on these slices; nullopt: on all slices.
  std::vector<std::pair<int, std::optional<std::vector<int64_t>>>> judged;
  std::vector<int> differing;
  for (size_t at = 0; at < executed.size(); ++at) {
    const int set = executed[at];
    if (permutable) {
      std::optional<std::vector<int64_t>> slices = SlicesToJudge(side, set, all_digests[at]);
      if (!slices || !slices->empty()) judged.emplace_back(set, std::move(slices));
    } else if (!IsBase(set)) {
      if (!PassedInThisQuad(set, all_digests[at])) judged.emplace_back(set, std::nullopt);
    } else if (all_digests[at] != side.base_digests.at(static_cast<size_t>(set))) {
      result_.nondeterministic |= is_candidate;
      differing.push_back(set);
    }
  }
  const auto differ = static_cast<int64_t>(differing.size());
  for (int64_t pick : SecretSubset(differ, std::min<int64_t>(differ, policy::kDifferingSetsJudged), Secret())) {
    judged.emplace_back(differing[static_cast<size_t>(pick)], std::nullopt);
  }
  checker_.JudgeIncumbent(!is_candidate);
  for (const auto& [set, slices] : judged) {
    const InputSet& inputs = inputs_[static_cast<size_t>(set)];
    Result<CheckOutcome> outcome = slices ? checker_.CheckSlices(buffers_, set, inputs, *slices, options_.require_rms)
                                          : checker_.CheckAll(buffers_, set, inputs, options_.require_rms);
    if (!outcome.ok()) return outcome.status();
    if (is_candidate) result_.max_scaled_error = std::max(result_.max_scaled_error, outcome->max_scaled_error);
    if (outcome->mismatch) {
      if (!is_candidate) return Status::InvalidArgument("the incumbent was wrong while it was timed: " + outcome->detail);
      result_.mismatch = outcome->mismatch;
      return Fail(Verdict::kWrongOutput, "in a timed launch, " + outcome->detail);
    }
  }
  // These outputs were judged just now, or are bit-equal to some that passed before.
  const auto audited = std::find(executed.begin(), executed.end(), audited_set_);
  if (audited != executed.end()) {
    const SliceDigests& digests = all_digests[static_cast<size_t>(audited - executed.begin())];
    if (!PassedInThisQuad(audited_set_, digests)) passed_.push_back(OfNewInputs(digests));
  }

  HONE_ASSIGN_OR_RETURN(std::optional<std::string> gaps, buffers_.CheckGaps());
  if (gaps) {
    if (!is_candidate) return Status::InvalidArgument("the incumbent wrote outside its buffers: " + *gaps);
    return Fail(Verdict::kRuleViolation, "wrote outside its buffers in a timed launch: " + *gaps);
  }
  if (is_candidate) {
    HONE_ASSIGN_OR_RETURN(bool changed, session_.GlobalsChanged(*side.program));
    if (changed) return Fail(Verdict::kRuleViolation, "a device global was left changed after a launch; nothing may be kept between launches");
  }
  for (const ResolvedWorkspace& workspace : side.plan->workspaces) {
    if (!workspace.zero_on_entry || workspace.bytes == 0) continue;
    for (int set : executed) {
      HONE_ASSIGN_OR_RETURN(bool zero, session_.IsZero(buffers_.set(set).workspaces.at(workspace.name), workspace.bytes));
      if (!zero && is_candidate) {
        return Fail(Verdict::kRuleViolation, fmt::format("workspace {} is declared zero on entry but was not left zero", workspace.name));
      }
    }
  }
  return Status::Ok();
}

// Checks that the audited set's inputs are unchanged. Once a quad is enough: if a sample changes an input, the next
// sample's output is wrong, and its digests show that.
Status Protocol::CheckInputs() {
  for (const auto& [tensor, digest] : audited_input_digests_) {
    HONE_ASSIGN_OR_RETURN(std::vector<uint64_t> digests_now,
                          session_.Digest(buffers_.set(audited_set_).tensors.at(tensor), options_.digest_key));
    if (digests_now != digest)
      return Fail(Verdict::kRuleViolation, fmt::format("changed its input {} in a timed launch", tensor));
  }
  return Status::Ok();
}

Status Protocol::Audit() {
  const int sets = 1 + static_cast<int>(Secret() % static_cast<uint64_t>(buffers_.sets() - 1));
  Result<double> ignored = Sample(candidate_, sets, /*watch_end=*/true);
  return ignored.status();
}

Result<PairedTiming> Protocol::Run() {
  const double started = SteadySeconds();
  const int set_count = buffers_.sets();
  result_.timing.plans_per_sample = set_count;

  HONE_RETURN_IF_ERROR(DrawQuad(/*everything=*/true));
  // Each side takes one sample that is not kept, to raise the clocks and fill the instruction cache.
  HONE_RETURN_IF_ERROR(Sample(candidate_, set_count, /*watch_end=*/true).status());
  if (failed()) return result_;
  if (incumbent_ != nullptr) HONE_RETURN_IF_ERROR(Sample(*incumbent_, set_count).status());

  const int looks = options_.max_quads >= kQuadsForManyLooks ? kMeasuredLooks : kFewLooks;
  SequentialTest test(SequentialOptions{.looks = looks, .max_quads = options_.max_quads});
  std::vector<double> candidate_us, incumbent_us, log_ratios;
  std::vector<DeviceCondition> conditions;
  Decision decision = Decision::kContinue;
  double outer = 0, inner = 0;  // sums over quads: log ratio of first to last sample, and of second to third
  for (int quad = 0; quad < options_.max_quads && decision == Decision::kContinue; ++quad) {
    HONE_RETURN_IF_ERROR(DrawQuad(/*everything=*/false));
    const QuadOrder order = SecretQuadOrder(static_cast<uint64_t>(quad), Secret());
    double log_candidate = 0, log_incumbent = 0;
    const int samples = incumbent_ != nullptr ? 4 : 2;
    std::vector<double> quad_candidate, quad_incumbent, logs;
    for (int i = 0; i < samples; ++i) {
      const bool is_candidate = incumbent_ == nullptr || IsCandidate(order, i);
      HONE_ASSIGN_OR_RETURN(double us, Sample(is_candidate ? candidate_ : *incumbent_, set_count));
      if (failed()) return result_;
      if (us <= 0) return Status::Internal("a timed interval was not positive");
      (is_candidate ? quad_candidate : quad_incumbent).push_back(us);
      logs.push_back(std::log(us));
      (is_candidate ? log_candidate : log_incumbent) += std::log(us) / 2;
    }
    HONE_RETURN_IF_ERROR(CheckInputs());
    if (failed()) return result_;
    if (quad % 10 == 0) {
      HONE_ASSIGN_OR_RETURN(DeviceCondition condition, session_.Condition());
      conditions.push_back(condition);
    }
    candidate_us.insert(candidate_us.end(), quad_candidate.begin(), quad_candidate.end());
    incumbent_us.insert(incumbent_us.end(), quad_incumbent.begin(), quad_incumbent.end());
    ++result_.timing.quads;
    if (incumbent_ != nullptr) {
      log_ratios.push_back(log_incumbent - log_candidate);
      outer += logs[0] - logs[3];
      inner += logs[1] - logs[2];
      test.Add(log_ratios.back());
      // Looks before a fifth of the quads are left out, which only makes wrong decisions rarer: judge/escape.h assumes
      // that so many launches are checked before a decision.
      if (test.AtLook() && kFewLooks * test.quads() >= options_.max_quads) {
        decision = test.Look();
        ++result_.timing.looks;
        if (SteadySeconds() - started > options_.budget_seconds) break;
      }
    } else if (SteadySeconds() - started > options_.budget_seconds && quad >= 4) {
      break;
    }
    if (options_.audits && set_count > 1 && Secret() % 8 == 0) {
      HONE_RETURN_IF_ERROR(Audit());
      if (failed()) return result_;
    }
  }

  result_.candidate_us = MedianInterval(candidate_us);
  result_.candidate_slow_share = SlowShare(candidate_us, result_.candidate_us.median);
  if (incumbent_ != nullptr) {
    result_.incumbent_us = MedianInterval(incumbent_us).median;
    result_.incumbent_slow_share = SlowShare(incumbent_us, result_.incumbent_us);
    result_.speedup = RatioInterval(log_ratios);
    const double quads = std::max(1.0, static_cast<double>(log_ratios.size()));
    const double mean = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) / quads;
    double squares = 0;
    for (const double ratio : log_ratios) squares += (ratio - mean) * (ratio - mean);
    result_.quad_deviation = std::sqrt(squares / std::max(1.0, quads - 1));
    result_.first_to_last = outer / quads;
    result_.second_to_third = inner / quads;
    result_.timing.decision = DecisionName(decision);
  }
  result_.timing.status = ClassifyTiming(conditions, log_ratios, decision);
  return result_;
}

}  // namespace

std::vector<TensorView> WatchedOutputs(const Task& task, const CaseBuffers& buffers, const std::vector<int>& sets) {
  std::vector<TensorView> views;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    for (const TensorSpec& tensor : task.tensors) {
      if (IsOutput(tensor)) views.push_back(buffers.set(*set).tensors.at(tensor.name));
    }
  }
  return views;
}

Result<SliceDigests> OutputDigests(DeviceSession& session, const Task& task, CaseBuffers& buffers, int index,
                                   uint64_t digest_key) {
  HONE_ASSIGN_OR_RETURN(std::vector<SliceDigests> one, OutputDigestsOf(session, task, buffers, {index}, digest_key));
  return std::move(one.front());
}

std::vector<int64_t> DifferingSlices(const SliceDigests& output, const SliceDigests& verified,
                                     const std::vector<int64_t>* origins) {
  std::vector<int64_t> differing;
  for (const auto& [tensor, digest] : output) {
    const std::vector<uint64_t>& base = verified.at(tensor);
    HONE_CHECK(origins == nullptr || digest.size() <= origins->size(), "more digests than slices");
    for (size_t slice = 0; slice < digest.size(); ++slice) {
      const int64_t from = origins == nullptr ? static_cast<int64_t>(slice) : (*origins)[slice];
      if (from >= 0 && digest[slice] != base[static_cast<size_t>(from)]) differing.push_back(static_cast<int64_t>(slice));
    }
  }
  if (output.size() > 1) {
    std::sort(differing.begin(), differing.end());
    differing.erase(std::unique(differing.begin(), differing.end()), differing.end());
  }
  return differing;
}

bool EnoughElements(const Task& task, const CaseBuffers& buffers, int64_t slices) {
  return std::all_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    return !IsOutput(tensor) ||
           buffers.shape(tensor.name).elements / std::max<int64_t>(buffers.slices(), 1) * slices >= policy::kLeastRmsElements;
  });
}

std::vector<int64_t> WithEnoughElements(std::vector<int64_t> judged, const Task& task, const CaseBuffers& buffers, uint64_t key) {
  const int64_t slices = buffers.slices();
  int64_t least = policy::kLeastRmsElements;  // elements of a slice
  for (const TensorSpec& tensor : task.tensors) {
    if (IsOutput(tensor)) least = std::min(least, buffers.shape(tensor.name).elements / std::max<int64_t>(slices, 1));
  }
  const int64_t wanted_slices =
      std::min(slices, (policy::kLeastRmsElements + std::max<int64_t>(least, 1) - 1) / std::max<int64_t>(least, 1));
  if (judged.empty() || static_cast<int64_t>(judged.size()) >= wanted_slices) return judged;
  for (const int64_t slice : SecretSubset(slices, wanted_slices, key)) judged.push_back(slice);
  std::sort(judged.begin(), judged.end());
  judged.erase(std::unique(judged.begin(), judged.end()), judged.end());
  return judged;
}

bool CanPermuteSlices(const Task& task, const CaseBuffers& buffers) {
  if (task.slice.empty() || buffers.slices() < 2) return false;
  return std::all_of(task.tensors.begin(), task.tensors.end(),
                     [](const TensorSpec& t) { return !IsOutput(t) || t.slice_axis >= 0; });
}

Result<PairedTiming> TimePaired(DeviceSession& session, const Task& task, CaseBuffers& buffers, OracleChecker& checker,
                                const TimedSide& candidate, const TimedSide* incumbent,
                                const PairedTimerOptions& options) {
  HONE_CHECK(options.bases.size() >= static_cast<size_t>(buffers.sets()), "a buffer set without a verified base");
  return Protocol(session, task, buffers, checker, candidate, incumbent, options).Run();
}

}  // namespace hone
