// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of exact inference: what a block of nodes gathers from all of its neighbors, and what is made of the
// products that follow.
//
// A warp takes a row. A row of more than kPieceNeighbors neighbors is cut into pieces of that many, a warp each, whose
// sums are joined in their order: a node with a million neighbors costs no more waiting than one with a thousand. How a
// row is cut depends on its degree alone, so that a result depends neither on timing nor on how rows are blocked.
//
// All functions enqueue on `stream`. Widths are multiples of 8; `element` is fp32 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/element.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

inline constexpr int64_t kPieceNeighbors = 1024;

// Rows of all nodes: in device memory, by id; or, with `ranks`, those of the first `on_device` places there, by their places,
// and the others in the host's, mapped.
struct RowTable {
  unsigned char* device = nullptr;
  unsigned char* host = nullptr;  // as the device sees it
  const int32_t* ranks = nullptr;  // [nodes] the place of each; null: all rows are in device memory
  int32_t on_device = 0;
  bool host_by_id = false;  // the host has all rows, by id; otherwise those from place `on_device` on, by their places
  int64_t stride_bytes = 0;
};

// A block of destinations: row i is node ids[i], or first + i where `ids` is null.
struct BlockRows {
  const int64_t* row_offsets = nullptr;
  const int32_t* columns = nullptr;
  const int32_t* ids = nullptr;
  int64_t first = 0;
  int32_t count = 0;
};

// The block's rows of more than kPieceNeighbors neighbors. Places are those of the whole pass.
struct LongRows {
  const int32_t* positions = nullptr;    // [count] of the row in the pass; in the block: less `first_position`
  const int64_t* first_pieces = nullptr;  // [count + 1] pieces before the row's
  const int32_t* piece_rows = nullptr;    // [pieces] index into `positions`, of the pass
  int64_t first_position = 0;
  int64_t first_row = 0;    // index of positions[0] in the pass
  int64_t first_piece = 0;  // index of piece_rows[0] in the pass
  int32_t count = 0;
  int32_t pieces = 0;
};

enum class Reduction : uint8_t { kMean, kSum, kMax };
struct FullAggregate {
  Reduction reduction = Reduction::kMean;
  bool adds_self = false;   // one block of columns, neighbors + own_factor * self; otherwise [neighbors | self]
  float own_factor = 1.0f;
};

// out [rows.count, width] or [rows.count, 2 * width] of `element`, from rows of `in_element`.
//   partials  [long_rows.pieces, width] floats
cudaError_t EnqueueFullAggregate(const FullAggregate& what, const BlockRows& rows, const LongRows& long_rows,
                                 const RowTable& x, Element in_element, int32_t width, Element element, void* out,
                                 float* partials, cudaStream_t stream);

// Attention by linearity (ops/attention.h): first each node's scores, then weighted sums of its neighbors' rows.
struct FullAttention {
  int32_t heads = 1;
  float negative_slope = 0.2f;
  const float* folded = nullptr;  // [2 * heads, width]: what a node gives as a source, then as a destination
};
// scores [num_nodes, 2 * heads]
cudaError_t EnqueueScores(const FullAttention& what, int64_t num_nodes, const RowTable& x, Element in_element,
                          int32_t width, float* scores, cudaStream_t stream);
// out [rows.count, heads * width]. A node attends to its neighbors other than itself, and once to itself.
//   partials  [long_rows.pieces, heads * (width + 2)] floats
cudaError_t EnqueueFullAttention(const FullAttention& what, const BlockRows& rows, const LongRows& long_rows,
                                 const float* scores, const RowTable& x, Element in_element, int32_t width,
                                 Element element, void* out, float* partials, cudaStream_t stream);

// Where rows go: row i of the block to block + i * stride, or, without `block`, to the table at the row's node.
struct RowsOut {
  unsigned char* block = nullptr;
  RowTable table;
  int64_t block_stride_bytes = 0;
};

// y = activation((x - mean) * scale + shift) + residual + residual_bias, each where it is not null.
struct FinishRows {
  const float* mean = nullptr;   // with scale
  const float* scale = nullptr;
  const float* shift = nullptr;
  Activation activation = Activation::kIdentity;
  const void* residual = nullptr;
  int64_t residual_stride = 0;  // elements
  const float* residual_bias = nullptr;
};
//   x, residual and y of `element`; also [rows.count, width], the same rows once more, where it is not null
cudaError_t EnqueueFinishRows(const FinishRows& what, const BlockRows& rows, Element element, const void* x,
                              int32_t width, const RowsOut& y, void* also, cudaStream_t stream);

// counts[columns[slot]] += 1 for all slots; counts [nodes].
cudaError_t EnqueueCountReaders(const int32_t* columns, int64_t num_edges, uint32_t* counts, cudaStream_t stream);

// sums[node] = x (`fresh`) or += x; x [rows.count, width] fp32, `sums` of fp32 rows.
cudaError_t EnqueueAddToTable(bool fresh, const BlockRows& rows, const float* x, int32_t width, const RowTable& sums,
                              cudaStream_t stream);

// logits [rows.count, classes] without padding and the class of the largest, the first of equals, from x + the node's
// row of `sums` (where there is one) + bias (where there is one).
//   x  [rows.count, stride] fp32
cudaError_t EnqueueFinishLogits(const BlockRows& rows, const float* x, int32_t stride, int32_t classes,
                                const RowTable* sums, const float* bias, float* logits, int32_t* predicted,
                                cudaStream_t stream);

}  // namespace hone::gnn::cuda
