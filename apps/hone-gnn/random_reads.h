// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ReadAtRandom measures the rate at which this machine's memory serves programs that only read at random: the floor
// under a sampler's time, and the measure of its scaling.
#pragma once

#include <cstdint>
#include <span>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct RandomReads {
  double per_second = 0;      // rate of all processes together, by wall time
  double per_cpu_second = 0;  // median rate of one process, by its processor time
};

// `processes` (at least 1) children of this process each read `reads` uniformly random elements of `columns`, 64 of
// them in flight at a time, all at once. A child that is done goes on reading, uncounted, until the last one is, so
// that none is timed on a machine that the others have left. They share the memory of `columns`, huge pages included,
// and nothing else.
//   columns  not empty
// Blocks; no other thread of this process may hold a lock meanwhile (fork). kResourceExhausted when a child cannot be
// made, kUnavailable when one dies.
// made, kUnavailable when one dies.
Result<RandomReads> ReadAtRandom(std::span<const NodeId> columns, int processes, int64_t reads = int64_t{1} << 24);

}  // namespace hone::gnn
