// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements source_gradient_kernels.h. Each block has a piece of rows and a strip of columns (column_sums.cuh), each
// warp every eighth row. Each lane looks up one of the warp's rows: where the row's slots lie, which rows its first two
// slots belong to, and which node it is. The gradients of the first two slots are copied for kAhead rows at once. Most
// sources have one slot and few more than two, and the time goes into look-ups that wait for one another.
#include <algorithm>

#include "gnn/cuda/base/async_copies.cuh"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"
#include "gnn/cuda/kernels/source_gradient_kernels.h"

namespace hone::gnn::cuda {
namespace {

using Value = __nv_bfloat16;

constexpr int kWarpRows = kLongPieceRows / kSumWarps;
static_assert(kWarpRows <= 32, "a lane looks up for one row");
constexpr int kAhead = 4;  // rows that a warp copies at once
// A block's shared memory has the copies in flight, and later, in their place, the sums.
constexpr int kSharedBytes = std::max<int>(sizeof(StripSums), kSumWarps * kAhead * 3 * 32 * sizeof(uint4));

// Rounds x as storing it in the given type and loading it again does.
__device__ void RoundTo(Value*, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = __bfloat162float(__float2bfloat16_rn(x.v[i]));
}

// kBefore: the kernel also makes SourceGradient::before. kReadsZ: the input has an activation. kPlain: there are no
// masks, and no gradients that bypass the aggregation.
template <bool kBefore, bool kReadsZ, bool kPlain>
__global__ void __launch_bounds__(kSumBlock, 3)
    SourceGradientKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                         int32_t padded_sources, const Value* grad_out, DirectGradients direct, const RunState* state,
                         const BatchHeader* header, const int32_t* nodes, SourceGradient to) {
  uint4* ring = DynamicShared<uint4>() + threadIdx.x / 32 * (kAhead * 3 * 32) + threadIdx.x % 32;
  const int32_t rows = RowsAfter(header, number), sources = RowsAfter(header, number + 1);
  const int32_t seeds = RowsAfter(header, 0);
  const int32_t piece = static_cast<int32_t>(blockIdx.x) * kLongPieceRows;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t first = piece + static_cast<int32_t>(threadIdx.x / 32);  // this row and every kSumWarps-th after it
  const int32_t vector = static_cast<int32_t>(blockIdx.y) * 32 + lane;
  const bool in_row = vector < vectors;
  const Value* z = static_cast<const Value*>(input.z);
  const Value* past_destinations = kPlain ? nullptr : static_cast<const Value*>(direct.destinations);
  const Value* past_seeds = kPlain ? nullptr : static_cast<const Value*>(direct.seeds);
  Value* grad_z = static_cast<Value*>(to.grad_z);
  Value* rows_before = static_cast<Value*>(to.before);
  const DropoutKey neighbor_mask = kPlain ? DropoutKey{} : MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = kPlain ? DropoutKey{} : MaskKey(input.self, state, header);
  const float own_factor =
      ScaleOf(self_mask) * (kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f);
  const float kept_scale = to.between.dropout.threshold == 0 ? 1.0f : to.between.dropout.scale;
  const int64_t stride = static_cast<int64_t>(vectors) * (kind.adds_self ? 8 : 16);

  // Lane i holds values of row first + i * kSumWarps.
  int32_t begin = 0, end = 0, slot_row[2] = {}, node = 0;
  float slot_weight[2] = {1, 1};
  if (lane < kWarpRows) {
    const int32_t source = first + lane * kSumWarps;
    if (source < sources) {
      begin = hop.first[source];
      end = hop.end[source];
      node = nodes[source];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        if (begin + s >= end) continue;
        slot_row[s] = static_cast<int32_t>(hop.sorted_slots[begin + s]) / hop.fanout;
        slot_weight[s] =
            ScaleOf(neighbor_mask) * (kind.mean ? 1.0f / static_cast<float>(hop.counts[slot_row[s]]) : 1.0f);
      }
    }
  }
  const auto start = [&](int i) {
    const int32_t source = first + i * kSumWarps;
    const int slots = __shfl_sync(kFullWarp, end - begin, i % 32);
    const int32_t row = __shfl_sync(kFullWarp, slot_row[0], i % 32), second = __shfl_sync(kFullWarp, slot_row[1], i % 32);
    if (in_row && i < kWarpRows && source < sources) {
      uint4* at = ring + i % kAhead * (3 * 32);
      if (slots > 0) StartCopy16(at, grad_out + row * stride + vector * 8);
      if (slots > 1) StartCopy16(at + 32, grad_out + second * stride + vector * 8);
      if (kReadsZ) StartCopy16(at + 64, z + (static_cast<int64_t>(source) * vectors + vector) * 8);
    }
    CommitCopies();
  };
#pragma unroll
  for (int i = 0; i < kAhead; ++i) start(i);
  Float8 sums = {}, sums_before = {};
  RowMark mark = 0;
  const auto load_mark = [&](int i) {
    const int32_t source = first + i * kSumWarps;
    if (kBefore && in_row && i < kWarpRows && source < sources) {
      mark = to.marks[static_cast<int64_t>(source) * vectors + vector];
    }
  };
  load_mark(0);
#pragma unroll 1
  for (int i = 0; i < kWarpRows; ++i) {
    const int32_t source = first + i * kSumWarps;
    if (source >= padded_sources) break;
    const int64_t at = (static_cast<int64_t>(source) * vectors + vector) * 8;
    const RowMark source_mark = mark;
    load_mark(i + 1);
    AwaitCopies<kAhead - 1>();
    const uint4* copied = ring + i % kAhead * (3 * 32);
    const RawOf<Value> first_raw = {copied[0]}, second_raw = {copied[32]}, z_raw = {copied[64]};
    start(i + kAhead);
    if (source >= sources) {
      if (in_row) Store8(grad_z + at, Float8{});
      if (kBefore && in_row) Store8(rows_before + at, Float8{});
      continue;
    }
    const int32_t first_index = __shfl_sync(kFullWarp, begin, i), end_index = __shfl_sync(kFullWarp, end, i);
    const auto id = static_cast<uint32_t>(__shfl_sync(kFullWarp, node, i));
    const float first_weight = __shfl_sync(kFullWarp, slot_weight[0], i);
    const float second_weight = __shfl_sync(kFullWarp, slot_weight[1], i);
    Float8 sum = {};
    if (first_index < end_index) {
      sum = Widen(first_raw);
#pragma unroll
      for (float& value : sum.v) value *= first_weight;
    }
    if (first_index + 1 < end_index) {
      const Float8 g = Widen(second_raw);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum.v[k] += second_weight * g.v[k];
    }
    for (int32_t chunk_first = first_index + 2; chunk_first < end_index; chunk_first += 32) {
      int32_t row = 0;
      float weight = 1;
      if (chunk_first + lane < end_index) {
        row = static_cast<int32_t>(hop.sorted_slots[chunk_first + lane]) / hop.fanout;
        weight = ScaleOf(neighbor_mask) * (kind.mean ? 1.0f / static_cast<float>(hop.counts[row]) : 1.0f);
      }
      const int32_t chunk = min(32, end_index - chunk_first);
#pragma unroll 4
      for (int j = 0; j < chunk; ++j) {
        const int32_t slot_row = __shfl_sync(kFullWarp, row, j);
        const float row_weight = __shfl_sync(kFullWarp, weight, j);
        if (!in_row) continue;
        const Float8 g = Load8(grad_out + slot_row * stride + vector * 8);
#pragma unroll
        for (int k = 0; k < 8; ++k) sum.v[k] += row_weight * g.v[k];
      }
    }
    if (!in_row) continue;
    Keep8(neighbor_mask, id, static_cast<uint32_t>(vector), sum);
    if (source < rows) {
      Float8 own_grad = Load8(grad_out + source * stride + (kind.adds_self ? vector : vectors + vector) * 8);
#pragma unroll
      for (int j = 0; j < 8; ++j) own_grad.v[j] *= own_factor;
      Keep8(self_mask, id, static_cast<uint32_t>(vector), own_grad);
      Add8(own_grad, sum);
      if (past_destinations != nullptr) Add8(Load8(past_destinations + at), sum);
    }
    if (past_seeds != nullptr && source < seeds) {
      Add8(Load8(past_seeds + source * direct.seeds_stride + vector * 8), sum);
    }
    if (kReadsZ) ActivationSlope8(input.activation, input.bias, vector, Widen(z_raw), sum);
    Store8(grad_z + at, sum);
    RoundTo(grad_z, sum);
    Add8(sum, sums);
    if (kBefore) {
      ApplyMark8(to.between.activation, kept_scale, source_mark, sum);
      Store8(rows_before + at, sum);
      Add8(sum, sums_before);
    }
  }
  if (to.partials == nullptr || piece >= sources) return;
  float total = 0, total_before = 0;
  __syncthreads();  // all threads have finished reading the copies
  JoinWarps(*DynamicShared<StripSums>(), sums, sums_before, total, total_before);
  const int64_t width = static_cast<int64_t>(vectors) * 8;
  const int64_t column = static_cast<int64_t>(blockIdx.y) * kStrip + threadIdx.x;
  if (column >= width) return;
  float* out = to.partials + blockIdx.x * width + column;
  if (kBefore) {
    out[0] = total_before;
    out[gridDim.x * width] = total;
  } else {
    out[0] = total;
  }
}

}  // namespace

