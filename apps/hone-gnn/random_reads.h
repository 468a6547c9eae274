// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What this machine's memory gives to programs that read at random and do nothing else: the floor under a sampler, and
// what its scaling is held against.
#pragma once

#include <cstdint>
#include <span>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct RandomReads {
  double per_second = 0;      // of all processes together, by the clock
  double per_cpu_second = 0;  // of one process: the median
};

// `processes` (at least 1) children of this process each read `reads` uniformly random elements of `columns`, 64 under
// way at a time, all at once: who is done goes on reading, uncounted, until the last one is, so that none is timed on a
// machine that the others have left. They share the memory of `columns`, huge pages included, and nothing else.
//   columns  not empty
// Blocks; no other thread of this process may hold a lock meanwhile (fork). kResourceExhausted when a child cannot be
// made, kUnavailable when one dies.
Result<RandomReads> ReadAtRandom(std::span<const NodeId> columns, int processes, int64_t reads = int64_t{1} << 24);

}  // namespace hone::gnn
