// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds every number that the judge's authors chose rather than computed, with its reason and the section of
// docs/measurement.md that argues it. A change here can change verdicts or times, so the document must change as well.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hone/tuner/task.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/shapes/fair_shapes.h"

namespace hone::policy {

// ---- docs/measurement.md, "The shape of a judgement"

// Up to this many hidden cases are drawn to find some that take alternatives of the plan which no case takes. An
// alternative for one value in a hundred is missed once in 10^8 judgements; a draw costs some microseconds.
inline constexpr int kAimedDraws = 2000;

// Each check case meets the task's own values and some of these; kSpecial, which has a kind for each row, most often.
inline constexpr Distribution kStress[] = {Distribution::kSpecial, Distribution::kCancelling, Distribution::kHeavyTailed,
                                           Distribution::kZero,    Distribution::kSorted,     Distribution::kConstant};
// At least this many of the trials at a timed shape hold special values, however few trials are asked for.
inline constexpr int kSpecialTrials = 1;

// A watchdog gives a phase this long on top of the candidate's launches in it, for Hone's own work: loading modules,
// the floor kernels, and the oracle, which may take 120 s by itself (OracleSeconds).
//
// An oracle sums in float64 and is written to be right, so it has longer than a candidate; but where --launch-limit is
// short, an oracle that never ends must not keep its author waiting for two minutes.
constexpr double OracleSeconds(double launch_limit_seconds) {
  return std::clamp(12 * launch_limit_seconds, 20.0, 120.0);
}
inline constexpr double kLoadSeconds = 60;
inline constexpr double kFloorSeconds = 30;
inline constexpr double kModelSeconds = 30;
inline constexpr double kCheckSeconds = 125;
inline constexpr double kTimedSeconds = 130;
// A timed case launches the candidate this often between two announcements; a modelled launch counts this often, those
// of the comparison included.
inline constexpr double kTimedLaunches = 4;
inline constexpr double kModelledLaunches = 8;
// A timing that began before its budget was spent may take this many budgets in all.
inline constexpr double kTimingBudgets = 10;

// ---- docs/measurement.md, "Correct, in two levels"

// Where the oracle is slow, later input sets of a large shape are judged on one slice in this many, chosen secretly: a
// verdict must not cost minutes. The first set is always judged whole.
inline constexpr int64_t kSlowOracleShare = 16;
inline constexpr double kSlowOracleSeconds = 0.05;
// The base set is launched against again and again, so it is judged whole even where the oracle is rather slow.
inline constexpr double kSlowOracleForBaseSeconds = 20 * kSlowOracleSeconds;

// One slice in this many, and one at least, is drawn anew in every quad.
inline constexpr int64_t kRedrawShare = 64;
// At most this many of a timed launch's slices whose bits differ from the verified ones are judged, chosen secretly.
inline constexpr int64_t kDifferingSlicesJudged = 64;
// c_rms is a mean, so it means nothing for a few elements that happen to cancel. Where fewer elements than this are to
// be judged, other slices join.
inline constexpr int64_t kLeastRmsElements = 64;
// Where outputs are not sliced, this many of the differing sets of a sample are judged whole beside the audited one.
inline constexpr int kDifferingSetsJudged = 2;

// ---- docs/measurement.md, "Beyond the hidden ranges"

// Checks are cheap on a GPU, so these are the numbers of odd neighbors of timed shapes, of shapes for alternatives that
// nothing before them took, and of edges of alternatives.
inline constexpr int kOddNeighbors = 3;
inline constexpr int kMostAimedBeyond = 16;
inline constexpr int kMostEdges = 8;
// No shape beyond the hidden ranges is larger than this, so that one takes milliseconds.
inline constexpr ShapeLimits kBeyondLimits{.bytes = int64_t{320} << 20, .flops = 8e9};
// A shape with many slices has so many for each multiprocessor, or up to twice as many: more than most kernels that loop
// over slices have blocks.
inline constexpr int64_t kManySlices = 8;
// The simulated GPU takes some nanoseconds for an access, so that its shapes beyond the hidden ranges are fewer and
// smaller: about a tenth of a second each. Beside a GPU they are smaller still, for that GPU must not wait.
inline constexpr ShapeLimits kSimulatedBeyondLimits{.bytes = int64_t{4} << 20, .flops = 1.5e7};
inline constexpr ShapeLimits kBesideAGpuLimits{.bytes = int64_t{1} << 20, .flops = 4e6};
inline constexpr int kSimulatedNeighbors = 1;
inline constexpr int kMostAimedSimulated = 4;
inline constexpr int kMostEdgesSimulated = 1;
inline constexpr int kMostSimulatedLaunches = 12;
// One shape has a tensor of more elements than 32 bits with a sign count, on the simulated GPU, which runs a sample of its
// blocks. It takes this much of the device's memory at most.
inline constexpr int64_t kVastElements = int64_t{1} << 31;
inline constexpr int64_t kVastMemoryShare = 2;
// Where a block has more elements of the largest tensor than this to go through, such a shape is not tried.
inline constexpr double kVastBlockElements = 1 << 20;
inline constexpr uint64_t kVastStream = 0x7a57;
// A GPU runs such a shape whole, where the simulated one could not run the kernel: so much work at most, and as many slices are
// compared as have so many elements together.
inline constexpr double kVastFlops = 2e12;
inline constexpr int64_t kVastComparedElements = int64_t{1} << 26;
inline constexpr int64_t kVastSlices = 64;
// On a small device no shape beyond the hidden ranges takes more than one part in this many of its memory.
inline constexpr int64_t kBeyondMemoryShare = 16;
// This many launches are made beyond the hidden ranges in all: 0.3 s at 2 ms for a launch and its checks on an H200.
// The limit is a count, so that a verdict does not depend on the machine's speed.
inline constexpr int kMostBeyondLaunches = 150;
// Shapes beyond the hidden ranges are drawn from a stream of their own, so that later secrets do not depend on them.
inline constexpr uint64_t kBeyondStream = 0x0ddba11;

// ---- docs/measurement.md, "The sample"

// A launch shorter than this is too short to time alone: several go into one graph, over disjoint buffers.
inline constexpr double kLongLaunchUs = 200;
inline constexpr int kMostSets = 32;
// The buffers of one graph take at most one part in this many of the free device memory.
inline constexpr int64_t kSetsMemoryShare = 2;
// The shortest of this many launches gives the rough duration of one.
inline constexpr int kRoughLaunches = 3;
inline constexpr int kCallSamples = 7;  // a plan's library calls are timed alone this often; the median counts
// A working set larger than this many L2 caches has no meaningful warm state.
inline constexpr int64_t kWarmCaches = 4;
// A warm sample holds as many executions as one part in this many of L2 has room for.
inline constexpr int64_t kWarmCacheShare = 2;

// ---- docs/measurement.md, "Looked at again"

// A sample that takes this many medians is slow. A kernel with more slow samples than this share of its own, and more
// than twice the incumbent's share, has a finding: a median hides up to half.
inline constexpr double kSlowSample = 1.5;
inline constexpr double kSlowShare = 0.05;
// A budget whose c_rms is below this refuses TF32 (2.9e-4 at every length), so that only float32's own rate is honest.
inline constexpr double kReducedPrecision = 2.5e-4;

// ---- docs/measurement.md, "When to stop"

inline constexpr int kMostQuadsShort = 100;  // of kernels that are timed several to a sample
inline constexpr int kMostQuadsLong = 50;
inline constexpr int kWarmQuads = 20;  // warm times describe; no search decides by them

// ---- docs/measurement.md, "What is modelled"

// After a sample of blocks the oracle computes as many of the slices that were written as stay within these totals of
// elements and operations, and at most this many: a fifth of a second on one core.
inline constexpr int kMostSampledSlices = 64;
inline constexpr double kSampledElements = 2e6;
// Where fewer than kFewSlices slices stay within these totals, kFewSlices are computed all the same after a launch on
// ordinary inputs, provided that they stay within kFewSlicesShare times the totals.
inline constexpr double kFewSlices = 3, kFewSlicesShare = 10;
inline constexpr double kSampledFlops = 3e7;
// Where that is fewer slices than that, and outputs are independent along a second dimension, it computes parts instead:
// so many slices, times so many indices along that dimension. So many indices show the rms of a slice well enough:
// that of 16 normal numbers is below half of its expectation once in a thousand times.
inline constexpr int kPartSlices = 8;
inline constexpr int kPartIndices = 16;
inline constexpr int kMostParts = 16;
// Independence along a dimension is proven in a check case of at most this size, in some milliseconds.
inline constexpr int64_t kProofBytes = int64_t{4} << 20;
inline constexpr double kProofFlops = 4e6;
// Secret samples of blocks at a timed shape: on ordinary inputs, on special values, and on one other kind of stress
// values. A block of a large product takes 3e7 accesses and more, a third of a second; there the least numbers hold.
inline constexpr SampleSize kSecretSample{.most = 64, .least = 3, .accesses = 1e7, .accesses_at_most = 1e8};
inline constexpr SampleSize kSpecialSample{.most = 32, .least = 1, .accesses = 4e6, .accesses_at_most = 4e6};
inline constexpr SampleSize kStressSample{.most = 16, .least = 1, .accesses = 2e6, .accesses_at_most = 2e6};
inline constexpr SampleSize kVastSample{.most = 24, .least = 2, .accesses = 4e6, .accesses_at_most = 4e6};
// The oracle does this share of its usual work after a sample on stress values, or at a vast shape.
inline constexpr double kStressShare = 0.5;
// A launch that can be compared only as a whole is run on special values too where it takes at most this many accesses.
inline constexpr double kWholeStressAccesses = 2e7;
// A launch of at most this many observed accesses is run whole where a sample of it cannot be compared: some seconds.
inline constexpr double kWholeAccesses = 1e8;
// Where none of so many blocks, drawn at random, wrote its share of the outputs, nobody writes the rest. Blocks that share
// the work unevenly are not so unlucky: where a third of them write less than the average, one in 700 verdicts would be.
inline constexpr size_t kLeastBlocksForShares = 6;
inline constexpr double kFullShare = 0.999;
// Where all blocks of a launch make this many times the accesses that its timed blocks stand for, the modelled time grows by as
// much: its blocks differ, and the dear ones were not among the timed.
inline constexpr double kSampleMisses = 1.15;
// Library calls in a launch that is compared at a timed shape may take this many operations: about a second of a core.
inline constexpr double kCallFlops = 2e10;
// Where blocks drawn at random write less than this share of their part of the outputs, other blocks do the work or
// none do.
inline constexpr double kLeastWrittenShare = 0.8;
// A secret sample of blocks that costs this much more than the fixed sample shows that the candidate spared work in the
// fixed one.
inline constexpr double kSampleDearer = 1.6;

// Ratios of modelled times outside these bounds are called a difference; quads on a GPU can distinguish about as much.
inline constexpr double kModelledFaster = 1.005;
inline constexpr double kModelledSlower = 0.995;

}  // namespace hone::policy
