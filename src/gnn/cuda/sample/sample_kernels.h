// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples neighbors on the GPU, with the same draws as the CPU (sample/draw.h), without synchronising with the host.
//
// In a hop, every row draws its slots and inserts the drawn nodes into a hash table in L2; a node belongs to the lowest
// slot that drew it. Slots that own a node are numbered in order, which gives the CPU's local ids. Then all slots read
// the id of their node. The next hop needs only the numbering, so reading ids may run concurrently with it, and so may
// building the structure by source (source_kernels.h), which the backward pass walks. The table is never cleared:
// entries have tags. All functions enqueue on `stream` and return. Launches are sized for the envelope; kernels stop at
// the sizes in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Begins a batch without inner hops: takes the state's next step and shard, and writes their seeds (local ids 0, 1, …)
// into `nodes`. The batch is invalid if the run is halted or the epoch is over.
cudaError_t EnqueueBeginBatch(const SeedsOnDevice& seeds, RunState* state, BatchHeader* header, int32_t* nodes,
                              cudaStream_t stream);

// Draws hop `hop` into `out`, appends new nodes to `nodes` and counts them. Hop 0 is next to the seeds, and first
// begins the batch as EnqueueBeginBatch does. A batch that does not fit its envelope becomes invalid and sets
// state->halt and *host_halt, which is mapped memory. For fanouts above kNarrowFanout, wide_sample_kernels.h draws.
cudaError_t EnqueueSampleHop(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const NodeTable& table, int hop,
                             const HopOnDevice& out, RunState* state, volatile uint32_t* host_halt, BatchHeader* header,
                             int32_t* nodes, cudaStream_t stream);
// Writes the local ids of the nodes that the slots drew, and, if `out` has a structure by source, the number of slots
// of each source. Must come after the hop, and before another batch uses the table.
cudaError_t EnqueueRelabel(const NodeTable& table, int hop, const HopOnDevice& out, const BatchHeader* header,
                           cudaStream_t stream);
// The number of slots that one thread block numbers (a tile). HopOnDevice::prefix_sum_scratch has one word per tile,
// and one more.
inline constexpr int kNumberingTile = 1024;

}  // namespace hone::gnn::cuda
