// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements wide_aggregate_kernels.h: one warp per row, 16 or 32 bytes per lane, several rows in flight before the
// first is used.
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"

#include <type_traits>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
template <typename T>
constexpr int kAhead = sizeof(T) == 2 ? 8 : 4;  // rows that a lane loads before it uses the first

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// The running maxima of eight columns and the slots that have them. Among equals the first slot stays.
struct Largest8 {
  Float8 value = {};
  int32_t slot[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

  __device__ void Take(const Float8& x, int32_t from) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (slot[i] >= 0 && !(x.v[i] > value.v[i])) continue;
      value.v[i] = x.v[i];
      slot[i] = from;
    }
  }
  // Combines with the maxima over other slots; the result is that of one pass over all slots in order.
  __device__ void Join(const Float8& x, const int32_t (&from)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const bool both = slot[i] >= 0 && from[i] >= 0;
      const bool wins = both ? x.v[i] > value.v[i] || (x.v[i] == value.v[i] && from[i] < slot[i]) : from[i] >= 0;
      if (!wins) continue;
      value.v[i] = x.v[i];
      slot[i] = from[i];
    }
  }
};

// Does the work of AddActivated (gather_kernels.cu): adds relu(x) to `to` where kept, and returns which elements
// passed.
__device__ uint32_t AddPassing(uint32_t kept_bits, const Float8& x, Float8& to) {
  uint32_t passed = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const bool passes = x.v[i] > 0.0f && (kept_bits >> i & 1u) != 0;
    to.v[i] += passes ? x.v[i] : 0.0f;
    passed |= passes ? 1u << i : 0u;
  }
  return passed;
}

template <typename T>
__global__ void __launch_bounds__(kBlock)
    WideGatherMeanKernel(HopOnDevice hop, int number, const T* z, int32_t vectors, float scale, const uint8_t* kept,
                         const BatchHeader* header, T* out, uint8_t* passed) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  T* to = out + static_cast<int64_t>(row) * vectors * 16;
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    // Every reader of a source writes the same bits to `passed`.
    const auto add = [&](int32_t source, const RawOf<T>& raw, Float8& sum) {
      const int64_t at = static_cast<int64_t>(source) * vectors + vector;
      const uint32_t bits = AddPassing(kept != nullptr ? kept[at] : 0xffu, Widen(raw), sum);
      if (passed != nullptr) passed[at] = static_cast<uint8_t>(bits);
    };
    const auto load = [&](int32_t source) { return LoadRaw(z + (static_cast<int64_t>(source) * vectors + vector) * 8); };
    Float8 sum = {}, own = {};
    for (int32_t from = 0; from < count; from += 32) {
      const int32_t column = from + lane < count ? columns[from + lane] : 0;
      const int32_t chunk = min(32, count - from);
      for (int j = 0; j < chunk; j += kAhead<T>) {
        RawOf<T> raw[kAhead<T>];
#pragma unroll
        for (int a = 0; a < kAhead<T>; ++a) {
          const int32_t source = __shfl_sync(kFullWarp, column, j + a);
          if (in_row && j + a < chunk) raw[a] = load(source);
        }
#pragma unroll
        for (int a = 0; a < kAhead<T>; ++a) {
          const int32_t source = __shfl_sync(kFullWarp, column, j + a);
          if (in_row && j + a < chunk) add(source, raw[a], sum);
        }
      }
    }
    if (!in_row) continue;
    add(row, load(row), own);
    Scale8(scale, own);
    Store8(to + (vectors + vector) * 8, own);
    Scale8(count > 0 ? scale / static_cast<float>(count) : 0.0f, sum);
    Store8(to + vector * 8, sum);
  }
}

