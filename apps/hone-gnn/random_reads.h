// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how many random reads per second this machine's memory serves to programs that do nothing else. A sampler
// cannot be faster than this, nor scale better with the number of threads.
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

// Measures with `processes` (at least 1) children of this process that run at the same time. Each reads `reads`
// uniformly random elements of `columns`, with 64 reads in flight. A child that is done goes on reading, uncounted,
// until the last one is done, so that no child is timed on a machine that the others have left. The children share the
// memory of `columns`, huge pages included, and nothing else.
//   columns  not empty
// Blocks; no other thread of this process may hold a lock meanwhile (fork). kResourceExhausted when a child cannot be
// made, kUnavailable when one dies.
Result<RandomReads> ReadAtRandom(std::span<const NodeId> columns, int processes, int64_t reads = int64_t{1} << 24);

}  // namespace hone::gnn
