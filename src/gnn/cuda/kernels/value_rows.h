// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Combines rows of values: features by node, one value's rows added to another's, columns side by side.
//
// All functions enqueue on `stream`; `element` is fp32 or bf16. Rows are padded to whole vectors of eight, and the
// columns past a value's width are zero. "The rows" of a hop's number are the nodes known after it, by the batch's
// header.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// Writes out [rows of `number`, 8 * graph.feature_vectors]: the feature rows of the batch's nodes, at most `rows`. Rows
// past the batch's are left unchanged.
cudaError_t EnqueueGatherRows(const GraphOnDevice& graph, Element feature_element, int number, int32_t rows,
                              const BatchHeader* header, const int32_t* nodes, Element out_element, void* out,
                              cudaStream_t stream);

// Rows of one value, or the sum of two, that are copied or added to another value of the same width.
struct RowsAdded {
  const void* from = nullptr;
  const void* also = nullptr;  // the second value; null: there is only one
  int number = 0;              // hop whose rows of `from` count
  const float* eps = nullptr;  // device address; rows of the second, or of the only value, are multiplied by 1 + eps;
                               // null: by 1
  bool adds = false;           // adds to `to`; otherwise overwrites
  void* to = nullptr;          // rows of `to_element`, which is that of `from`, or fp32
  int32_t padded_rows = 0;     // number of rows of `to`; rows that `from` lacks become zero or, if `adds`, stay
  int32_t width = 0;           // a multiple of 8
};
cudaError_t EnqueueAddRows(const RowsAdded& rows, Element element, const BatchHeader* header, Element to_element,
                           cudaStream_t stream);

// Zeroes rows of [padded_rows, width] that the batch does not have after hop `number`, and of the others the columns
// from `columns` on; width is a multiple of 8.
cudaError_t EnqueueClearPadding(int number, const BatchHeader* header, int32_t padded_rows, int32_t columns,
                                int32_t width, Element element, void* rows, cudaStream_t stream);

// Maps columns `first` to first + width - 1 of a wide value to a narrow value.
struct ColumnsBeside {
  int number = 0;           // hop whose rows count
  int32_t padded_rows = 0;  // number of rows of the output
  int32_t width = 0;        // true columns
  int32_t first = 0;
  int64_t narrow_stride = 0, wide_stride = 0;  // elements
};
// Copies narrow's columns into wide's columns from `first` on, in the batch's true rows; padding stays as it is.
cudaError_t EnqueuePutColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                              const void* narrow, void* wide, cudaStream_t stream);
// Copies wide's columns to narrow, or adds them if `adds`; narrow's other columns, and without `adds` its other rows,
// become zero.
cudaError_t EnqueueTakeColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                               const void* wide, bool adds, void* narrow, cudaStream_t stream);

}  // namespace hone::gnn::cuda
