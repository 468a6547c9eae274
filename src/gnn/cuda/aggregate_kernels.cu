// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of aggregate_kernels.h: a warp a row, 16 or 32 bytes a lane.
#include "gnn/cuda/aggregate_kernels.h"

#include <type_traits>

#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/row_loads.cuh"
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

// A warp has a strip of 32 vectors of a row: blockIdx.y is the strip's.
template <typename T>
__global__ void __launch_bounds__(kBlock, 3)
    AggregateKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                    const RunState* state, const BatchHeader* header, const int32_t* nodes, T* out) {
  constexpr int kAhead = sizeof(T) == 2 ? 7 : 3;  // rows under way
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto vector = static_cast<int32_t>(blockIdx.y) * 32 + lane;
  const bool mine = vector < vectors;
  const T* z = static_cast<const T*>(input.z);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const int32_t count = hop.counts[row];
  const int32_t column = lane < count ? hop.columns[static_cast<int64_t>(row) * hop.fanout + lane] : 0;
  const uint32_t node = neighbor_mask.threshold != 0 && lane < count ? static_cast<uint32_t>(nodes[column]) : 0;
  const float factor = ScaleOf(neighbor_mask) * (kind.mean && count > 0 ? 1.0f / static_cast<float>(count) : 1.0f);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  T* to = out + static_cast<int64_t>(row) * vectors * (kind.adds_self ? 8 : 16);
  RawOf<T> own_raw;
  if (mine) own_raw = LoadRaw(z + (static_cast<int64_t>(row) * vectors + vector) * 8);
  const bool biased = input.bias != nullptr && mine;
  const Float8 bias = biased ? Load8(input.bias + vector * 8) : Float8{};
  const auto activated = [&](const RawOf<T>& raw) {
    Float8 x = Widen(raw);
    if (biased) Add8(bias, x);
    Activate8(input.activation, nullptr, vector, x);
    return x;
  };
  Float8 sum = {};
  for (int j = 0; j < count; j += kAhead) {
    RawOf<T> raw[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int32_t source = __shfl_sync(kFullWarp, column, (j + a) % 32);
      if (mine && j + a < count) raw[a] = LoadRaw(z + (static_cast<int64_t>(source) * vectors + vector) * 8);
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const uint32_t id = __shfl_sync(kFullWarp, node, (j + a) % 32);
      if (mine && j + a < count) AddKept8(neighbor_mask, id, static_cast<uint32_t>(vector), activated(raw[a]), sum);
    }
  }
  if (!mine) return;
  Scale8(factor, sum);
  Float8 own = activated(own_raw);
  Drop8(self_mask, static_cast<uint32_t>(nodes[row]), static_cast<uint32_t>(vector), own);
  if (kind.adds_self) {
    Scale8(own_factor, own);
    Add8(own, sum);
  } else {
    Store8(to + (vectors + vector) * 8, own);
  }
  Store8(to + vector * 8, sum);
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

// A warp has kGroup rows, of which it looks up everything at once: where their neighbors lie, which of them are drawn
// (32 / kLanes rows to a turn), and who those are. Then it gathers row by row: lane = part of a row, 32 / parts neighbors
// side by side, and as many of them under way as registers allow.
// kMasks: whether anything is dropped.
constexpr int kGroup = 4;
template <typename Rows, typename Out, int kLanes, bool kMasks>
__global__ void __launch_bounds__(kBlock, kMasks ? 3 : 4)
    SampleAggregateKernel(GraphOnDevice graph, Rows features, int hop, int fanout, SampleAggregate aggregate,
                          const RunState* state, const BatchHeader* header, const int32_t* nodes) {
  using In = std::remove_cvref_t<decltype(*features.At(0))>;
  constexpr int kRows = 32 / kLanes, kTurns = kGroup / kRows;
  constexpr int kAhead = sizeof(In) == 4 ? 3 : kLanes == 32 ? 5 : kLanes == 16 ? 6 : 4;
  const AggregateKind kind = aggregate.kind;
  const int32_t rows = RowsAfter(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const auto key_of = [&](const ActivationOnLoad& mask) {
    return kMasks ? MaskKey(mask, state, header) : DropoutKey{};
  };
  const DropoutKey input_mask = key_of(aggregate.input_mask), neighbor_mask = key_of(aggregate.neighbors),
                   self_mask = key_of(aggregate.self);
  Out* out = static_cast<Out*>(aggregate.out);
  Out* input_rows = static_cast<Out*>(aggregate.input_rows);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes to a feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int side = lane / parts, sides = 32 / parts, part = lane % parts;
  const int32_t base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kGroup;
  if (base >= rows) return;

  // Lane i: of row base + i.
  const bool exists = lane < kGroup && base + lane < rows;
  const uint32_t own_node = exists ? static_cast<uint32_t>(nodes[base + lane]) : 0;
  const int64_t own_begin = exists ? __ldg(graph.row_offsets + own_node) : 0;
  const int32_t own_degree = exists ? static_cast<int32_t>(__ldg(graph.row_offsets + own_node + 1) - own_begin) : 0;
  const auto own_place = features.Place(own_node);
  // Turn t, lane l: slot l % kLanes of row base + t * kRows + l / kLanes.
  int32_t neighbor[kTurns];
#pragma unroll
  for (int t = 0; t < kTurns; ++t) {
    const int from = t * kRows + lane / kLanes;
    const uint32_t node = __shfl_sync(kFullWarp, own_node, from);
    const int32_t degree = __shfl_sync(kFullWarp, own_degree, from);
    const int64_t begin = __shfl_sync(kFullWarp, own_begin, from);
    const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
    const int32_t count = degree < fanout ? degree : fanout;
    neighbor[t] = lane % kLanes < count ? __ldg(graph.columns + begin + slot) : 0;
  }
#pragma unroll 1
  for (int t = 0; t < kTurns; ++t) {
    const int32_t drawn = neighbor[0];
#pragma unroll
    for (int next = 1; next < kTurns; ++next) neighbor[next - 1] = neighbor[next];
    const auto neighbor_place = features.Place(drawn);
#pragma unroll 1
    for (int r = 0; r < kRows; ++r) {
      const int which_row = t * kRows + r;
      const int32_t row = base + which_row;
      if (row >= rows) break;
      const int32_t degree = __shfl_sync(kFullWarp, own_degree, which_row);
      const int32_t neighbors = degree < fanout ? degree : fanout;
      const uint32_t self = __shfl_sync(kFullWarp, own_node, which_row);
      const auto self_place = features.HandRound(self, own_place, which_row);
      Out* to = out + static_cast<int64_t>(row) * vectors * (kind.adds_self ? 8 : 16);
      for (int first = 0; first < vectors; first += parts) {
        const int vector = first + part;
        const bool reads = vector < vectors, reads_own = reads && side == sides - 1;
        RawOf<In> own_raw;
        if (reads_own) own_raw = LoadRaw(features.At(self_place) + vector * 8);
        Float8 sum = {};
        for (int j = 0; j < neighbors; j += sides * kAhead) {
          RawOf<In> raw[kAhead];
          uint32_t ids[kAhead];
#pragma unroll
          for (int a = 0; a < kAhead; ++a) {
            const int which = j + a * sides + side;
            const int from = r * kLanes + (which < kLanes ? which : 0);
            const int32_t id = __shfl_sync(kFullWarp, drawn, from);
            const int32_t place = features.HandRound(id, neighbor_place, from);
            ids[a] = static_cast<uint32_t>(id);
            if (reads && which < neighbors) raw[a] = LoadRaw(features.At(place) + vector * 8);
          }
#pragma unroll
          for (int a = 0; a < kAhead; ++a) {
            if (reads && j + a * sides + side < neighbors) {
              AddKept8(neighbor_mask, ids[a], static_cast<uint32_t>(vector), Widen(raw[a]), sum);
            }
          }
        }
        for (int offset = parts; offset < 32; offset *= 2) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
        }
        if (!reads_own) continue;
        Scale8(ScaleOf(neighbor_mask) * (kind.mean && neighbors > 0 ? 1.0f / static_cast<float>(neighbors) : 1.0f), sum);
        Float8 own = Widen(own_raw);
        Drop8(input_mask, self, static_cast<uint32_t>(vector), own);
        if (input_rows != nullptr) Store8(input_rows + (static_cast<int64_t>(row) * vectors + vector) * 8, own);
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
  const int blocks = Blocks((rows + kGroup - 1) / kGroup);
  const auto launch = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    const bool masks =
        aggregate.input_mask.threshold != 0 || aggregate.neighbors.threshold != 0 || aggregate.self.threshold != 0;
    Launch(masks ? SampleAggregateKernel<Rows, Out, kLanes, true> : SampleAggregateKernel<Rows, Out, kLanes, false>,
           blocks, kBlock, 0, stream, graph, features, hop, fanout, aggregate, state, header, nodes);
  };
  if (fanout <= 8) {
    launch(std::integral_constant<int, 8>{});
  } else if (fanout <= 16) {
    launch(std::integral_constant<int, 16>{});
  } else {
    launch(std::integral_constant<int, 32>{});
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
  const dim3 grid(static_cast<unsigned>(Blocks(hop.rows)), static_cast<unsigned>((width / 8 + 31) / 32));
  if (element == Element::kFloat32) {
    Launch(AggregateKernel<float>, grid, kBlock, 0, stream, kind, hop, number, input, width / 8, state,
           header, nodes, static_cast<float*>(out));
  } else {
    Launch(AggregateKernel<__nv_bfloat16>, grid, kBlock, 0, stream, kind, hop, number, input, width / 8,
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
