// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generates the synthetic graphs of graph/synthetic/synthetic_core.h in device memory, with the host generator's bytes.
//
// A thread block handles a class block of the graph, in tiles of consecutive nodes. It draws the nodes' slot counts and
// sums them to offsets; then its threads handle the tile's slots one by one, whatever node a slot belongs to, so that
// all threads share a hub's slots. Functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/element.h"
#include "gnn/graph/synthetic/synthetic_core.h"

namespace hone::gnn::cuda {

// The number of slots before each class block, by level, over the whole graph in block order; [num_blocks + 1] each.
struct SlotStarts {
  const uint64_t* level[3];
};

// Writes slots [3][num_blocks]: the number of slots of each level in each class block. `table` points to device memory.
cudaError_t EnqueueCountSlots(const SyntheticSpec& spec, const DegreeTableView& table, uint64_t* slots,
                              cudaStream_t stream);

// Writes row_offsets [num_nodes + 1] and `owners` of each level: the node of every slot, in the order of SlotStarts.
cudaError_t EnqueueOwners(const SyntheticSpec& spec, const DegreeTableView& table, const SlotStarts& starts,
                          int64_t* row_offsets, int32_t* const owners[3], cudaStream_t stream);

// Writes columns [row_offsets[num_nodes]], from the `owners` that EnqueueOwners has written.
cudaError_t EnqueueColumns(const SyntheticSpec& spec, const DegreeTableView& table, const SlotStarts& starts,
                           const int32_t* const owners[3], int32_t* columns, cudaStream_t stream);

// Writes the rows of nodes first … first + count - 1: [count, stride_bytes], padding zero; stride_bytes is a multiple
// of 64. centroids: scratch of [num_classes, (width + 3) / 4] PhiloxWords.
cudaError_t EnqueueFeatures(const SyntheticSpec& spec, Element element, int64_t stride_bytes, void* centroids,
                            int64_t first, int64_t count, void* rows, cudaStream_t stream);

// Writes labels [num_nodes]; kNoLabel for unlabelled nodes.
cudaError_t EnqueueLabels(const SyntheticSpec& spec, int32_t* labels, cudaStream_t stream);

}  // namespace hone::gnn::cuda
