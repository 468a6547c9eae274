// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws more neighbors of a row than a warp has lanes, up to all of them, with the same draws as the CPU
// (sample/draw.h).
//
// Up to kNarrowFanout, sample_kernels.h and the other narrow kernels hold a row's slots in the lanes of a warp. Above
// it, the kernels of this file and of wide_aggregate_kernels.h read slots from memory. For "all neighbors" the fanout
// is the graph's largest degree, because rows have a fixed stride of slots. All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/fanouts.h"

namespace hone::gnn::cuda {

// Draws `fanout` neighbors, any number, of each of the header's hop_nodes[number] nodes, at most `rows`, and writes
//   neighbors [rows * fanout] their global ids in slot order; -1 past a row's count
//   counts    [rows]
cudaError_t EnqueueWideDraw(const GraphOnDevice& graph, int number, int fanout, int32_t rows, int32_t* neighbors,
                            int32_t* counts, const RunState* state, const BatchHeader* header, const int32_t* nodes,
                            cudaStream_t stream);

// Raises *largest to the largest degree of the nodes, if that is larger.
cudaError_t EnqueueLargestDegree(const int64_t* row_offsets, int64_t num_nodes, int32_t* largest_degree,
                                 cudaStream_t stream);

}  // namespace hone::gnn::cuda
