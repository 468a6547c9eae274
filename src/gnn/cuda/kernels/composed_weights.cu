// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements composed_weights.h. The weights have some hundreds of rows and columns, so products are computed by tiles
// in shared memory, a thread for each element.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/composed_weights.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kTile = 16, kBlock = 256;

// Column k of row m of [W | b].
__device__ inline float InnerAt(const ComposedWeights& w, int32_t m, int32_t k) {
  if (k < w.in) return w.inner_weight[m * w.inner_stride + k];
  return k == w.in && w.bias != nullptr ? w.bias[m] : 0.0f;
}

// The three products, as functions of an element's place: Left(i, t) * Right(t, j) is summed over t.
struct Compose {
  ComposedWeights w;
  float* composed;
  __device__ int32_t rows() const { return w.outer; }
  __device__ int32_t columns() const { return w.columns; }
  __device__ int32_t depth() const { return w.middle; }
  __device__ float Left(int32_t i, int32_t t) const { return w.outer_weight[i * w.outer_stride + t]; }
  __device__ float Right(int32_t t, int32_t j) const { return InnerAt(w, t, j); }
  __device__ void Put(int32_t i, int32_t j, float sum) const {
    composed[static_cast<int64_t>(i) * w.columns + j] = sum;
  }
};
struct OuterGradient {
  ComposedWeights w;
  const float* grad_composed;
  float* grad_outer;
  __device__ int32_t rows() const { return w.outer; }
  __device__ int32_t columns() const { return static_cast<int32_t>(w.outer_stride); }
  __device__ int32_t depth() const { return w.in + 1; }
  __device__ float Left(int32_t i, int32_t t) const { return grad_composed[static_cast<int64_t>(i) * w.columns + t]; }
  __device__ float Right(int32_t t, int32_t j) const { return j < w.middle ? InnerAt(w, j, t) : 0.0f; }
  __device__ void Put(int32_t i, int32_t j, float sum) const { grad_outer[i * w.outer_stride + j] = sum; }
};
struct InnerGradient {
  ComposedWeights w;
  const float* grad_composed;
  float *grad_inner, *grad_bias;
  __device__ int32_t rows() const { return w.middle; }
  __device__ int32_t columns() const { return w.in + 1; }
  __device__ int32_t depth() const { return w.outer; }
  __device__ float Left(int32_t i, int32_t t) const { return w.outer_weight[t * w.outer_stride + i]; }
  __device__ float Right(int32_t t, int32_t j) const { return grad_composed[static_cast<int64_t>(t) * w.columns + j]; }
  __device__ void Put(int32_t i, int32_t j, float sum) const {
    if (j < w.in) {
      grad_inner[i * w.inner_stride + j] += sum;
    } else if (grad_bias != nullptr) {
      grad_bias[i] += sum;
    }
  }
};

template <typename Product>
__global__ void __launch_bounds__(kBlock) TileProductKernel(Product product) {
  __shared__ float left_tile[kTile][kTile + 1], right_tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x % kTile), y = static_cast<int>(threadIdx.x / kTile);
  const auto i = static_cast<int32_t>(blockIdx.y) * kTile + y, j = static_cast<int32_t>(blockIdx.x) * kTile + x;
  float sum = 0;
  for (int32_t first = 0; first < product.depth(); first += kTile) {
    left_tile[y][x] = i < product.rows() && first + x < product.depth() ? product.Left(i, first + x) : 0.0f;
    right_tile[y][x] = first + y < product.depth() && j < product.columns() ? product.Right(first + y, j) : 0.0f;
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kTile; ++t) sum += left_tile[y][t] * right_tile[t][x];
    __syncthreads();
  }
  if (i < product.rows() && j < product.columns()) product.Put(i, j, sum);
}

template <typename Product>
cudaError_t LaunchProduct(const Product& product, int64_t rows, int64_t columns, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((columns + kTile - 1) / kTile),
                  static_cast<unsigned>((rows + kTile - 1) / kTile));
  return Launch(TileProductKernel<Product>, grid, kBlock, 0, stream, product);
}

template <typename Rows, typename Out>
__global__ void __launch_bounds__(kBlock)
    GatherRowsAndOneKernel(Rows features, int32_t width, int32_t vectors, int number, const BatchHeader* header,
                           const int32_t* nodes, Out* out) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto row = static_cast<int32_t>(at / vectors), vector = static_cast<int32_t>(at % vectors);
  if (row >= RowsAfter(header, number)) return;
  Float8 x = {};
  if (vector * 8 < width) x = Load8(features.At(features.Place(static_cast<uint32_t>(nodes[row]))) + vector * 8);
  if (vector == width / 8) x.v[width % 8] = 1.0f;
  Store8(out + at * 8, x);
}

}  // namespace

cudaError_t EnqueueComposeWeights(const ComposedWeights& weights, float* composed, cudaStream_t stream) {
  return LaunchProduct(Compose{weights, composed}, weights.outer, weights.columns, stream);
}

cudaError_t EnqueueOuterGradient(const ComposedWeights& weights, const float* grad_composed, float* grad_outer,
                                 cudaStream_t stream) {
  return LaunchProduct(OuterGradient{weights, grad_composed, grad_outer}, weights.outer, weights.outer_stride, stream);
}

cudaError_t EnqueueAddInnerGradient(const ComposedWeights& weights, const float* grad_composed, float* grad_inner,
                                    float* grad_bias, cudaStream_t stream) {
  return LaunchProduct(InnerGradient{weights, grad_composed, grad_inner, grad_bias}, weights.middle, weights.in + 1,
                       stream);
}

cudaError_t EnqueueGatherRowsAndOne(const GraphOnDevice& graph, Element feature_element, int number, int32_t rows,
                                    int32_t width, int32_t columns, const BatchHeader* header, const int32_t* nodes,
                                    Element out_element, void* out, cudaStream_t stream) {
  const int64_t threads = int64_t{rows} * (columns / 8);
  const auto launch = [&]<typename In>(In) {
    return WithRows<In>(graph, [&]<typename Rows>(const Rows& features) {
      const auto blocks = static_cast<unsigned>((threads + kBlock - 1) / kBlock);
      if (out_element == Element::kFloat32) {
        return Launch(GatherRowsAndOneKernel<Rows, float>, blocks, kBlock, 0, stream, features, width, columns / 8,
                      number, header, nodes, static_cast<float*>(out));
      }
      return Launch(GatherRowsAndOneKernel<Rows, __nv_bfloat16>, blocks, kBlock, 0, stream, features, width,
                    columns / 8, number, header, nodes, static_cast<__nv_bfloat16*>(out));
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

}  // namespace hone::gnn::cuda
