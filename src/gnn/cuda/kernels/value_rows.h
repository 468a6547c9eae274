// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Combines rows of values: gathers features by node, adds one value's rows to another's, and puts columns side by side.
//
// All functions enqueue on `stream`; `element` is fp32 or bf16. Rows are padded to whole vectors of eight, and the
// columns past a value's width are zero. The rows of hop `number` are those of the nodes known after it, by the batch's
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

// The rows of one value, or the sum of two values, that are copied or added to another value of the same width.
struct RowsAdded {
  const void* from = nullptr;
  const void* also = nullptr;  // the second value; null: there is only one
  int number = 0;              // hop whose number of rows `from` has
  const float* eps = nullptr;  // [1], on the device; the rows of `also`, or of `from` if that is null, are multiplied
                               // by 1 + eps; null: by 1
  bool adds = false;           // true: the rows are added to `to`; false: they overwrite it
  void* to = nullptr;          // rows of `to_element`, which is that of `from`, or fp32
  int32_t padded_rows = 0;     // number of rows of `to`; rows that `from` lacks become zero or, if `adds`, stay
  int32_t width = 0;           // a multiple of 8
};
cudaError_t EnqueueAddRows(const RowsAdded& rows, Element element, const BatchHeader* header, Element to_element,
                           cudaStream_t stream);

// Zeroes the padding of rows [padded_rows, width]: whole rows that the batch does not have after hop `number`, and in
// the batch's rows the columns from `columns` on. width is a multiple of 8.
cudaError_t EnqueueClearPadding(int number, const BatchHeader* header, int32_t padded_rows, int32_t columns,
                                int32_t width, Element element, void* rows, cudaStream_t stream);

// Describes a narrow value whose columns are columns `first` to first + width - 1 of a wide value.
struct ColumnsBeside {
  int number = 0;           // hop whose number of rows the values have
  int32_t padded_rows = 0;  // number of rows of the output
  int32_t width = 0;        // true columns
  int32_t first = 0;
  int64_t narrow_stride = 0, wide_stride = 0;  // elements
  const float* bias = nullptr;  // [width], on the device: EnqueuePutColumns adds it to the narrow value; null: none
};
// Copies the narrow value's columns into the wide value, from column `first` on, for the batch's rows; the padding rows
// stay as they are.
cudaError_t EnqueuePutColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                              const void* narrow, void* wide, cudaStream_t stream);
// Copies the columns of the wide value to the narrow value, or adds them if `adds`. The narrow value's other columns
// become zero, and so do its padding rows unless `adds`.
cudaError_t EnqueueTakeColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                               const void* wide, bool adds, void* narrow, cudaStream_t stream);

}  // namespace hone::gnn::cuda
