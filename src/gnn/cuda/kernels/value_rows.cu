// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements value_rows.h: each thread handles a vector of a row, and unaligned columns one by one.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/value_rows.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

unsigned Blocks(int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

template <typename Rows, typename Out>
__global__ void __launch_bounds__(kBlock) GatherRowsKernel(Rows features, int32_t vectors, int number,
                                                           const BatchHeader* header, const int32_t* nodes, Out* out) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto row = static_cast<int32_t>(at / vectors), vector = static_cast<int32_t>(at % vectors);
  if (row >= RowsAfter(header, number)) return;
  Store8(out + at * 8, Load8(features.At(features.Place(static_cast<uint32_t>(nodes[row]))) + vector * 8));
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kBlock) AddRowsKernel(RowsAdded rows, const BatchHeader* header) {
  const int32_t vectors = rows.width / 8;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto row = static_cast<int32_t>(at / vectors);
  if (row >= rows.padded_rows) return;
  const bool row_exists = row < RowsAfter(header, rows.number);
  if (!row_exists && rows.adds) return;
  Out* to = static_cast<Out*>(rows.to) + at * 8;
  Float8 sum = {};
  if (row_exists) {
    const float factor = rows.eps != nullptr ? 1.0f + *rows.eps : 1.0f;
    const Float8 last = Load8(static_cast<const T*>(rows.also != nullptr ? rows.also : rows.from) + at * 8);
    if (rows.also != nullptr) sum = Load8(static_cast<const T*>(rows.from) + at * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] += factor * last.v[i];
    if (rows.adds) Add8(Load8(to), sum);
  }
  Store8(to, sum);
}

__device__ inline void StoreOne(float* to, float x) { *to = x; }
__device__ inline void StoreOne(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void __launch_bounds__(kBlock) ClearPaddingKernel(int number, const BatchHeader* header, int32_t padded_rows,
                                                             int32_t columns, int32_t vectors, T* rows) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors;
  const auto column = static_cast<int32_t>(at % vectors) * 8;
  if (row >= padded_rows) return;
  if (row >= RowsAfter(header, number)) {
    Store8(rows + at * 8, Float8{});
    return;
  }
  for (int32_t c = max(column, columns); c < column + 8; ++c) StoreOne(rows + at * 8 + (c - column), 0.0f);
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    PutColumnsKernel(ColumnsBeside columns, const BatchHeader* header, const T* narrow, T* wide) {
  const int32_t vectors = (columns.width + 7) / 8;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors;
  const auto column = static_cast<int32_t>(at % vectors) * 8;
  if (row >= RowsAfter(header, columns.number)) return;
  Float8 x = Load8(narrow + row * columns.narrow_stride + column);
  if (columns.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x.v[i] += column + i < columns.width ? columns.bias[column + i] : 0.0f;
  }
  T* to = wide + row * columns.wide_stride + columns.first + column;
  if (columns.first % 8 == 0 && column + 8 <= columns.width) {
    Store8(to, x);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (column + i < columns.width) StoreOne(to + i, x.v[i]);
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    TakeColumnsKernel(ColumnsBeside columns, const BatchHeader* header, const T* wide, bool adds, T* narrow) {
  const auto vectors = static_cast<int32_t>(columns.narrow_stride / 8);
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors;
  const auto column = static_cast<int32_t>(at % vectors) * 8;
  if (row >= columns.padded_rows) return;
  const bool row_exists = row < RowsAfter(header, columns.number);
  if (!row_exists && adds) return;
  Float8 x = {};
  if (row_exists) {
    const T* from = wide + row * columns.wide_stride + columns.first + column;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (column + i < columns.width) x.v[i] = ToFloat(from[i]);
    }
    if (adds) Add8(Load8(narrow + at * 8), x);
  }
  Store8(narrow + at * 8, x);
}

// Calls `with` with a value of the element's type.
template <typename With>
cudaError_t WithElement(Element element, const With& with) {
  return element == Element::kFloat32 ? with(float{}) : with(__nv_bfloat16{});
}

}  // namespace

cudaError_t EnqueueGatherRows(const GraphOnDevice& graph, Element feature_element, int number, int32_t rows,
                              const BatchHeader* header, const int32_t* nodes, Element out_element, void* out,
                              cudaStream_t stream) {
  const auto launch = [&]<typename In>(In) {
    return WithRows<In>(graph, [&]<typename Rows>(const Rows& features) {
      return WithElement(out_element, [&]<typename Out>(Out) {
        return Launch(GatherRowsKernel<Rows, Out>, Blocks(int64_t{rows} * graph.feature_vectors), kBlock, 0, stream,
                      features, graph.feature_vectors, number, header, nodes, static_cast<Out*>(out));
      });
    });
  };
  switch (feature_element) {
    case Element::kFloat32:
      return launch(float{});
    case Element::kFloat16:
      return launch(__half{});
    case Element::kBFloat16:
      return launch(__nv_bfloat16{});
  }
  return cudaErrorInvalidValue;
}

cudaError_t EnqueueClearPadding(int number, const BatchHeader* header, int32_t padded_rows, int32_t columns,
                                int32_t width, Element element, void* rows, cudaStream_t stream) {
  const int32_t vectors = width / 8;
  const unsigned blocks = Blocks(static_cast<int64_t>(padded_rows) * vectors);
  if (element == Element::kFloat32) {
    Launch(ClearPaddingKernel<float>, blocks, kBlock, 0, stream, number, header, padded_rows, columns, vectors,
           static_cast<float*>(rows));
  } else {
    Launch(ClearPaddingKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, number, header, padded_rows, columns, vectors,
           static_cast<__nv_bfloat16*>(rows));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueAddRows(const RowsAdded& rows, Element element, const BatchHeader* header, Element to_element,
                           cudaStream_t stream) {
  const unsigned blocks = Blocks(int64_t{rows.padded_rows} * (rows.width / 8));
  if (element == Element::kFloat32) return Launch(AddRowsKernel<float, float>, blocks, kBlock, 0, stream, rows, header);
  if (to_element == Element::kFloat32) {
    return Launch(AddRowsKernel<__nv_bfloat16, float>, blocks, kBlock, 0, stream, rows, header);
  }
  return Launch(AddRowsKernel<__nv_bfloat16, __nv_bfloat16>, blocks, kBlock, 0, stream, rows, header);
}

cudaError_t EnqueuePutColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                              const void* narrow, void* wide, cudaStream_t stream) {
  return WithElement(element, [&]<typename T>(T) {
    return Launch(PutColumnsKernel<T>, Blocks(int64_t{columns.padded_rows} * ((columns.width + 7) / 8)), kBlock, 0,
                  stream, columns, header, static_cast<const T*>(narrow), static_cast<T*>(wide));
  });
}

cudaError_t EnqueueTakeColumns(const ColumnsBeside& columns, Element element, const BatchHeader* header,
                               const void* wide, bool adds, void* narrow, cudaStream_t stream) {
  return WithElement(element, [&]<typename T>(T) {
    return Launch(TakeColumnsKernel<T>, Blocks(int64_t{columns.padded_rows} * (columns.narrow_stride / 8)), kBlock, 0,
                  stream, columns, header, static_cast<const T*>(wide), adds, static_cast<T*>(narrow));
  });
}

}  // namespace hone::gnn::cuda
