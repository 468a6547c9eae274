// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of hop_sums.h for inner hops: a warp a row, 16 or 32 bytes a lane, several rows on their way before the
// first is used. The outermost hop is drawn_sums.cu's.
#include <type_traits>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/hop_sums.h"
#include "gnn/cuda/kernels/symmetric_scales.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
template <typename T>
constexpr int kAhead = sizeof(T) == 2 ? 8 : 4;  // rows on their way

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__global__ void DegreesKernel(GraphOnDevice graph, int number, const BatchHeader* header, const int32_t* nodes,
                              float* degrees) {
  const auto row = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= RowsAfter(header, number)) return;
  const int32_t node = nodes[row];
  degrees[row] = static_cast<float>(__ldg(graph.row_offsets + node + 1) - __ldg(graph.row_offsets + node));
}

// Calls take(j, raw, bits) for the rows of up to 32 lanes, `here` of them, in the order of the lanes: this lane's
// vector of the row that lane j has in `index`, and the byte of `kept` that goes with it.
template <typename T, typename Take>
__device__ inline void EachRow(const T* rows, const uint8_t* kept, int32_t vectors, int32_t vector, bool mine,
                               int32_t index, int32_t here, const Take& take) {
  for (int32_t j = 0; j < here; j += kAhead<T>) {
    RawOf<T> raw[kAhead<T>];
    uint32_t bits[kAhead<T>] = {};
#pragma unroll
    for (int a = 0; a < kAhead<T>; ++a) {
      const int32_t row = __shfl_sync(kFullWarp, index, (j + a) % 32);
      if (!mine || j + a >= here) continue;
      const int64_t at = static_cast<int64_t>(row) * vectors + vector;
      raw[a] = LoadRaw(rows + at * 8);
      bits[a] = kept != nullptr ? kept[at] : 0xffu;
    }
#pragma unroll
    for (int a = 0; a < kAhead<T>; ++a) {
      if (j + a < here) take(j + a, raw[a], bits[a]);  // the whole warp, for it may hand numbers round
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

// Vector `at` of the rows as it is read; `kept`: its byte.
__device__ inline void ReadThrough8(const HopRowsThrough& through, const Float8& bias, uint32_t kept, int64_t at,
                                    Float8& x) {
  uint32_t mark = kept << 8;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float biased = x.v[i] + bias.v[i];
    if (biased > 0.0f) mark |= 1u << i;
    x.v[i] = (kept >> i & 1u) != 0 ? through.scale * Activated(through.activation, biased) : 0.0f;
  }
  if (through.marks != nullptr) through.marks[at] = static_cast<RowMark>(mark);
}
// And the gradient of what was read so, back.
template <typename T>
__device__ inline void BackThrough8(const HopRowsThrough& through, int64_t at, int32_t vector, Float8& grad) {
  if (through.marks != nullptr) {
    ApplyMark8(through.activation, through.scale, through.marks[at], grad);
    return;
  }
  const uint32_t kept = through.kept != nullptr ? through.kept[at] : 0xffu;
#pragma unroll
  for (int i = 0; i < 8; ++i) grad.v[i] = (kept >> i & 1u) != 0 ? through.scale * grad.v[i] : 0.0f;
  ActivationSlope8(through.activation, through.bias, vector, Load8(static_cast<const T*>(through.rows) + at * 8), grad);
}

template <typename T, typename Out, bool kMaximum, bool kThrough>
__global__ void __launch_bounds__(kBlock)
    HopSumKernel(HopSumCall call, HopOnDevice hop, const T* z, const BatchHeader* header, Out* out) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, call.number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = call.width / 8;
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  const bool symmetric = !kMaximum && call.kind == HopSum::kSymmetric;
  const float degree = symmetric ? call.degrees[row] : 0.0f;
  const uint8_t* kept = kThrough ? call.through.kept : nullptr;
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool mine = vector < vectors;
    const bool biased = kThrough && mine && call.through.bias != nullptr;
    const Float8 bias = biased ? Load8(call.through.bias + vector * 8) : Float8{};
    Float8 sum = {};
    int32_t slots[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int32_t from = 0; from < count; from += 32) {
      const bool has = from + lane < count;
      const int32_t column = has ? columns[from + lane] : 0;
      const float weight = symmetric && has ? SourceScale(call.degrees[column]) : 1.0f;
      EachRow(z, kept, vectors, vector, mine, column, min(32, count - from),
              [&](int j, const RawOf<T>& raw, uint32_t bits) {
                const float w = __shfl_sync(kFullWarp, weight, j);
                const int32_t source = __shfl_sync(kFullWarp, column, j);
                if (!mine) return;
                Float8 x = Widen(raw);
                if (kThrough) {
                  ReadThrough8(call.through, bias, bits, static_cast<int64_t>(source) * vectors + vector, x);
                }
                if (!kMaximum) {
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
    const int64_t at = static_cast<int64_t>(row) * vectors + vector;
    if (kMaximum && call.winners != nullptr) {
      auto* won = reinterpret_cast<int4*>(call.winners + at * 8);
      won[0] = make_int4(slots[0], slots[1], slots[2], slots[3]);
      won[1] = make_int4(slots[4], slots[5], slots[6], slots[7]);
    }
    if (!kMaximum) Multiply8(SumScale(call.kind, degree, count), sum);
    if (symmetric) {
      Float8 own = Load8(z + at * 8);
      if (kThrough) ReadThrough8(call.through, bias, kept != nullptr ? kept[at] : 0xffu, at, own);
      AddScaled8(OwnScale(degree), own, sum);
    }
    Store8(out + at * 8, sum);
  }
}

template <typename T, bool kMaximum, bool kThrough>
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
  const bool symmetric = !kMaximum && call.kind == HopSum::kSymmetric;
  const float degree = symmetric ? call.degrees[source] : 0.0f;
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
        if (!kMaximum) weight = SumScale(call.kind, symmetric ? call.degrees[row] : 0.0f, hop.counts[row]);
      }
      EachRow(grad_out, nullptr, vectors, vector, mine, row, min(32, end - from),
              [&](int j, const RawOf<T>& raw, uint32_t) {
                const float w = __shfl_sync(kFullWarp, weight, j);
                const int32_t r = __shfl_sync(kFullWarp, row, j), s = __shfl_sync(kFullWarp, slot, j);
                if (!mine) return;
                const Float8 g = Widen(raw);
                if (!kMaximum) {
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
    const int64_t at = static_cast<int64_t>(source) * vectors + vector;
    if (symmetric) {
      Multiply8(SourceScale(degree), sum);
      if (source < rows) AddScaled8(OwnScale(degree), Load8(grad_out + at * 8), sum);
    }
    if (kThrough) BackThrough8<T>(call.through, at, vector, sum);
    Store8(to + vector * 8, sum);
  }
}

// Calls `with` with two constants: whether this is a maximum, and whether rows are read through something.
template <typename With>
cudaError_t WithForm(const HopSumCall& call, const With& with) {
  const bool through = call.through.rows != nullptr;
  if (call.kind == HopSum::kMax) {
    return through ? with(std::true_type{}, std::true_type{}) : with(std::true_type{}, std::false_type{});
  }
  return through ? with(std::false_type{}, std::true_type{}) : with(std::false_type{}, std::false_type{});
}

}  // namespace

cudaError_t EnqueueDegrees(const GraphOnDevice& graph, int number, int32_t rows, const BatchHeader* header,
                           const int32_t* nodes, float* degrees, cudaStream_t stream) {
  return Launch(DegreesKernel, (rows + kBlock - 1) / kBlock, kBlock, 0, stream, graph, number, header, nodes, degrees);
}

cudaError_t EnqueueHopSum(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* z,
                          const BatchHeader* header, Element out_element, void* out, cudaStream_t stream) {
  const auto launch = [&]<typename T, typename Out>(T, Out) {
    return WithForm(call, [&]<typename Maximum, typename Through>(Maximum, Through) {
      return Launch(HopSumKernel<T, Out, Maximum::value, Through::value>, Blocks(hop.rows), kBlock, 0, stream, call,
                    hop, static_cast<const T*>(z), header, static_cast<Out*>(out));
    });
  };
  if (element == Element::kFloat32) return launch(float{}, float{});
  return out_element == Element::kFloat32 ? launch(__nv_bfloat16{}, float{}) : launch(__nv_bfloat16{}, __nv_bfloat16{});
}

cudaError_t EnqueueHopSumBackward(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* grad_out,
                                  int32_t padded_sources, const BatchHeader* header, void* grad_z,
                                  cudaStream_t stream) {
  const auto launch = [&]<typename T>(T) {
    return WithForm(call, [&]<typename Maximum, typename Through>(Maximum, Through) {
      return Launch(HopSumBackwardKernel<T, Maximum::value, Through::value>, Blocks(padded_sources), kBlock, 0, stream,
                    call, hop, static_cast<const T*>(grad_out), padded_sources, header, static_cast<T*>(grad_z));
    });
  };
  return element == Element::kFloat32 ? launch(float{}) : launch(__nv_bfloat16{});
}

}  // namespace hone::gnn::cuda