cudaError_t EnqueueSourceGradient(const AggregateKind& kind, const HopOnDevice& hop, int number,
                                  const AggregateInput& input, int32_t width, int32_t padded_sources,
                                  const void* grad_out, const DirectGradients& direct, const RunState* state,
                                  const BatchHeader* header, const int32_t* nodes, const SourceGradient& to,
                                  cudaStream_t stream) {
  const dim3 grid = SumGrid(padded_sources, width, kLongPieceRows);
  const bool reads_z = input.activation != Activation::kIdentity;
  const bool has_no_extras = direct.destinations == nullptr && direct.seeds == nullptr &&
                             input.neighbors.threshold == 0 && input.self.threshold == 0;
  const auto kernel =
      has_no_extras
          ? (to.before != nullptr
                 ? (reads_z ? SourceGradientKernel<true, true, true> : SourceGradientKernel<true, false, true>)
                 : (reads_z ? SourceGradientKernel<false, true, true> : SourceGradientKernel<false, false, true>))
          : (to.before != nullptr
                 ? (reads_z ? SourceGradientKernel<true, true, false> : SourceGradientKernel<true, false, false>)
                 : (reads_z ? SourceGradientKernel<false, true, false> : SourceGradientKernel<false, false, false>));
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  Launch(kernel, grid, kSumBlock, kSharedBytes, stream, kind, hop, number, input, width / 8, padded_sources,
         static_cast<const Value*>(grad_out), direct, state, header, nodes, to);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
