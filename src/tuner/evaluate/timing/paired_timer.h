// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The paired timer times a candidate against an incumbent on one case and checks every timed launch.
//
// The unit is a quad: four samples of candidate (A) and incumbent (B) in the order ABBA or BAAB, by a secret coin, on
// the same buffers with the same fresh inputs. Each buffer set has a verified base input of its own, so that no two
// executions of a sample share a slice.
//
// If outputs are sliced, the slices of each set's base are moved to secret places before a quad, and a secret 1/64 of
// them is drawn anew. After each sample, the digests of the output's slices must equal the digests of the slices of the
// verified output from which they were moved, and the oracle judges the new slices of one secretly chosen set. A kernel
// whose digests differ (atomics, position-dependent rounding) is judged by both tolerances, c_max and c_rms, on a
// secret share of the slices that differ.
//
// If outputs are not sliced, a set keeps its base, and its outputs must have the digests of the verified ones. One
// secretly chosen set has inputs never seen before, and the oracle judges its outputs whole. docs/measurement.md argues
// the method.
//
// This file implements only the protocol: the DeviceSession takes samples, and SequentialTest decides when to stop.
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

// SliceDigests hold, for each output tensor by name, the digests of its slices.
using SliceDigests = std::map<std::string, std::vector<uint64_t>>;

// A TimedSide is one side of the comparison, candidate or incumbent.
struct TimedSide {
  LoadedProgram* program = nullptr;
  const ResolvedPlan* plan = nullptr;
  // For each of PairedTimerOptions::bases, the digests of this side's verified output, under `digest_key`.
  std::vector<SliceDigests> base_digests;
  bool trusted = false;  // see SampleRequest
};

struct PairedTimerOptions {
  uint64_t seed = 0;            // secret from which coins, permutations and redrawn slices follow
  uint64_t digest_key = 0;      // secret key of all digests
  std::vector<InputSet> bases;  // the verified base input sets: at least one for each buffer set
  int max_quads = 50;
  double budget_seconds = 2.0;  // the timing ends at the first look after this time
  double launch_limit_seconds = 10;
  CacheState cache = CacheState::kCold;
  bool require_rms = true;  // outputs must meet c_rms as well as c_max; tests turn it off to see what it catches
  bool watch_ends = true;   // some samples are checked for outputs that still change after the end of their interval
  bool audits = true;       // some extra samples execute only some sets; the outputs of other sets must not change
};

// A PairedTiming is the result of a timing.
struct PairedTiming {
  Verdict verdict = Verdict::kOk;  // kOk: the times are valid; otherwise the candidate's fault
  std::string detail;
  std::optional<Mismatch> mismatch;
  bool nondeterministic = false;  // the candidate gave outputs of different bits for the same inputs
  Interval candidate_us;
  double incumbent_us = 0;
  Interval speedup;
  TimingDetail timing;
  double max_scaled_error = 0;
  // For each side, the share of samples that took more than policy::kSlowSample times the side's median.
  double candidate_slow_share = 0, incumbent_slow_share = 0;
  double quad_deviation = 0;  // standard deviation of the quads' log ratios
  // Mean log ratio of a quad's first sample to its last one, and of its second to its third. Each pair is of one side,
  // so the means are about 0 if a sample's place in the quad does not matter.
  double first_to_last = 0, second_to_third = 0;
};

// Times a candidate against an incumbent. With a null `incumbent`, the candidate alone is timed (samples instead of
// quads, no decision). A Status means that the device failed, or (kInvalidArgument) that the incumbent or the oracle
// did.
Result<PairedTiming> TimePaired(DeviceSession& session, const Task& task, CaseBuffers& buffers, OracleChecker& checker,
                                const TimedSide& candidate, const TimedSide* incumbent,
                                const PairedTimerOptions& options);

// Returns the views of every output of `sets`, in reverse order of the sets, so that the outputs that were written last
// come first.
std::vector<TensorView> WatchedOutputs(const Task& task, const CaseBuffers& buffers, const std::vector<int>& sets);
// The message for a candidate whose outputs still changed after the end of a timed interval.
inline constexpr char kChangedAfterEnd[] =
    "an output was still being written when the plan's last step had ended: a step that is launched as dependent must wait for "
    "the one before it (cudaGridDependencySynchronize), or all of the plan's work must be over when its last step is";

// Returns digests of every output of set `index` under `digest_key`, by tensor name.
Result<SliceDigests> OutputDigests(DeviceSession& session, const Task& task, CaseBuffers& buffers, int index,
                                   uint64_t digest_key);

// Returns the slices whose digests differ from those of the verified output, ascending. `origins` gives the place of
// each slice in the verified output; -1: the slice is new and is not compared. Null: all slices are at the same place.
std::vector<int64_t> DifferingSlices(const SliceDigests& output, const SliceDigests& verified,
                                     const std::vector<int64_t>* origins);

// Returns whether `slices` slices of each output have policy::kLeastRmsElements elements together. A mean over fewer
// elements does not show precision, because they may happen to cancel.
bool EnoughElements(const Task& task, const CaseBuffers& buffers, int64_t slices);

// Returns the slices `judged` and further ones that `key` chooses, ascending, so that each output has at least
// policy::kLeastRmsElements elements in them, or all slices are returned. An empty list stays empty.
std::vector<int64_t> WithEnoughElements(std::vector<int64_t> judged, const Task& task, const CaseBuffers& buffers, uint64_t key);

// Returns whether all outputs are sliced, so that slices can be moved and judged one by one.
bool CanPermuteSlices(const Task& task, const CaseBuffers& buffers);

}  // namespace hone
