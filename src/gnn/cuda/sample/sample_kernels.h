// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples neighbors on the GPU, with the same draws as the CPU (sample/draw.h), without a synchronisation.
//
// In a hop, every row draws its slots and inserts the drawn nodes into a hash table in L2; a node belongs to its lowest
// slot. Slots that own a node are numbered in order, which gives the CPU's local ids; then all slots read their node's
// id. The next hop needs only the numbering, so reading ids and building the structure by source (source_kernels.h),
// which the backward pass walks, may run concurrently. The table is never cleared (tags). All functions enqueue on
// `stream` and return; launches are sized for the envelopes, kernels stop at the device's sizes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Begins a batch without inner hops: takes the next step and its number, and writes its seeds (local ids 0, 1, …) into
// `nodes`. The batch is invalid when the run is halted or the epoch is over.
cudaError_t EnqueueBeginBatch(const SeedsOnDevice& seeds, RunState* state, BatchHeader* header, int32_t* nodes,
                              cudaStream_t stream);

// Draws hop `hop` into `out`, appends new nodes to `nodes` and counts them. Hop 0 is next to the seeds and first takes
// the next step as EnqueueBeginBatch does. A batch beyond the envelope becomes invalid and sets state->halt (and
// *host_halt, mapped memory). Above kNarrowFanout neighbors, wide_sample_kernels.h draws.
cudaError_t EnqueueSampleHop(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const NodeTable& table, int hop,
                             const HopOnDevice& out, RunState* state, volatile uint32_t* host_halt, BatchHeader* header,
                             int32_t* nodes, cudaStream_t stream);
// Call after the hop and before the table's next batch: writes the local ids of what the slots drew, and, if `out` has
// a structure by source, the number of slots of each source.
cudaError_t EnqueueRelabel(const NodeTable& table, int hop, const HopOnDevice& out, const BatchHeader* header,
                           cudaStream_t stream);
// Slots that one thread block numbers; HopOnDevice::tile_words has one word per tile.
inline constexpr int kNumberingTile = 1024;

}  // namespace hone::gnn::cuda
