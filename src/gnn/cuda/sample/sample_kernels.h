// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Neighbor sampling on the GPU, draw for draw the CPU's (sample/draw.h), without a synchronisation.
//
// A hop: every row draws its slots and puts the nodes it met into a hash table in L2; a node's lowest slot keeps it;
// slots that keep one are numbered in order, which gives the CPU's local ids; slots then read their node's id. The next
// hop needs the numbers alone, so what the slots do with them may run beside it: reading them, and the structure by
// source (source_kernels.h), which the backward pass walks. The table is never cleared (tags).
// All functions enqueue on `stream` and return; launches are for the envelopes, kernels stop at the device's sizes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// A batch without inner hops: takes the next step, its number, and its seeds (local ids 0, 1, …) into `nodes`. Invalid
// when the run is halted or the epoch is over.
cudaError_t EnqueueBeginBatch(const SeedsOnDevice& seeds, RunState* state, BatchHeader* header, int32_t* nodes,
                              cudaStream_t stream);

// Hop `hop` (0 is next to the seeds, and first takes the next step as EnqueueBeginBatch does): draws into `out`, appends
// to `nodes` and counts them. Past the envelope it sets state->halt (also in *host_halt, mapped memory) and the batch
// becomes invalid. Above kNarrowFanout neighbors: wide_sample_kernels.h draws.
cudaError_t EnqueueSampleHop(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const NodeTable& table, int hop,
                             const HopOnDevice& out, RunState* state, volatile uint32_t* host_halt, BatchHeader* header,
                             int32_t* nodes, cudaStream_t stream);
// After it, and before the table's next batch: the local ids of what the slots drew, and where `out` has a structure by
// source, how many slots each source has.
cudaError_t EnqueueRelabel(const NodeTable& table, int hop, const HopOnDevice& out, const BatchHeader* header,
                           cudaStream_t stream);
// Slots that one block numbers; of HopOnDevice::tile_words.
inline constexpr int kNumberingTile = 1024;

}  // namespace hone::gnn::cuda
