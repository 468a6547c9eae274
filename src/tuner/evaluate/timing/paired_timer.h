// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times a candidate against an incumbent on one case, checking every timed launch.
//
// The unit is a quad: candidate and incumbent in the order ABBA or BAAB by a secret coin, on the same buffers holding
// the same fresh inputs. Each buffer set has a verified base input of its own, so that no two executions of a sample
// share a slice. Before a quad, every slice of a set's base is put in a secret place and a secret 1/64 of the slices is
// drawn anew. After each sample, the per-slice digests of the output must be the candidate's own verified digests in
// that order, and the oracle judges the new slices. A kernel whose digests differ (atomics, position-dependent
// rounding) is judged by both tolerances, c_max and c_rms, on a secret share of the slices that differ. Where outputs
// are not sliced, a set keeps its base, and its outputs must have the digests of that base; one secretly chosen set has
// inputs never seen before, and is judged whole. docs/measurement.md argues the method.
//
// This file is only the protocol: the DeviceSession takes samples, and SequentialTest decides when to stop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"

namespace hone {

// SliceDigests hold, per output tensor (by name), the digests of its slices.
using SliceDigests = std::map<std::string, std::vector<uint64_t>>;

// A TimedSide is one side of the comparison. `base_digests` are those of the verified output for each base input set,
// in their order, under `digest_key`.
struct TimedSide {
  LoadedProgram* program = nullptr;
  const ResolvedPlan* plan = nullptr;
  std::vector<SliceDigests> base_digests;
  bool trusted = false;  // see SampleRequest
};

struct PairedTimerOptions {
  uint64_t seed = 0;              // secret: coins, permutations, redrawn slices
  uint64_t digest_key = 0;
  std::vector<InputSet> bases;    // the verified base input sets: one at least for each buffer set
  int max_quads = 50;
  int looks = 5;
  double budget_seconds = 2.0;    // no new look is started after this
  double launch_limit_seconds = 10;
  CacheState cache = CacheState::kCold;
  bool require_rms = true;  // c_rms holds as in any launch; tests turn it off to see what it catches
  bool watch_ends = true;   // some samples show whether outputs are still being written when their interval has ended
  bool audits = true;       // checks for graphs that stop early: sets that are not executed must be untouched
};

// A PairedTiming says how a timing ended. `verdict` is kOk when times are valid; otherwise it is the candidate's fault.
struct PairedTiming {
  Verdict verdict = Verdict::kOk;
  std::string detail;
  std::optional<Mismatch> mismatch;
  bool nondeterministic = false;
  Interval candidate_us;
  double incumbent_us = 0;
  Interval speedup;
  TimingDetail timing;
  double max_scaled_error = 0;
  // The shares of samples that took policy::kSlowSample medians of their side: the medians do not show them.
  double candidate_slow_share = 0, incumbent_slow_share = 0;
  // What a quad's own noise is: the standard deviation of the log ratios; and the mean log ratio of the first sample of a
  // quad to the last one, and of the second to the third, which are of one side each: 0 where the place does not matter.
  double quad_deviation = 0, first_to_last = 0, second_to_third = 0;
};

// Times a candidate against an incumbent. With a null `incumbent`, the candidate alone is timed (samples instead of
// quads, no decision). A Status means that the device failed, or (kInvalidArgument) that the incumbent or the oracle
// did.
Result<PairedTiming> TimePaired(DeviceSession& session, const Task& task, CaseBuffers& buffers, OracleChecker& checker,
                                const TimedSide& candidate, const TimedSide* incumbent,
                                const PairedTimerOptions& options);

// Returns the views of every output of these sets, those of the last one first: what ended last is looked at first.
std::vector<TensorView> WatchedOutputs(const Task& task, const CaseBuffers& buffers, const std::vector<int>& sets);
// What a candidate is told whose outputs still changed behind the end of an interval.
inline constexpr char kChangedAfterEnd[] =
    "an output was still being written when the plan's last step had ended: a step that is launched as dependent must wait for "
    "the one before it (cudaGridDependencySynchronize), or all of the plan's work must be over when its last step is";

// Returns digests of every output of set `index` under `digest_key`, by tensor name.
Result<SliceDigests> OutputDigests(DeviceSession& session, const Task& task, CaseBuffers& buffers, int index,
                                   uint64_t digest_key);

// Returns the slices whose digests differ from those of the verified output, ascending. `origins` says where each slice
// of this output lies in the verified one, -1 for nowhere; null means at the same place.
std::vector<int64_t> DifferingSlices(const SliceDigests& output, const SliceDigests& verified,
                                     const std::vector<int64_t>* origins);

// Returns whether each output has policy::kLeastRmsElements elements in so many slices: a mean over fewer does not show
// precision, because they may happen to cancel.
bool EnoughElements(const Task& task, const CaseBuffers& buffers, int64_t slices);

// Returns `judged`, ascending, with further slices that `key` chooses, until each output has policy::kLeastRmsElements
// elements there or all slices are in. An empty list stays empty.
std::vector<int64_t> WithEnoughElements(std::vector<int64_t> judged, const Task& task, const CaseBuffers& buffers, uint64_t key);

// Returns whether all outputs are sliced, so that slices can be moved and judged one by one.
bool Permutable(const Task& task, const CaseBuffers& buffers);

}  // namespace hone
