// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of gather_kernels.h: a warp a row, 16 or 32 bytes a lane.
#include "gnn/cuda/gather_kernels.h"

#include "gnn/cuda/device_math.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

int Blocks(int64_t warps) { return static_cast<int>((warps + kBlock / 32 - 1) / (kBlock / 32)); }

__device__ DropoutKey KeyOf(const ActivationOnLoad& activation, const RunState* state, const BatchHeader* header) {
  return {state->seed ^ kDropoutDomain, header->step, header->epoch, activation.layer << 24 | activation.site << 16,
          activation.threshold, activation.scale};
}

__device__ void Activate(const DropoutKey& dropout, uint32_t node, uint32_t vector, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = fmaxf(x.v[i], 0.0f);
  Drop8(dropout, node, vector, x);
}

template <typename T>
__global__ void __launch_bounds__(kBlock) GatherMeanKernel(HopOnDevice hop, int number, const T* z, int32_t vectors,
                                                           ActivationOnLoad activation, const RunState* state,
                                                           const BatchHeader* header, const int32_t* nodes, T* out) {
  const int32_t rows = header->valid != 0 ? header->hop_nodes[number] : 0;
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const DropoutKey dropout = KeyOf(activation, state, header);
  const int32_t count = hop.counts[row];
  const int32_t column = lane < count ? hop.columns[static_cast<int64_t>(row) * hop.fanout + lane] : 0;
  const uint32_t node = lane < count ? static_cast<uint32_t>(nodes[column]) : 0;
  const uint32_t self = static_cast<uint32_t>(nodes[row]);
  T* to = out + static_cast<int64_t>(row) * vectors * 16;
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool mine = vector < vectors;
    Float8 sum = {};
#pragma unroll 4
    for (int j = 0; j < count; ++j) {
      const int32_t source = __shfl_sync(kFullWarp, column, j);
      const uint32_t id = __shfl_sync(kFullWarp, node, j);
      if (!mine) continue;
      Float8 x = Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8);
      Activate(dropout, id, static_cast<uint32_t>(vector), x);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] += x.v[i];
    }
    if (!mine) continue;
    const float scale = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] *= scale;
    Store8(to + vector * 8, sum);
    Float8 own = Load8(z + (static_cast<int64_t>(row) * vectors + vector) * 8);
    Activate(dropout, self, static_cast<uint32_t>(vector), own);
    Store8(to + (vectors + vector) * 8, own);
  }
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    GatherMeanBackwardKernel(HopOnDevice hop, int number, const T* grad_out, const T* z, int32_t vectors,
                             int32_t padded_sources, ActivationOnLoad activation, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, T* grad_z) {
  const bool valid = header->valid != 0;
  const int32_t rows = valid ? header->hop_nodes[number] : 0;
  const int32_t sources = valid ? header->hop_nodes[number + 1] : 0;
  const int32_t source = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (source >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  T* to = grad_z + static_cast<int64_t>(source) * vectors * 8;
  if (source >= sources) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(to + vector * 8, Float8{});
    return;
  }
  const DropoutKey dropout = KeyOf(activation, state, header);
  const int32_t begin = hop.first[source], end = hop.end[source];
  const uint32_t self = static_cast<uint32_t>(nodes[source]);
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool mine = vector < vectors;
    Float8 sum = {};
    if (mine && source < rows) sum = Load8(grad_out + (static_cast<int64_t>(source) * 2 * vectors + vectors + vector) * 8);
    for (int32_t from = begin; from < end; from += 32) {  // 32 slots at a time, one a lane, then handed round
      int32_t row = 0;
      float weight = 0;
      if (from + lane < end) {
        row = static_cast<int32_t>(hop.sorted_slots[from + lane]) / hop.fanout;
        weight = 1.0f / static_cast<float>(hop.counts[row]);
      }
      const int32_t here = min(32, end - from);
#pragma unroll 4
      for (int j = 0; j < here; ++j) {
        const int32_t r = __shfl_sync(kFullWarp, row, j);
        const float w = __shfl_sync(kFullWarp, weight, j);
        if (!mine) continue;
        const Float8 g = Load8(grad_out + (static_cast<int64_t>(r) * 2 * vectors + vector) * 8);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += w * g.v[i];
      }
    }
    if (!mine) continue;
    const Float8 before = Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8);
    Drop8(dropout, self, static_cast<uint32_t>(vector), sum);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] = before.v[i] > 0.0f ? sum.v[i] : 0.0f;
    Store8(to + vector * 8, sum);
  }
}

}  // namespace

cudaError_t EnqueueGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                              const ActivationOnLoad& activation, const RunState* state, const BatchHeader* header,
                              const int32_t* nodes, void* out, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(GatherMeanKernel<float>, Blocks(hop.rows), kBlock, 0, stream,
        hop, number, static_cast<const float*>(z), width / 8, activation, state, header, nodes, static_cast<float*>(out));
  } else {
    Launch(GatherMeanKernel<__nv_bfloat16>, Blocks(hop.rows), kBlock, 0, stream,
        hop, number, static_cast<const __nv_bfloat16*>(z), width / 8, activation, state, header, nodes,
        static_cast<__nv_bfloat16*>(out));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueGatherMeanBackward(const HopOnDevice& hop, int number, Element element, const void* grad_out,
                                      const void* z, int32_t width, int32_t padded_sources,
                                      const ActivationOnLoad& activation, const RunState* state,
                                      const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                      cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(GatherMeanBackwardKernel<float>, Blocks(padded_sources), kBlock, 0, stream,
        hop, number, static_cast<const float*>(grad_out), static_cast<const float*>(z), width / 8, padded_sources,
        activation, state, header, nodes, static_cast<float*>(grad_z));
  } else {
    Launch(GatherMeanBackwardKernel<__nv_bfloat16>, Blocks(padded_sources), kBlock, 0, stream,
        hop, number, static_cast<const __nv_bfloat16*>(grad_out), static_cast<const __nv_bfloat16*>(z), width / 8,
        padded_sources, activation, state, header, nodes, static_cast<__nv_bfloat16*>(grad_z));
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
