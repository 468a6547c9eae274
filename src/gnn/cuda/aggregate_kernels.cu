// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of aggregate_kernels.h: a warp a row, 16 or 32 bytes a lane.
#include "gnn/cuda/aggregate_kernels.h"
#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/row_math.cuh"
#include "gnn/cuda/wide_aggregate_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    AggregateKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                    const RunState* state, const BatchHeader* header, const int32_t* nodes, T* out) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const T* z = static_cast<const T*>(input.z);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const int32_t count = hop.counts[row];
  const int32_t column = lane < count ? hop.columns[static_cast<int64_t>(row) * hop.fanout + lane] : 0;
  const uint32_t node = lane < count ? static_cast<uint32_t>(nodes[column]) : 0;
  const float factor = kind.mean && count > 0 ? 1.0f / static_cast<float>(count) : 1.0f;
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  T* to = out + static_cast<int64_t>(row) * vectors * (kind.adds_self ? 8 : 16);
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
      Activate8(input.activation, input.bias, vector, x);
      Drop8(neighbor_mask, id, static_cast<uint32_t>(vector), x);
      Add8(x, sum);
    }
    if (!mine) continue;
    if (kind.mean) Scale8(factor, sum);
    Float8 own = Load8(z + (static_cast<int64_t>(row) * vectors + vector) * 8);
    Activate8(input.activation, input.bias, vector, own);
    Drop8(self_mask, static_cast<uint32_t>(nodes[row]), static_cast<uint32_t>(vector), own);
    if (kind.adds_self) {
      Scale8(own_factor, own);
      Add8(own, sum);
    } else {
      Store8(to + (vectors + vector) * 8, own);
    }
    Store8(to + vector * 8, sum);
  }
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
    const bool mine = vector < vectors;
    Float8 sum = {};
    for (int32_t from = begin; from < end; from += 32) {  // 32 slots at a time, one a lane, then handed round
      int32_t row = 0;
      float weight = 1;
      if (from + lane < end) {
        row = static_cast<int32_t>(hop.sorted_slots[from + lane]) / hop.fanout;
        if (kind.mean) weight = 1.0f / static_cast<float>(hop.counts[row]);
      }
      const int32_t here = min(32, end - from);
#pragma unroll 4
      for (int j = 0; j < here; ++j) {
        const int32_t r = __shfl_sync(kFullWarp, row, j);
        const float w = __shfl_sync(kFullWarp, weight, j);
        if (!mine) continue;
        const Float8 g = Load8(grad_out + r * stride + vector * 8);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += w * g.v[i];
      }
    }
    if (!mine) continue;
    Drop8(neighbor_mask, id, static_cast<uint32_t>(vector), sum);
    if (source < rows) {
      Float8 own = Load8(grad_out + source * stride + (kind.adds_self ? vector : vectors + vector) * 8);
      Scale8(own_factor, own);
      Drop8(self_mask, id, static_cast<uint32_t>(vector), own);
      Add8(own, sum);
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

// A warp draws for 32 / kLanes rows at once and then gathers row by row: lane = part of a row, and 32 / parts
// neighbors side by side.
template <typename Rows, typename Out, int kLanes>
__global__ void __launch_bounds__(kBlock)
    SampleAggregateKernel(GraphOnDevice graph, Rows features, int hop, int fanout, SampleAggregate aggregate,
                          const RunState* state, const BatchHeader* header, const int32_t* nodes) {
  constexpr int kRows = 32 / kLanes;
  const AggregateKind kind = aggregate.kind;
  const int32_t rows = RowsAfter(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const DropoutKey input_mask = MaskKey(aggregate.input_mask, state, header);
  const DropoutKey neighbor_mask = MaskKey(aggregate.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(aggregate.self, state, header);
  Out* out = static_cast<Out*>(aggregate.out);
  Out* input_rows = static_cast<Out*>(aggregate.input_rows);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes to a feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int side = lane / parts, sides = 32 / parts, part = lane % parts;
  const int32_t warps = static_cast<int32_t>(gridDim.x * blockDim.x / 32);
  const int32_t warp = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  for (int32_t base = warp * kRows; base < rows; base += warps * kRows) {
    const int32_t row = base + lane / kLanes;
    const bool active = row < rows;
    const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
    const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
    const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
    const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
    const int32_t count = degree < fanout ? degree : fanout;
    const int32_t neighbor = active && lane % kLanes < count ? __ldg(graph.columns + begin + slot) : 0;
    const auto neighbor_place = features.Place(neighbor);
    const auto own_place = features.Place(node);
    for (int r = 0; r < kRows && base + r < rows; ++r) {
      const int32_t neighbors = __shfl_sync(kFullWarp, count, r * kLanes);
      const uint32_t self = __shfl_sync(kFullWarp, node, r * kLanes);
      const auto self_place = features.HandRound(self, own_place, r * kLanes);
      Out* to = out + static_cast<int64_t>(base + r) * vectors * (kind.adds_self ? 8 : 16);
      for (int first = 0; first < vectors; first += parts) {
        const int vector = first + part;
        const bool reads = vector < vectors;
        Float8 sum = {};
#pragma unroll 4
        for (int j = 0; j < neighbors; j += sides) {
          const int which = j + side;
          const int from = r * kLanes + (which < kLanes ? which : 0);
          const int32_t id = __shfl_sync(kFullWarp, neighbor, from);
          const int32_t place = features.HandRound(id, neighbor_place, from);
          if (reads && which < neighbors) {
            Float8 x = Load8(features.At(place) + vector * 8);
            Drop8(input_mask, static_cast<uint32_t>(id), static_cast<uint32_t>(vector), x);
            Drop8(neighbor_mask, static_cast<uint32_t>(id), static_cast<uint32_t>(vector), x);
            Add8(x, sum);
          }
        }
        for (int offset = parts; offset < 32; offset *= 2) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
        }
        if (!reads || side != 0) continue;
        if (kind.mean && neighbors > 0) Scale8(1.0f / static_cast<float>(neighbors), sum);
        Float8 own = Load8(features.At(self_place) + vector * 8);
        Drop8(input_mask, self, static_cast<uint32_t>(vector), own);
        if (input_rows != nullptr) Store8(input_rows + (static_cast<int64_t>(base + r) * vectors + vector) * 8, own);
        Drop8(self_mask, self, static_cast<uint32_t>(vector), own);
        if (kind.adds_self) {
          Scale8(own_factor, own);
          Add8(own, sum);
        } else {
          Store8(to + (vectors + vector) * 8, own);
        }
        Store8(to + vector * 8, sum);
      }
    }
  }
}

template <typename Rows, typename Out>
cudaError_t LaunchSampleAggregate(const GraphOnDevice& graph, const Rows& features, int hop, int fanout, int32_t rows,
                                  const SampleAggregate& aggregate, const RunState* state, const BatchHeader* header,
                                  const int32_t* nodes, cudaStream_t stream) {
  if (fanout <= 8) {
    Launch(SampleAggregateKernel<Rows, Out, 8>, Blocks((rows + 3) / 4), kBlock, 0, stream, graph, features, hop, fanout, aggregate,
           state, header, nodes);
  } else if (fanout <= 16) {
    Launch(SampleAggregateKernel<Rows, Out, 16>, Blocks((rows + 1) / 2), kBlock, 0, stream, graph, features, hop, fanout, aggregate,
           state, header, nodes);
  } else {
    Launch(SampleAggregateKernel<Rows, Out, 32>, Blocks(rows), kBlock, 0, stream, graph, features, hop, fanout, aggregate, state,
           header, nodes);
  }
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t EnqueueAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                             const AggregateInput& input, int32_t width, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream) {
  if (hop.fanout > kNarrowFanout) {
    return EnqueueWideAggregate(kind, hop, number, element, input, width, state, header, nodes, out, stream);
  }
  if (element == Element::kFloat32) {
    Launch(AggregateKernel<float>, Blocks(hop.rows), kBlock, 0, stream, kind, hop, number, input, width / 8, state,
           header, nodes, static_cast<float*>(out));
  } else {
    Launch(AggregateKernel<__nv_bfloat16>, Blocks(hop.rows), kBlock, 0, stream, kind, hop, number, input, width / 8,
           state, header, nodes, static_cast<__nv_bfloat16*>(out));
  }
  return cudaPeekAtLastError();
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

cudaError_t EnqueueSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                   int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                   const BatchHeader* header, const int32_t* nodes, Element out_element,
                                   cudaStream_t stream) {
  if (fanout > kNarrowFanout) {
    return EnqueueWideSampleAggregate(graph, feature_element, hop, fanout, rows, aggregate, false, state, header, nodes,
                                      out_element, stream);
  }
  const auto launch = [&](auto in, auto out) {
    return WithRows<decltype(in)>(graph, [&]<typename Rows>(const Rows& features) {
      return LaunchSampleAggregate<Rows, decltype(out)>(graph, features, hop, fanout, rows, aggregate, state, header,
                                                        nodes, stream);
    });
  };
  const auto launch_for = [&](auto in) {
    return out_element == Element::kFloat32 ? launch(in, float{}) : launch(in, __nv_bfloat16{});
  };
  cudaError_t error = cudaErrorInvalidValue;
  switch (feature_element) {
    case Element::kFloat32:
      error = launch_for(float{});
      break;
    case Element::kFloat16:
      error = launch_for(__half{});
      break;
    case Element::kBFloat16:
      error = launch_for(__nv_bfloat16{});
      break;
  }
  return error;
}

}  // namespace hone::gnn::cuda
