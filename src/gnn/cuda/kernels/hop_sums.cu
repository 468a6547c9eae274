// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of hop_sums.h for inner hops: a warp a row, 16 or 32 bytes a lane, four rows on their way before the
// first is used. The outermost hop is drawn_sums.cu's.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/hop_sums.h"
#include "gnn/cuda/kernels/symmetric_scales.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kAhead = 4;

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__global__ void DegreesKernel(GraphOnDevice graph, int number, const BatchHeader* header, const int32_t* nodes,
                              float* degrees) {
  const auto row = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= RowsAfter(header, number)) return;
  const int32_t node = nodes[row];
  degrees[row] = static_cast<float>(__ldg(graph.row_offsets + node + 1) - __ldg(graph.row_offsets + node));
}

// Calls take(lane's place in `row`s, its row) for up to 32 rows, one a lane in `index`, `here` of them, in lane order.
template <typename T, typename Take>
__device__ inline void EachRow(const T* rows, int32_t vectors, int32_t vector, bool mine, int32_t index, int32_t here,
                               const Take& take) {
  for (int32_t j = 0; j < here; j += kAhead) {
    RawOf<T> raw[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int32_t row = __shfl_sync(kFullWarp, index, (j + a) % 32);
      if (mine && j + a < here) raw[a] = LoadRaw(rows + (static_cast<int64_t>(row) * vectors + vector) * 8);
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (j + a < here) take(j + a, raw[a]);  // the whole warp, for it may hand numbers round
    }
  }
}

__device__ inline void AddScaled8(float factor, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += factor * x.v[i];
}
__device__ inline void Multiply8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kBlock)
    HopSumKernel(HopSumCall call, HopOnDevice hop, const T* z, const BatchHeader* header, Out* out) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, call.number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = call.width / 8;
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  const bool symmetric = call.kind == HopSum::kSymmetric, maximum = call.kind == HopSum::kMax;
  const float degree = symmetric ? call.degrees[row] : 0.0f;
  const float factor = SumScale(call.kind, degree, count);
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool mine = vector < vectors;
    Float8 sum = {};
    int32_t slots[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int32_t from = 0; from < count; from += 32) {
      const bool has = from + lane < count;
      const int32_t column = has ? columns[from + lane] : 0;
      const float weight = symmetric && has ? SourceScale(call.degrees[column]) : 1.0f;
      EachRow(z, vectors, vector, mine, column, min(32, count - from), [&](int j, const RawOf<T>& raw) {
        const float w = __shfl_sync(kFullWarp, weight, j);
        if (!mine) return;
        const Float8 x = Widen(raw);
        if (!maximum) {
          AddScaled8(w, x, sum);
          return;
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if (slots[i] >= 0 && !(x.v[i] > sum.v[i])) continue;
          sum.v[i] = x.v[i];
          slots[i] = from + j;
        }
      });
    }
    if (!mine) continue;
    const int64_t at = (static_cast<int64_t>(row) * vectors + vector) * 8;
    if (maximum && call.winners != nullptr) {
      auto* won = reinterpret_cast<int4*>(call.winners + at);
      won[0] = make_int4(slots[0], slots[1], slots[2], slots[3]);
      won[1] = make_int4(slots[4], slots[5], slots[6], slots[7]);
    }
    Multiply8(factor, sum);
    if (symmetric) AddScaled8(OwnScale(degree), Load8(z + at), sum);
    Store8(out + at, sum);
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    HopSumBackwardKernel(HopSumCall call, HopOnDevice hop, const T* grad_out, int32_t padded_sources,
                         const BatchHeader* header, T* grad_z) {
  const int32_t rows = RowsAfter(header, call.number), sources = RowsAfter(header, call.number + 1);
  const auto source = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (source >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = call.width / 8;
  T* to = grad_z + static_cast<int64_t>(source) * vectors * 8;
  if (source >= sources) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(to + vector * 8, Float8{});
    return;
  }
  const bool symmetric = call.kind == HopSum::kSymmetric, maximum = call.kind == HopSum::kMax;
  const float degree = symmetric ? call.degrees[source] : 0.0f;
  const float factor = symmetric ? SourceScale(degree) : 1.0f;
  const int32_t begin = hop.first[source], end = hop.end[source];
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool mine = vector < vectors;
    Float8 sum = {};
    for (int32_t from = begin; from < end; from += 32) {
      int32_t row = 0, slot = 0;
      float weight = 0;
      if (from + lane < end) {
        const auto place = static_cast<int32_t>(hop.sorted_slots[from + lane]);
        row = place / hop.fanout;
        slot = place % hop.fanout;
        if (!maximum) weight = SumScale(call.kind, symmetric ? call.degrees[row] : 0.0f, hop.counts[row]);
      }
      EachRow(grad_out, vectors, vector, mine, row, min(32, end - from), [&](int j, const RawOf<T>& raw) {
        const float w = __shfl_sync(kFullWarp, weight, j);
        const int32_t r = __shfl_sync(kFullWarp, row, j), s = __shfl_sync(kFullWarp, slot, j);
        if (!mine) return;
        const Float8 g = Widen(raw);
        if (!maximum) {
          AddScaled8(w, g, sum);
          return;
        }
        const auto* won =
            reinterpret_cast<const int4*>(call.winners + (static_cast<int64_t>(r) * vectors + vector) * 8);
        const int4 low = __ldg(won), high = __ldg(won + 1);
        const int32_t slots[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += slots[i] == s ? g.v[i] : 0.0f;
      });
    }
    if (!mine) continue;
    Multiply8(factor, sum);
    if (symmetric && source < rows) {
      AddScaled8(OwnScale(degree), Load8(grad_out + (static_cast<int64_t>(source) * vectors + vector) * 8), sum);
    }
    Store8(to + vector * 8, sum);
  }
}

}  // namespace

cudaError_t EnqueueDegrees(const GraphOnDevice& graph, int number, int32_t rows, const BatchHeader* header,
                           const int32_t* nodes, float* degrees, cudaStream_t stream) {
  return Launch(DegreesKernel, (rows + kBlock - 1) / kBlock, kBlock, 0, stream, graph, number, header, nodes, degrees);
}

cudaError_t EnqueueHopSum(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* z,
                          const BatchHeader* header, Element out_element, void* out, cudaStream_t stream) {
  const auto launch = [&]<typename T, typename Out>(T, Out) {
    return Launch(HopSumKernel<T, Out>, Blocks(hop.rows), kBlock, 0, stream, call, hop, static_cast<const T*>(z),
                  header, static_cast<Out*>(out));
  };
  if (element == Element::kFloat32) return launch(float{}, float{});
  return out_element == Element::kFloat32 ? launch(__nv_bfloat16{}, float{}) : launch(__nv_bfloat16{}, __nv_bfloat16{});
}

cudaError_t EnqueueHopSumBackward(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* grad_out,
                                  int32_t padded_sources, const BatchHeader* header, void* grad_z,
                                  cudaStream_t stream) {
  const auto launch = [&]<typename T>(T) {
    return Launch(HopSumBackwardKernel<T>, Blocks(padded_sources), kBlock, 0, stream, call, hop,
                  static_cast<const T*>(grad_out), padded_sources, header, static_cast<T*>(grad_z));
  };
  return element == Element::kFloat32 ? launch(float{}) : launch(__nv_bfloat16{});
}

}  // namespace hone::gnn::cuda