template <typename T, bool kMaximum>
__global__ void __launch_bounds__(kBlock)
    WideAggregateKernel(AggregateKind kind, HopOnDevice hop, int number, AggregateInput input, int32_t vectors,
                        const RunState* state, const BatchHeader* header, const int32_t* nodes, T* out, int32_t* winners) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const T* z = static_cast<const T*>(input.z);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const bool adds_self = !kMaximum && kind.adds_self;
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  const float own_factor = adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  T* to = out + static_cast<int64_t>(row) * vectors * (adds_self ? 8 : 16);
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    Float8 sum = {};
    Largest8 largest;
    for (int32_t from = 0; from < count; from += 32) {
      const int32_t column = from + lane < count ? columns[from + lane] : 0;
      const uint32_t node = from + lane < count ? static_cast<uint32_t>(nodes[column]) : 0;
      const int32_t chunk = min(32, count - from);
      for (int j = 0; j < chunk; j += kAhead<T>) {
        RawOf<T> raw[kAhead<T>];
#pragma unroll
        for (int a = 0; a < kAhead<T>; ++a) {
          const int32_t source = __shfl_sync(kFullWarp, column, j + a);
          if (in_row && j + a < chunk) raw[a] = LoadRaw(z + (static_cast<int64_t>(source) * vectors + vector) * 8);
        }
#pragma unroll
        for (int a = 0; a < kAhead<T>; ++a) {
          const uint32_t id = __shfl_sync(kFullWarp, node, j + a);
          if (!in_row || j + a >= chunk) continue;
          Float8 x = Widen(raw[a]);
          Activate8(input.activation, input.bias, vector, x);
          Drop8(neighbor_mask, id, static_cast<uint32_t>(vector), x);
          if (kMaximum) {
            largest.Take(x, from + j + a);
          } else {
            Add8(x, sum);
          }
        }
      }
    }
    if (!in_row) continue;
    if (kMaximum) {
      sum = largest.value;
      if (winners != nullptr) {
        auto* won = reinterpret_cast<int4*>(winners + (static_cast<int64_t>(row) * vectors + vector) * 8);
        won[0] = make_int4(largest.slot[0], largest.slot[1], largest.slot[2], largest.slot[3]);
        won[1] = make_int4(largest.slot[4], largest.slot[5], largest.slot[6], largest.slot[7]);
      }
    } else if (kind.mean && count > 0) {
      Scale8(1.0f / static_cast<float>(count), sum);
    }
    Float8 own_row = Load8(z + (static_cast<int64_t>(row) * vectors + vector) * 8);
    Activate8(input.activation, input.bias, vector, own_row);
    Drop8(self_mask, static_cast<uint32_t>(nodes[row]), static_cast<uint32_t>(vector), own_row);
    if (adds_self) {
      Scale8(own_factor, own_row);
      Add8(own_row, sum);
    } else {
      Store8(to + (vectors + vector) * 8, own_row);
    }
    Store8(to + vector * 8, sum);
  }
}

// Handles one source per warp, 32 of its slots at a time: each lane loads one, then broadcasts it.
template <typename T>
__global__ void __launch_bounds__(kBlock)
    MaximumBackwardKernel(HopOnDevice hop, int number, AggregateInput input, int32_t vectors, int32_t padded_sources,
                          const int32_t* winners, const T* grad_out, const RunState* state, const BatchHeader* header,
                          const int32_t* nodes, T* grad_z) {
  const int32_t rows = RowsAfter(header, number), sources = RowsAfter(header, number + 1);
  const auto source = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (source >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  T* to = grad_z + static_cast<int64_t>(source) * vectors * 8;
  if (source >= sources) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(to + vector * 8, Float8{});
    return;
  }
  const T* z = static_cast<const T*>(input.z);
  const DropoutKey neighbor_mask = MaskKey(input.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(input.self, state, header);
  const int32_t begin = hop.first[source], end = hop.end[source];
  const auto id = static_cast<uint32_t>(nodes[source]);
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    Float8 sum = {};
    for (int32_t from = begin; from < end; from += 32) {
      int32_t row = 0, slot = 0;
      if (from + lane < end) {
        const auto place = static_cast<int32_t>(hop.sorted_slots[from + lane]);
        row = place / hop.fanout;
        slot = place % hop.fanout;
      }
      const int32_t chunk = min(32, end - from);
#pragma unroll 4
      for (int j = 0; j < chunk; ++j) {
        const int32_t r = __shfl_sync(kFullWarp, row, j), s = __shfl_sync(kFullWarp, slot, j);
        if (!in_row) continue;
        const auto* won = reinterpret_cast<const int4*>(winners + (static_cast<int64_t>(r) * vectors + vector) * 8);
        const int4 low = __ldg(won), high = __ldg(won + 1);
        const int32_t slots[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        const Float8 g = Load8(grad_out + (static_cast<int64_t>(r) * 2 * vectors + vector) * 8);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += slots[i] == s ? g.v[i] : 0.0f;
      }
    }
    if (!in_row) continue;
    Drop8(neighbor_mask, id, static_cast<uint32_t>(vector), sum);
    if (source < rows) {
      Float8 own_row = Load8(grad_out + (static_cast<int64_t>(source) * 2 * vectors + vectors + vector) * 8);
      Drop8(self_mask, id, static_cast<uint32_t>(vector), own_row);
      Add8(own_row, sum);
    }
    if (input.activation != Activation::kIdentity) {
      ActivationSlope8(input.activation, input.bias, vector,
                       Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8), sum);
    }
    Store8(to + vector * 8, sum);
  }
}

