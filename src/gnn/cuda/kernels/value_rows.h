// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of values put together: features by node, one value's rows added to another's, columns side by side.
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

// out [rows of `number`, 8 * graph.feature_vectors]: the feature rows of the batch's nodes; `rows` at most. Rows past
// the batch's are left as they are.
cudaError_t EnqueueGatherRows(const GraphOnDevice& graph, Element feature_element, int number, int32_t rows,
                              const BatchHeader* header, const int32_t* nodes, Element out_element, void* out,
                              cudaStream_t stream);

// Rows of one value, or the sum of two, as part of another of the same width.
struct RowsAdded {
  const void* from = nullptr;
  const void* also = nullptr;  // a second one; null: there is none
  int number = 0;              // the rows of `from` that count
  const float* eps = nullptr;  // on the device: the rows of the second, or of the only one, count 1 + eps; null: 1
  bool adds = false;           // to what is there; otherwise that is overwritten
  void* to = nullptr;          // of `to_element`: that of `from`, or fp32
  int32_t padded_rows = 0;     // of `to`; those that `from` has not are zero, or as they were where `adds`
  int32_t width = 0;           // a multiple of 8
};
cudaError_t EnqueueAddRows(const RowsAdded& rows, Element element, const BatchHeader* header, Element to_element,
                           cudaStream_t stream);

// Columns `first` to first + width - 1 of a wide value are those of a narrow one.
struct ColumnsBeside {
  int number = 0;           // the rows that count
  int32_t padded_rows = 0;  // of what is written
  int32_t width = 0;        // true columns
  int32_t first = 0;
  int64_t narrow_stride = 0, wide_stride = 0;  // elements
};
// wide's columns = narrow's, in the rows that count.
cudaError_t EnqueuePutColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                              const void* narrow, void* wide, cudaStream_t stream);
// narrow's columns = wide's, or += where `adds`; its other columns, and without `adds` its other rows, become zero.
cudaError_t EnqueueTakeColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                               const void* wide, bool adds, void* narrow, cudaStream_t stream);

}  // namespace hone::gnn::cuda
