// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements aggregate_kernels.h except the outermost hop (outermost_kernels.cu): one warp per row, 16 or 32 bytes per
// lane.
#include "gnn/cuda/kernels/aggregate_kernels.h"

#include <algorithm>

#include "gnn/cuda/base/async_copies.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kForwardBlock = 128;

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// Aggregates with one warp per strip of 32 vectors of a row; blockIdx.y selects the strip. All of the row's neighbors
// are copied to shared memory at once, each lane's part to a place that no other lane reads.
template <typename T>
__global__ void __launch_bounds__(kForwardBlock)
    AggregateKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                    const RunState* state, const BatchHeader* header, const int32_t* nodes, T* out) {
  constexpr int kStride = 32 * static_cast<int>(sizeof(RawOf<T>) / sizeof(uint4));
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int32_t row = static_cast<int32_t>(blockIdx.x * (blockDim.x / 32)) + warp;
  // All loads are started at once, so that one wait is enough. Rows past the batch's, up to the envelope, have valid
  // columns and counts, perhaps of an earlier batch.
  const bool exists = row < hop.rows;
  const int32_t drawn = exists && lane < hop.fanout ? hop.columns[static_cast<int64_t>(row) * hop.fanout + lane] : 0;
  const int32_t count = exists ? hop.counts[row] : 0;
  if (row >= RowsAfter(header, number)) return;
  const auto vector = static_cast<int32_t>(blockIdx.y) * 32 + lane;
  const bool in_row = vector < vectors;
  const T* z = static_cast<const T*>(input.z);
  const int32_t column = lane < count ? drawn : 0;
  uint4* copied = DynamicShared<uint4>() + warp * (hop.fanout * kStride) + lane;
#pragma unroll 4
  for (int j = 0; j < count; ++j) {
    const int32_t source = __shfl_sync(kFullWarp, column, j);
    if (in_row) StartVector(copied + j * kStride, z + (static_cast<int64_t>(source) * vectors + vector) * 8);
  }
  CommitCopies();
  RawOf<T> own_raw;
  if (in_row) own_raw = LoadRaw(z + (static_cast<int64_t>(row) * vectors + vector) * 8);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const uint32_t node = neighbor_mask.threshold != 0 && lane < count ? static_cast<uint32_t>(nodes[column]) : 0;
  const float factor = ScaleOf(neighbor_mask) * (kind.mean && count > 0 ? 1.0f / static_cast<float>(count) : 1.0f);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  T* to = out + static_cast<int64_t>(row) * vectors * (kind.adds_self ? 8 : 16);
  const bool biased = input.bias != nullptr && in_row;
  const Float8 bias = biased ? Load8(input.bias + vector * 8) : Float8{};
  const auto activated = [&](const RawOf<T>& raw) {
    Float8 x = Widen(raw);
    if (biased) Add8(bias, x);
    Activate8(input.activation, nullptr, vector, x);
    return x;
  };
  AwaitCopies<0>();
  Float8 sum = {};
#pragma unroll 4
  for (int j = 0; j < count; ++j) {
    const uint32_t id = __shfl_sync(kFullWarp, node, j);
    if (in_row) {
      AddKept8(neighbor_mask, id, static_cast<uint32_t>(vector), activated(CopiedVector<T>(copied + j * kStride)), sum);
    }
  }
  if (!in_row) return;
  Scale8(factor, sum);
  Float8 own_row = activated(own_raw);
  Drop8(self_mask, static_cast<uint32_t>(nodes[row]), static_cast<uint32_t>(vector), own_row);
  if (kind.adds_self) {
    Scale8(own_factor, own_row);
    Add8(own_row, sum);
  } else {
    Store8(to + (vectors + vector) * 8, own_row);
  }
  Store8(to + vector * 8, sum);
}