// Draws for a row and gathers it, with one warp per row. Each lane has a part of a feature row, and 32 / parts
// neighbors are read side by side.
template <typename Rows, typename Out, bool kMaximum>
__global__ void __launch_bounds__(kBlock)
    WideSampleAggregateKernel(GraphOnDevice graph, Rows features, int hop, int fanout, SampleAggregate aggregate,
                              const RunState* state, const BatchHeader* header, const int32_t* nodes) {
  using In = std::remove_cv_t<std::remove_pointer_t<decltype(features.At(0))>>;
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, hop)) return;
  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(fanout);
  const AggregateKind kind = aggregate.kind;
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const DropoutKey input_mask = MaskKey(aggregate.input_mask, state, header);
  const DropoutKey neighbor_mask = MaskKey(aggregate.neighbors, state, header);
  const DropoutKey self_mask = MaskKey(aggregate.self, state, header);
  const bool adds_self = !kMaximum && kind.adds_self;
  Out* out = static_cast<Out*>(aggregate.out);
  Out* input_rows = static_cast<Out*>(aggregate.input_rows);
  const float own_factor = adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes per feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int side = lane / parts, sides = 32 / parts, part = lane % parts;
  const auto self = static_cast<uint32_t>(nodes[row]);
  const DrawnRow drawn = DrawRow(graph, key, self, fanout, shared);
  const auto self_place = features.Place(self);
  Out* to = out + static_cast<int64_t>(row) * vectors * (adds_self ? 8 : 16);
  for (int first = 0; first < vectors; first += parts) {
    const int vector = first + part;
    const bool reads = vector < vectors;
    Float8 sum = {};
    Largest8 largest;
    int32_t next_source = lane < drawn.count ? drawn.Source(graph, lane) : 0;  // loaded before its turn
    for (int32_t from = 0; from < drawn.count; from += 32) {
      const int32_t neighbor = next_source;
      const auto neighbor_place = features.Place(neighbor);
      next_source = from + 32 + lane < drawn.count ? drawn.Source(graph, from + 32 + lane) : 0;
      const int32_t chunk = min(32, drawn.count - from);
      for (int j = 0; j < chunk; j += sides * kAhead<In>) {
        RawOf<In> raw[kAhead<In>];
#pragma unroll
        for (int a = 0; a < kAhead<In>; ++a) {
          const int item = j + a * sides + side;
          const auto place = features.HandRound(__shfl_sync(kFullWarp, neighbor, item % 32), neighbor_place, item % 32);
          if (reads && item < chunk) raw[a] = LoadRaw(features.At(place) + vector * 8);
        }
#pragma unroll
        for (int a = 0; a < kAhead<In>; ++a) {
          const int item = j + a * sides + side;
          const int32_t id = __shfl_sync(kFullWarp, neighbor, item % 32);
          if (!reads || item >= chunk) continue;
          Float8 x = Widen(raw[a]);
          Drop8(neighbor_mask, static_cast<uint32_t>(id), static_cast<uint32_t>(vector), x);
          if (kMaximum) {
            largest.Take(x, from + item);
          } else {
            Add8(x, sum);
          }
        }
      }
    }
    for (int offset = parts; offset < 32; offset *= 2) {
      if (kMaximum) {
        Float8 x;
        int32_t slot[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          x.v[i] = __shfl_xor_sync(kFullWarp, largest.value.v[i], offset);
          slot[i] = __shfl_xor_sync(kFullWarp, largest.slot[i], offset);
        }
        largest.Join(x, slot);
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
      }
    }
    if (!reads || side != 0) continue;
    if (kMaximum) {
      sum = largest.value;
    } else if (kind.mean && drawn.count > 0) {
      Scale8(1.0f / static_cast<float>(drawn.count), sum);
    }
    Float8 own_row = Load8(features.At(self_place) + vector * 8);
    Drop8(input_mask, self, static_cast<uint32_t>(vector), own_row);
    if (input_rows != nullptr) Store8(input_rows + (static_cast<int64_t>(row) * vectors + vector) * 8, own_row);
    Drop8(self_mask, self, static_cast<uint32_t>(vector), own_row);
    if (adds_self) {
      Scale8(own_factor, own_row);
      Add8(own_row, sum);
    } else {
      Store8(to + (vectors + vector) * 8, own_row);
    }
    Store8(to + vector * 8, sum);
  }
}

