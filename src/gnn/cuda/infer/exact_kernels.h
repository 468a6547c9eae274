// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the kernels of exact inference: those that gather, for a block of nodes, from all neighbors, and those that
// run after the products.
//
// One warp computes a row. A row of more than kPieceNeighbors neighbors is cut into pieces of that many neighbors. Each
// piece has a warp, and the pieces' sums are joined in order, so a node with a million neighbors takes no longer than
// one with a thousand. The cut depends on the row's degree alone, so that a result depends neither on timing nor on how
// rows are blocked.
//
// All functions enqueue on `stream`. Widths are multiples of 8; `element` is fp32 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/element.h"
#include "gnn/ops/elementwise.h"

namespace hone::gnn::cuda {

inline constexpr int64_t kPieceNeighbors = 1024;

// A table with one row per node. Without `ranks` all rows are in device memory, by id. With `ranks` each node has a
// place: rows of places below `on_device` are in device memory, by place, and the others in mapped host memory.
struct RowTable {
  unsigned char* device = nullptr;  // device memory
  unsigned char* host = nullptr;    // mapped host memory, by its device address
  const int32_t* ranks = nullptr;  // [nodes] place of each node; null: all rows are in device memory
  int32_t on_device = 0;           // number of rows in device memory
  bool host_by_id = false;  // true: the host has all rows, by id; false: only those from place `on_device` on, by place
  int64_t stride_bytes = 0;
};

// A block of destinations: row i belongs to node ids[i], or to node first + i if `ids` is null.
struct BlockRows {
  const int64_t* row_offsets = nullptr;
  const int32_t* columns = nullptr;
  const int32_t* ids = nullptr;
  int64_t first = 0;
  int32_t count = 0;
};

// A block's rows of more than kPieceNeighbors neighbors. The arrays' values are indexes in the whole pass.
struct LongRows {
  const int32_t* positions = nullptr;     // [count] each row's index in the pass; minus first_position: in the block
  const int64_t* first_pieces = nullptr;  // [count + 1] number of pieces before the row's
  const int32_t* piece_rows = nullptr;    // [pieces] index of the piece's row in the pass's `positions`
  int64_t first_position = 0;             // index of the block's first row in the pass
  int64_t first_row = 0;                  // index of positions[0] in the pass's `positions`
  int64_t first_piece = 0;                // index of piece_rows[0] in the pass's `piece_rows`
  int32_t count = 0;
  int32_t pieces = 0;
};

enum class Reduction : uint8_t { kMean, kSum, kMax };
struct FullAggregate {
  // Says what the node's own row becomes: a second block of columns, [neighbors | self]; a term, neighbors + own_factor
  // * self; or nothing.
  enum class Self : uint8_t { kBeside, kAdded, kLeftOut };
  Reduction reduction = Reduction::kMean;
  Self self = Self::kBeside;
  float own_factor = 1.0f;
  // [nodes], for kSum: neighbor u of v is multiplied by scales[u] * scales[v] and, with kAdded, v itself by own_factor
  // * scales[v]^2. Null: no scaling.
  const float* scales = nullptr;
  int blocks() const { return self == Self::kBeside ? 2 : 1; }
};

// Writes scales [num_nodes] for graph convolution (AggregateSpec): 1 / sqrt(degree + 1).
cudaError_t EnqueueSymmetricScales(const int64_t* row_offsets, int64_t num_nodes, float* scales, cudaStream_t stream);

// Writes out [rows.count, aggregate.blocks() * width] of `element`, from rows of `in_element`.
//   partials  [long_rows.pieces, width] floats, scratch
cudaError_t EnqueueFullAggregate(const FullAggregate& aggregate, const BlockRows& rows, const LongRows& long_rows,
                                 const RowTable& x, Element in_element, int32_t width, Element element, void* out,
                                 float* partials, cudaStream_t stream);

// Attention by linearity (ops/attention.h): first the scores of each node, then weighted sums of the neighbors' rows.
struct FullAttention {
  int32_t heads = 1;
  float negative_slope = 0.2f;
  const float* folded = nullptr;  // [2 * heads, width]: score weights of a node as a source, then as a destination
};
// Writes scores [num_nodes, 2 * heads].
cudaError_t EnqueueScores(const FullAttention& attention, int64_t num_nodes, const RowTable& x, Element in_element,
                          int32_t width, float* scores, cudaStream_t stream);
// Writes out [rows.count, heads * width]. A node attends to its neighbors other than itself, and once to itself.
//   partials  [long_rows.pieces, heads * (width + 2)] floats, scratch
cudaError_t EnqueueFullAttention(const FullAttention& attention, const BlockRows& rows, const LongRows& long_rows,
                                 const float* scores, const RowTable& x, Element in_element, int32_t width,
                                 Element element, void* out, float* partials, cudaStream_t stream);

// The destination of a block's rows: row i goes to block + i * stride or, if `block` is null, to the table's row of its
// node.
struct RowsOut {
  unsigned char* block = nullptr;
  RowTable table = {};
  int64_t block_stride_bytes = 0;
};

// The arguments of y = activation((x - mean) * scale + shift) + residual_factor * residual + residual_bias; null terms
// are left out.
struct FinishRows {
  const float* mean = nullptr;  // null together with `scale`
  const float* scale = nullptr;
  const float* shift = nullptr;
  Activation activation = Activation::kIdentity;
  const void* residual = nullptr;
  int64_t residual_stride = 0;  // elements
  float residual_factor = 1.0f;
  const float* residual_bias = nullptr;
};
//   x, residual and y  of `element`
//   also               [rows.count, width]: a second copy of the rows; null: none
cudaError_t EnqueueFinishRows(const FinishRows& finish, const BlockRows& rows, Element element, const void* x,
                              int32_t width, const RowsOut& y, void* also, cudaStream_t stream);

// Writes y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with moments over the `columns` of each row
// (ops/layer_norm.h); x and y [rows.count, width], padding of y zero where weight and bias are.
cudaError_t EnqueueNormaliseRows(const BlockRows& rows, Element element, const void* x, int32_t columns, int32_t width,
                                 const float* weight, const float* bias, void* y, cudaStream_t stream);

// The source of a block's rows: row i lies at block + i * block_stride_bytes or, if `block` is null, in the table's row
// of its node.
struct RowsIn {
  const unsigned char* block = nullptr;
  RowTable table = {};
  int64_t block_stride_bytes = 0;
};
// Copies columns 0 … width - 1 of each row, converted to `to_element` (fp32 or bf16; from_element may be fp16 too), and
// zeroes the columns width … fill - 1 of the destination. `from` and `to` may begin at any column of wider rows.
cudaError_t EnqueueCopyColumns(const BlockRows& rows, const RowsIn& from, Element from_element, int32_t width,
                               const RowsOut& to, Element to_element, int32_t fill, cudaStream_t stream);

// Returns a view of a table's columns that begins `bytes` bytes into each row.
inline RowTable ColumnsFrom(RowTable table, int64_t bytes) {
  if (table.device != nullptr) table.device += bytes;
  if (table.host != nullptr) table.host += bytes;
  return table;
}

// Counts how many slots name each node: adds 1 to counts[columns[slot]] for all slots; counts [nodes].
cudaError_t EnqueueCountReaders(const int32_t* columns, int64_t num_edges, uint32_t* counts, cudaStream_t stream);

// Sets the rows of `sums` to x if `fresh`, otherwise adds x to them; x [rows.count, width] fp32, `sums` with fp32 rows.
cudaError_t EnqueueAddToTable(bool fresh, const BlockRows& rows, const float* x, int32_t width, const RowTable& sums,
                              cudaStream_t stream);

// Computes logits [rows.count, classes] without padding, from x + the node's row of `sums` + bias, and the class of the
// largest logit (the lowest class among equals); `sums` and `bias` may be null.
//   x  [rows.count, stride] fp32
cudaError_t EnqueueFinishLogits(const BlockRows& rows, const float* x, int32_t stride, int32_t classes,
                                const RowTable* sums, const float* bias, float* logits, int32_t* predicted,
                                cudaStream_t stream);

}  // namespace hone::gnn::cuda
