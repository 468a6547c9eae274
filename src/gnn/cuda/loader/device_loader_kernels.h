// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the kernels of DeviceLoader (device_loader.h), which convert a sampled batch to the form that frameworks
// take, and gather its rows. All functions enqueue on `stream` and return.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::gnn::cuda {

// Writes sizes [2 * hops + 1]: first the number of nodes known after each hop [hops + 1], then the number of edges
// drawn up to and including each hop [hops].
cudaError_t EnqueueSizes(const int32_t* hop_nodes, const int32_t* row_offsets, int hops, int32_t* sizes,
                         cudaStream_t stream);

// A batch as SampledBlocks leaves it, and the arrays of 64-bit ids to which it is converted. Outputs must not overlap
// inputs.
struct BatchIds {
  const int32_t* nodes;        // [num_nodes]
  const int32_t* row_offsets;  // [num_rows + 1]
  const int32_t* columns;      // [edges]
  const int64_t* places;       // [edges] positions in edge_ids, one per sampled edge
  const int64_t* edge_ids;     // [edges of the whole graph]
  const int64_t* input;        // [num_seeds]
  int64_t num_nodes, num_seeds, num_rows;
  int64_t *out_nodes, *out_input, *out_sources, *out_destinations, *out_edge_ids;
};
cudaError_t EnqueueIds(const BatchIds& batch, cudaStream_t stream);

// Copies the rows `ids` [count] of a table, whose rows begin `stride_bytes` apart, to out [count, row_bytes]. `out` is
// aligned to 16 bytes. The table may have any alignment; it is read fastest if rows begin and end at multiples of 16
// bytes.
cudaError_t EnqueueGatherRows(const void* rows, int64_t row_bytes, int64_t stride_bytes, const int64_t* ids,
                              int64_t count, void* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
