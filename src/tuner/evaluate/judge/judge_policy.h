// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds every number of the judge that was chosen rather than computed, with its reason and the section of
// docs/measurement.md, docs/precision.md or docs/timing.md that argues it. A change here can change verdicts or times, so
// the document must change as well.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hone/tuner/task.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/shapes/fair_shapes.h"

namespace hone::policy {

// ---- docs/measurement.md, "The shape of a judgment"

// Number of hidden cases that are drawn, at most, to find cases for alternatives of the plan that no other case takes.
// An alternative for one value in a hundred is missed once in 10^8 judgements; a draw costs some microseconds.
inline constexpr int kAimedDraws = 2000;

// The stress distributions. Each check case is tried with the task's own values and with some of these, most often with
// kSpecial, which gives each row another kind of values.
inline constexpr Distribution kStress[] = {Distribution::kSpecial, Distribution::kCancelling, Distribution::kHeavyTailed,
                                           Distribution::kZero,    Distribution::kSorted,     Distribution::kConstant};
// Least number of trials at a timed shape that hold special values, however few trials are asked for.
inline constexpr int kSpecialTrials = 1;

// Returns the limit of one launch of an oracle. An oracle sums in float64 and is written to be right rather than fast,
// so it may take longer than a candidate. The limit follows --launch-limit, so that an oracle that never ends does not
// keep its author waiting for two minutes.
//
// The constants below are the seconds that a watchdog gives each phase for Hone's own work, on top of the candidate's
// launches in it: loading modules, measuring floors, modelling, and the oracle, which may take 120 s by itself.
constexpr double OracleSeconds(double launch_limit_seconds) {
  return std::clamp(12 * launch_limit_seconds, 20.0, 120.0);
}
inline constexpr double kLoadSeconds = 60;
inline constexpr double kFloorSeconds = 30;
inline constexpr double kModelSeconds = 30;
inline constexpr double kCheckSeconds = 125;
inline constexpr double kTimedSeconds = 130;
// A phase of a timed case may take the time limits of this many launches, because the candidate may be launched that
// often between two calls of JudgeProgress. For a modelled case, launches for the comparison are included.
inline constexpr double kTimedLaunches = 4;
inline constexpr double kModelledLaunches = 8;
// A phase of timing may take this many times its budget: the budget is checked only at looks.
inline constexpr double kTimingBudgets = 10;

// ---- docs/measurement.md, "Correct, in two levels"

// An oracle that takes more than kSlowOracleSeconds is slow. Later input sets of the shape are then judged on one slice
// in kSlowOracleShare, chosen secretly, because a verdict must not cost minutes. The first set is always judged whole.
inline constexpr int64_t kSlowOracleShare = 16;
inline constexpr double kSlowOracleSeconds = 0.05;
// All timed launches must give the outputs of the base set, so the base set is judged whole unless the
// oracle takes longer than this.
inline constexpr double kSlowOracleForBaseSeconds = 20 * kSlowOracleSeconds;

// One slice in this many, and at least one, is drawn anew in every quad.
inline constexpr int64_t kRedrawShare = 64;
// If bits of a timed launch's output differ from the verified ones, the oracle judges at most this many of the
// differing slices, chosen secretly.
inline constexpr int64_t kDifferingSlicesJudged = 64;
// Least number of elements that are judged together. The bound c_rms is on a mean, which tells nothing about a few
// elements that happen to cancel; where fewer elements are to be judged, further slices are judged with them.
inline constexpr int64_t kLeastRmsElements = 64;
// Where outputs are not sliced, this many of a sample's buffer sets whose outputs differ from the verified ones are
// judged whole, besides the audited set.
inline constexpr int kDifferingSetsJudged = 2;

// ---- docs/measurement.md, "Beyond the hidden ranges"

// On a GPU, where checks are cheap: the numbers of odd neighbors of timed shapes, of shapes aimed at alternatives that
// no other case took (at most), and of edges of alternatives (at most).
inline constexpr int kOddNeighbors = 3;
inline constexpr int kMostAimedBeyond = 16;
inline constexpr int kMostEdges = 8;
// No shape beyond the hidden ranges is larger than this, so that one takes milliseconds.
inline constexpr ShapeLimits kBeyondLimits{.bytes = int64_t{320} << 20, .flops = 8e9};
// A shape with many slices has this many slices for each multiprocessor, or up to twice as many. That is more than the
// number of blocks of most kernels that loop over slices.
inline constexpr int64_t kManySlices = 8;
// On the simulated GPU, shapes beyond the hidden ranges are fewer and smaller, because an access takes some
// nanoseconds: a shape costs about a tenth of a second. When the simulated GPU judges beside a GPU, they are smaller
// still, so that the GPU does not wait.
inline constexpr ShapeLimits kSimulatedBeyondLimits{.bytes = int64_t{4} << 20, .flops = 1.5e7};
inline constexpr ShapeLimits kBesideAGpuLimits{.bytes = int64_t{1} << 20, .flops = 4e6};
inline constexpr int kSimulatedNeighbors = 1;
inline constexpr int kMostAimedSimulated = 4;
inline constexpr int kMostEdgesSimulated = 1;
inline constexpr int kMostSimulatedLaunches = 12;
// A vast shape has a tensor of more than kVastElements elements, so that signed 32-bit indices overflow. The simulated
// GPU runs a sample of the blocks of one vast shape. Its tensors take at most one part in kVastMemoryShare of the
// device's memory.
inline constexpr int64_t kVastElements = int64_t{1} << 31;
inline constexpr int64_t kVastMemoryShare = 2;
// A vast shape is not simulated where one block would go through more elements of the largest tensor than this.
inline constexpr double kVastBlockElements = 1 << 20;
// Vast shapes are drawn from a stream of secrets of their own, so that later secrets do not depend on them.
inline constexpr uint64_t kVastStream = 0x7a57;
// A modelled device's occupancy() in launches without a time is drawn from a stream of secrets of its own.
inline constexpr uint64_t kOccupancyStream = 0x0cc0;
// A GPU runs a vast shape whole, if the simulated GPU could not run the kernel: of at most kVastFlops operations. At
// most kVastSlices slices of its outputs are compared, with at most kVastComparedElements elements together.
inline constexpr double kVastFlops = 2e12;
inline constexpr int64_t kVastComparedElements = int64_t{1} << 26;
inline constexpr int64_t kVastSlices = 64;
// A shape beyond the hidden ranges takes at most one part in this many of the device's memory, which matters only on
// small devices.
inline constexpr int64_t kBeyondMemoryShare = 16;
// Limit on the launches at shapes beyond the hidden ranges: 0.3 s at 2 ms for a launch and its checks on an H200. The
// limit is a count, so that a verdict does not depend on the machine's speed.
inline constexpr int kMostBeyondLaunches = 150;
// Shapes beyond the hidden ranges are drawn from a stream of secrets of their own, so that later secrets do not depend
// on them.
inline constexpr uint64_t kBeyondStream = 0x0ddba11;

// ---- docs/timing.md, "The sample"

// A launch shorter than this is too short to time alone: up to kMostSets launches go into one graph, each on buffers of
// its own.
inline constexpr double kLongLaunchUs = 200;
inline constexpr int kMostSets = 32;
// The buffers of one graph take at most one part in this many of the free device memory.
inline constexpr int64_t kSetsMemoryShare = 2;
// The rough duration of a launch is the shortest of this many launches.
inline constexpr int kRoughLaunches = 3;
inline constexpr int kCallSamples = 7;  // samples of a plan's library calls alone; their median is reported
// Warm times are taken only of a working set of at most this many times the L2 cache: a larger one is never warm.
inline constexpr int64_t kWarmCaches = 4;
// The buffer sets of a warm sample take at most one part in this many of the L2 cache.
inline constexpr int64_t kWarmCacheShare = 2;

// ---- docs/precision.md, "Looked at again"

// A sample that takes more than kSlowSample times the median is slow. A kernel has a finding if its share of slow
// samples exceeds kSlowShare and twice the incumbent's share: the median alone would hide up to half of the samples.
inline constexpr double kSlowSample = 1.5;
inline constexpr double kSlowShare = 0.05;
// A tolerance whose c_rms is below this refuses TF32, whose error is 2.9e-4 at every length of a sum. The honest peak
// is then float32's own.
inline constexpr double kReducedPrecision = 2.5e-4;

// ---- docs/timing.md, "When to stop"

inline constexpr int kMostQuadsShort = 100;  // limit for kernels so short that a sample holds several launches
inline constexpr int kMostQuadsLong = 50;    // limit for kernels of which a sample holds one launch
inline constexpr int kWarmQuads = 20;        // limit for warm times, which are only reported: no search decides by them

// ---- docs/measurement.md, "What is modelled"

// After a sample of blocks, the oracle computes some of the slices that the blocks wrote: at most kMostSampledSlices,
// with at most kSampledElements elements and kSampledFlops operations together, which take a fifth of a second on one
// core.
inline constexpr int kMostSampledSlices = 64;
inline constexpr double kSampledElements = 2e6;
// If slices are so long that fewer than kFewSlices of them stay within these totals, the oracle computes kFewSlices all
// the same, provided that these stay within kFewSlicesShare times the totals, as rows of four million elements in and out
// do. It does so only after launches on ordinary inputs.
inline constexpr double kFewSlices = 3, kFewSlicesShare = 13;
inline constexpr double kSampledFlops = 3e7;
// If the totals do not allow all written slices, or kMostSampledSlices of them, and outputs are independent along a
// second dimension, the oracle computes up to kMostParts parts instead. A part has kPartSlices slices and kPartIndices
// indices along the second dimension. 16 indices show the rms of a slice well enough: the rms of 16 normal numbers is
// below half of its expectation once in a thousand times.
// Where the sample has written few neighbors of an element, as a kernel does whose blocks each have part of one slice, parts
// are smaller. Then up to kMostSmallParts are computed, with as many slices together as kMostParts have.
inline constexpr int kPartSlices = 8;
inline constexpr int kPartIndices = 16;
inline constexpr size_t kMostParts = 16;
inline constexpr size_t kMostSmallParts = 64;
// Limits on the check case in which independence along a dimension is proven: the proof takes some milliseconds.
inline constexpr int64_t kProofBytes = int64_t{4} << 20;
inline constexpr double kProofFlops = 4e6;
// Secret samples of blocks at a timed shape: on ordinary inputs, on special values, and on one other stress
// distribution. A block of a large matrix product takes 3e7 accesses and more, a third of a second; `least` then limits
// the sample.
inline constexpr SampleSize kSecretSample{.most = 64, .least = 3, .accesses = 1e7, .accesses_at_most = 1e8};
inline constexpr SampleSize kSpecialSample{.most = 32, .least = 1, .accesses = 4e6, .accesses_at_most = 4e6};
inline constexpr SampleSize kStressSample{.most = 16, .least = 1, .accesses = 2e6, .accesses_at_most = 2e6};
inline constexpr SampleSize kVastSample{.most = 24, .least = 2, .accesses = 4e6, .accesses_at_most = 4e6};
// After a sample on stress values or at a vast shape, the oracle does this share of the work that the totals above
// allow.
inline constexpr double kStressShare = 0.5;
// A launch that can be compared only as a whole is also run on stress values if it takes at most this many accesses.
inline constexpr double kWholeStressAccesses = 2e7;
// A launch whose sample of blocks cannot be compared is run whole if it takes at most this many accesses: some seconds.
inline constexpr double kWholeAccesses = 1e8;
// A candidate is refused if at least kLeastBlocksForShares blocks, drawn at random, have run and none wrote kFullShare
// of its share of the outputs (the average over all blocks): elements are then left unwritten. A kernel whose blocks
// share the work unevenly is rarely refused: if a third of its blocks write less than the average, in one verdict of
// 700.
inline constexpr size_t kLeastBlocksForShares = 6;
inline constexpr double kFullShare = 0.999;
// If all blocks of a launch together make more than this many times the accesses that were extrapolated from the timed
// blocks, the modelled time is multiplied by that ratio: expensive blocks were not among the timed ones.
inline constexpr double kSampleMisses = 1.15;
// Library calls of a plan that is compared at a timed shape may take this many operations: about a second on one core.
inline constexpr double kCallFlops = 2e10;
// Blocks drawn at random should together write this share of their part of the outputs. If they write less, other
// blocks do the work, or no block does.
inline constexpr double kLeastWrittenShare = 0.8;
// If a secret sample writes less, this many are drawn in all before a candidate is refused, and their blocks are judged
// together: blocks that share the work unevenly write less by chance.
inline constexpr int kShareSamples = 5;
// If a secret sample of blocks takes more than this many times the modelled time of the fixed sample, the candidate
// spares work in the blocks that are timed.
inline constexpr double kSampleDearer = 1.6;

// A ratio of modelled times (incumbent over candidate) outside these bounds is called a difference. Quads on a GPU can
// distinguish about as small a difference.
inline constexpr double kModelledFaster = 1.005;
inline constexpr double kModelledSlower = 0.995;

}  // namespace hone::policy