template <typename T>
cudaError_t LaunchAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, const AggregateInput& input,
                            int32_t vectors, const RunState* state, const BatchHeader* header, const int32_t* nodes,
                            T* out, cudaStream_t stream) {
  int most_shared = 0;
  if (const cudaError_t error = MostSharedBytes(&most_shared); error != cudaSuccess) return error;
  const int warp_bytes = hop.fanout * 32 * static_cast<int>(sizeof(RawOf<T>));
  const int warps = std::clamp(most_shared / warp_bytes, 1, kForwardBlock / 32), shared = warps * warp_bytes;
  const dim3 grid(static_cast<unsigned>((hop.rows + warps - 1) / warps), static_cast<unsigned>((vectors + 31) / 32));
  const cudaError_t error = cudaFuncSetAttribute(AggregateKernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (error != cudaSuccess) return error;
  return Launch(AggregateKernel<T>, grid, warps * 32, static_cast<size_t>(shared), stream, kind, hop, number, input, vectors, state, header,
                nodes, out);
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    AggregateBackwardKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                            int32_t padded_sources, const T* grad_out, DirectGradients direct, const RunState* state,
                            const BatchHeader* header, const int32_t* nodes, T* grad_z) {
  const int32_t rows = RowsAfter(header, number), sources = RowsAfter(header, number + 1);
  const int32_t source = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (source >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  T* to = grad_z + static_cast<int64_t>(source) * vectors * 8;
  if (source >= sources) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(to + vector * 8, Float8{});
    return;
  }
  const int32_t seeds = RowsAfter(header, 0);
  const T* z = static_cast<const T*>(input.z);
  const T* past_destinations = static_cast<const T*>(direct.destinations);
  const T* past_seeds = static_cast<const T*>(direct.seeds);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int64_t stride = static_cast<int64_t>(vectors) * (kind.adds_self ? 8 : 16);
  const int32_t begin = hop.first[source], end = hop.end[source];
  const uint32_t id = static_cast<uint32_t>(nodes[source]);
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    Float8 sum = {};
    for (int32_t from = begin; from < end; from += 32) {  // 32 slots at a time: each lane loads one, then broadcasts it
      int32_t row = 0;
      float weight = 1;
      if (from + lane < end) {
        row = static_cast<int32_t>(hop.sorted_slots[from + lane]) / hop.fanout;
        if (kind.mean) weight = 1.0f / static_cast<float>(hop.counts[row]);
      }
      const int32_t chunk = min(32, end - from);
#pragma unroll 4
      for (int j = 0; j < chunk; ++j) {
        const int32_t r = __shfl_sync(kFullWarp, row, j);
        const float w = __shfl_sync(kFullWarp, weight, j);
        if (!in_row) continue;
        const Float8 g = Load8(grad_out + r * stride + vector * 8);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += w * g.v[i];
      }
    }
    if (!in_row) continue;
    Drop8(neighbor_mask, id, static_cast<uint32_t>(vector), sum);
    if (source < rows) {
      Float8 own_row = Load8(grad_out + source * stride + (kind.adds_self ? vector : vectors + vector) * 8);
      Scale8(own_factor, own_row);
      Drop8(self_mask, id, static_cast<uint32_t>(vector), own_row);
      Add8(own_row, sum);
      if (past_destinations != nullptr) {
        Add8(Load8(past_destinations + (static_cast<int64_t>(source) * vectors + vector) * 8), sum);
      }
    }
    if (past_seeds != nullptr && source < seeds) {
      Add8(Load8(past_seeds + source * direct.seeds_stride + vector * 8), sum);
    }
    if (input.activation != Activation::kIdentity) {
      ActivationSlope8(input.activation, input.bias, vector,
                       Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8), sum);
    }
    Store8(to + vector * 8, sum);
  }
}

}  // namespace

cudaError_t EnqueueAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                             const AggregateInput& input, int32_t width, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream) {
  if (hop.fanout > kNarrowFanout) {
    return EnqueueWideAggregate(kind, hop, number, element, input, width, state, header, nodes, out, stream);
  }
  if (element == Element::kFloat32) {
    return LaunchAggregate(kind, hop, number, input, width / 8, state, header, nodes, static_cast<float*>(out), stream);
  }
  return LaunchAggregate(kind, hop, number, input, width / 8, state, header, nodes, static_cast<__nv_bfloat16*>(out),
                         stream);
}

cudaError_t EnqueueAggregateBackward(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                     const AggregateInput& input, int32_t width, int32_t padded_sources,
                                     const void* grad_out, const DirectGradients& direct, const RunState* state,
                                     const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                     cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(AggregateBackwardKernel<float>, Blocks(padded_sources), kBlock, 0, stream, kind, hop, number, input,
           width / 8, padded_sources, static_cast<const float*>(grad_out), direct, state, header, nodes,
           static_cast<float*>(grad_z));
  } else {
    Launch(AggregateBackwardKernel<__nv_bfloat16>, Blocks(padded_sources), kBlock, 0, stream, kind, hop, number, input,
           width / 8, padded_sources, static_cast<const __nv_bfloat16*>(grad_out), direct, state, header, nodes,
           static_cast<__nv_bfloat16*>(grad_z));
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