// Calls `with` with a value of the element's type.
template <typename With>
cudaError_t WithActivations(Element element, const With& with) {
  return element == Element::kFloat32 ? with(float{}) : with(__nv_bfloat16{});
}

}  // namespace

cudaError_t EnqueueWideGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                                  float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                                  cudaStream_t stream) {
  return WithActivations(element, [&]<typename T>(T) {
    return Launch(WideGatherMeanKernel<T>, Blocks(hop.rows), kBlock, 0, stream, hop, number, static_cast<const T*>(z),
                  width / 8, scale, kept, header, static_cast<T*>(out), passed);
  });
}

cudaError_t EnqueueWideAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                 const AggregateInput& input, int32_t width, const RunState* state,
                                 const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream) {
  return WithActivations(element, [&]<typename T>(T) {
    return Launch(WideAggregateKernel<T, false>, Blocks(hop.rows), kBlock, 0, stream, kind, hop, number, input, width / 8,
                  state, header, nodes, static_cast<T*>(out), nullptr);
  });
}

cudaError_t EnqueueMaximum(const HopOnDevice& hop, int number, Element element, const AggregateInput& input, int32_t width,
                           const RunState* state, const BatchHeader* header, const int32_t* nodes, void* out,
                           int32_t* winners, cudaStream_t stream) {
  return WithActivations(element, [&]<typename T>(T) {
    return Launch(WideAggregateKernel<T, true>, Blocks(hop.rows), kBlock, 0, stream, AggregateKind{}, hop, number, input,
                  width / 8, state, header, nodes, static_cast<T*>(out), winners);
  });
}

cudaError_t EnqueueMaximumBackward(const HopOnDevice& hop, int number, Element element, const AggregateInput& input,
                                   int32_t width, int32_t padded_sources, const int32_t* winners, const void* grad_out,
                                   const RunState* state, const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                   cudaStream_t stream) {
  return WithActivations(element, [&]<typename T>(T) {
    return Launch(MaximumBackwardKernel<T>, Blocks(padded_sources), kBlock, 0, stream, hop, number, input, width / 8,
                  padded_sources, winners, static_cast<const T*>(grad_out), state, header, nodes, static_cast<T*>(grad_z));
  });
}

cudaError_t EnqueueWideSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                       int32_t rows, const SampleAggregate& aggregate, bool by_maximum,
                                       const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                       Element out_element, cudaStream_t stream) {
  const int warps = WideWarps(fanout);
  const auto launch = [&](auto in) {
    return WithRows<decltype(in)>(graph, [&]<typename Rows>(const Rows& features) {
      return WithActivations(out_element, [&]<typename Out>(Out) {
        const auto kernel =
            by_maximum ? WideSampleAggregateKernel<Rows, Out, true> : WideSampleAggregateKernel<Rows, Out, false>;
        return Launch(kernel, (rows + warps - 1) / warps, 32 * warps, warps * WideDrawBytes(fanout), stream, graph,
                      features, hop, fanout, aggregate, state, header, nodes);
      });
    });
  };
  switch (feature_element) {
    case Element::kFloat32: return launch(float{});
    case Element::kFloat16: return launch(__half{});
    case Element::kBFloat16: return launch(__nv_bfloat16{});
  }
  return cudaErrorInvalidValue;
}

}  // namespace hone::gnn::cuda
