// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements outermost_kernels.h.
//
// The kernel reads scattered rows of a few hundred bytes. That reaches the memory's speed only if a few hundred rows
// are in flight on every multiprocessor all the time. So a warp copies all rows that it has drawn into shared memory,
// and meanwhile draws the next ones. A block has as many warps as shared memory holds, and stays on its multiprocessor
// until the hop is done. A warp has a run of the batch's rows, 32 / kLanes of them per turn. A lane reads only what it
// copied itself, so no barrier is needed. docs/design/0020-gin-and-the-outermost-hop.md compares this with loads into
// registers.
#include "gnn/cuda/kernels/outermost_kernels.h"

#include <algorithm>
#include <type_traits>

#include "gnn/cuda/base/async_copies.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kMostWarps = 32;

// Says how a warp's lanes share a turn: `parts` lanes for a row's vectors, `together` rows side by side, `shares` lane
// groups per row. A row has `slots` places in a lane's ring: its share of the neighbors, and the node's own row.
struct TurnShape {
  int parts, together, shares, slots;
};
TurnShape ShapeOf(int vectors, int rows_a_turn, int fanout, SumOrder order) {
  TurnShape shape{.parts = 1, .together = 1, .shares = 1, .slots = 0};
  while (shape.parts < vectors && shape.parts < 32) shape.parts *= 2;
  const int sides = 32 / shape.parts;
  if (order == SumOrder::kApart) shape.together = std::min(sides, rows_a_turn);
  shape.shares = sides / shape.together;
  shape.slots = (fanout + shape.shares - 1) / shape.shares + 1;
  return shape;
}

__device__ inline void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// The ids that a warp has drawn for the rows of a turn. Lane l holds slot l % kLanes of row l / kLanes.
struct Turn {
  int32_t neighbor, count;
  uint32_t self;
};

// Computes the outermost hop for fanouts up to kLanes. kMasks: whether anything is dropped. kHalves: half a warp covers
// a row's width, and both halves sum one row. With kHalves the compiler knows the shape, so the code needs fewer
// instructions; with masks it would need more registers than there are.
template <typename Rows, typename Out, int kLanes, bool kMasks, bool kHalves>
__global__ void __launch_bounds__(kMostWarps * 32, 1)
    OutermostKernel(GraphOnDevice graph, Rows features, TurnShape turn_shape, int hop, int fanout,
                    SampleAggregate aggregate, const RunState* state, const BatchHeader* header, const int32_t* nodes) {
  const TurnShape shape = kHalves ? TurnShape{16, 1, 2, turn_shape.slots} : turn_shape;
  using In = std::remove_cvref_t<decltype(*features.At(0))>;
  constexpr int kRows = 32 / kLanes;
  constexpr int kSlotStride = 32 * static_cast<int>(sizeof(RawOf<In>) / sizeof(uint4));
  const AggregateKind kind = aggregate.kind;
  const int32_t rows = RowsAfter(header, hop);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  // Warps of one multiprocessor have runs that lie far apart in the batch, which evens out differences in work.
  const int64_t warps = static_cast<int64_t>(gridDim.x) * (blockDim.x / 32);
  const int64_t which_warp = static_cast<int64_t>(warp) * gridDim.x + blockIdx.x;
  const int64_t turns = (rows + kRows - 1) / kRows;
  const auto begin = static_cast<int32_t>(turns * which_warp / warps * kRows);
  const auto end = static_cast<int32_t>(turns * (which_warp + 1) / warps * kRows);
  if (begin >= end) return;

  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const auto key_of = [&](const DropoutOnLoad& mask) {
    return kMasks ? MaskKey(mask, state, header) : DropoutKey{};
  };
  const DropoutKey input_mask = key_of(aggregate.input_mask), neighbor_mask = key_of(aggregate.neighbors),
                   self_mask = key_of(aggregate.self);
  Out* out = static_cast<Out*>(aggregate.out);
  Out* input_rows = static_cast<Out*>(aggregate.input_rows);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int vectors = graph.feature_vectors;
  const int side = lane / shape.parts, part = lane % shape.parts;
  const int row_of_group = side / shape.shares, group_of_row = side % shape.shares;
  const bool handles_own_row = group_of_row == shape.shares - 1;
  uint4* ring = DynamicShared<uint4>() + warp * (kRows / shape.together * shape.slots * kSlotStride) + lane;

  // Lane i holds values of row chunk + i.
  int32_t chunk_first = begin, degree = 0;
  uint32_t node = 0;
  int64_t edges = 0;
  const auto look_up = [&] {
    const bool exists = chunk_first + lane < rows;
    node = exists ? static_cast<uint32_t>(nodes[chunk_first + lane]) : 0;
    edges = exists ? __ldg(graph.row_offsets + node) : 0;
    degree = exists ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - edges) : 0;
  };
  look_up();
  const auto draw = [&](int32_t base) {
    if (base - chunk_first == 32) {
      chunk_first = base;
      look_up();
    }
    const int source_lane = base - chunk_first + lane / kLanes;
    Turn turn;
    turn.self = __shfl_sync(kFullWarp, node, source_lane);
    const int32_t own_degree = __shfl_sync(kFullWarp, degree, source_lane);
    const int64_t own_edges = __shfl_sync(kFullWarp, edges, source_lane);
    turn.count = own_degree < fanout ? own_degree : fanout;
    const int32_t slot = PickSlot<kLanes>(key, turn.self, own_degree, fanout, lane % kLanes);
    turn.neighbor = lane % kLanes < turn.count ? __ldg(graph.columns + own_edges + slot) : 0;
    return turn;
  };

  Turn next_turn = draw(begin);
#pragma unroll 1
  for (int32_t base = begin; base < end; base += kRows) {
    const Turn turn = next_turn;
    const auto neighbor_place = features.Place(turn.neighbor);
    const auto own_place = features.Place(turn.self);
#pragma unroll 1
    for (int first = 0; first < vectors; first += shape.parts) {
      const int vector = first + part;
      uint4* to = ring;
#pragma unroll 1
      for (int r = 0; r < kRows; r += shape.together) {
        const int row_in_turn = r + row_of_group;
        const int32_t count = __shfl_sync(kFullWarp, turn.count, row_in_turn * kLanes);
        const uint32_t self = __shfl_sync(kFullWarp, turn.self, row_in_turn * kLanes);
        const auto self_place = features.HandRound(self, own_place, row_in_turn * kLanes);
        const bool reads = vector < vectors && base + row_in_turn < rows;
        const int my_slots = reads ? (count - group_of_row + shape.shares - 1) / shape.shares : 0;
        const int first_from = row_in_turn * kLanes + group_of_row;
#pragma unroll 5
        for (int a = 0; a < shape.slots - 1; ++a, to += kSlotStride) {
          const int source_lane = first_from + a * shape.shares;  // the lane number; __shfl_sync takes it modulo 32
          const int32_t id = __shfl_sync(kFullWarp, turn.neighbor, source_lane);
          const auto place = features.HandRound(id, neighbor_place, source_lane);
          if (a < my_slots) StartVector(to, features.At(place) + vector * 8);
        }
        if (reads && handles_own_row) StartVector(to, features.At(self_place) + vector * 8);
        to += kSlotStride;
      }
      CommitCopies();
      if (first == 0 && base + kRows < end) next_turn = draw(base + kRows);
      AwaitCopies<0>();

      const uint4* copied = ring;
#pragma unroll 1
      for (int r = 0; r < kRows; r += shape.together) {
        const int row_in_turn = r + row_of_group;
        const int32_t row = base + row_in_turn;
        const int32_t count = __shfl_sync(kFullWarp, turn.count, row_in_turn * kLanes);
        const uint32_t self = __shfl_sync(kFullWarp, turn.self, row_in_turn * kLanes);
        const bool reads = vector < vectors && row < rows;
        const int my_slots = reads ? (count - group_of_row + shape.shares - 1) / shape.shares : 0;
        const int first_from = row_in_turn * kLanes + group_of_row;
        Float8 sum = {};
#pragma unroll 5
        for (int a = 0; a < shape.slots - 1; ++a, copied += kSlotStride) {
          const int32_t id = kMasks ? __shfl_sync(kFullWarp, turn.neighbor, first_from + a * shape.shares) : 0;
          if (a < my_slots) {
            AddKept8(neighbor_mask, static_cast<uint32_t>(id), static_cast<uint32_t>(vector),
                     Widen(CopiedVector<In>(copied)), sum);
          }
        }
        const uint4* own_copied = copied;
        copied += kSlotStride;
        for (int offset = shape.parts; offset < shape.parts * shape.shares; offset *= 2) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
        }
        if (!reads || !handles_own_row) continue;
        Scale8(ScaleOf(neighbor_mask) * (kind.mean && count > 0 ? 1.0f / static_cast<float>(count) : 1.0f), sum);
        Float8 own_row = Widen(CopiedVector<In>(own_copied));
        Drop8(input_mask, self, static_cast<uint32_t>(vector), own_row);
        if (input_rows != nullptr) Store8(input_rows + (static_cast<int64_t>(row) * vectors + vector) * 8, own_row);
        Drop8(self_mask, self, static_cast<uint32_t>(vector), own_row);
        Out* row_out = out + static_cast<int64_t>(row) * vectors * (kind.adds_self ? 8 : 16);
        if (kind.adds_self) {
          Scale8(own_factor, own_row);
          Add8(own_row, sum);
        } else {
          Store8(row_out + (vectors + vector) * 8, own_row);
        }
        Store8(row_out + vector * 8, sum);
      }
    }
  }
}

cudaError_t CountMultiprocessors(int* count) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error : cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
}

template <typename Rows, typename Out>
cudaError_t LaunchOutermost(const GraphOnDevice& graph, const Rows& features, int hop, int fanout, int32_t rows,
                            const SampleAggregate& aggregate, SumOrder order, const RunState* state,
                            const BatchHeader* header, const int32_t* nodes, cudaStream_t stream) {
  using In = std::remove_cvref_t<decltype(*features.At(0))>;
  int multiprocessors = 0, most_shared = 0;
  if (const cudaError_t error = CountMultiprocessors(&multiprocessors); error != cudaSuccess) return error;
  if (const cudaError_t error = MostSharedBytes(&most_shared); error != cudaSuccess) return error;
  const bool masks =
      aggregate.input_mask.threshold != 0 || aggregate.neighbors.threshold != 0 || aggregate.self.threshold != 0;
  const auto launch = [&](auto lanes) -> cudaError_t {
    constexpr int kLanes = decltype(lanes)::value;
    const TurnShape shape = ShapeOf(graph.feature_vectors, 32 / kLanes, fanout, order);
    const int warp_bytes = 32 / kLanes / shape.together * shape.slots * 32 * static_cast<int>(sizeof(RawOf<In>));
    const int most_blocks = std::max(1, static_cast<int>(aggregate.share * static_cast<float>(multiprocessors)));
    const int turns = std::max(1, (rows + 32 / kLanes - 1) / (32 / kLanes));
    const int warps = std::clamp((turns + most_blocks - 1) / most_blocks, 1, std::min(kMostWarps, most_shared / warp_bytes));
    const bool halves = shape.parts == 16 && shape.together == 1;
    const auto kernel =
        masks ? OutermostKernel<Rows, Out, kLanes, true, false>
              : (halves ? OutermostKernel<Rows, Out, kLanes, false, true> : OutermostKernel<Rows, Out, kLanes, false, false>);
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, warps * warp_bytes);
    if (error != cudaSuccess) return error;
    return Launch(kernel, std::min(most_blocks, (turns + warps - 1) / warps), warps * 32,
                  static_cast<size_t>(warps) * static_cast<size_t>(warp_bytes), stream, graph, features, shape, hop,
                  fanout, aggregate, state, header, nodes);
  };
  if (fanout <= 8) return launch(std::integral_constant<int, 8>{});
  if (fanout <= 16) return launch(std::integral_constant<int, 16>{});
  return launch(std::integral_constant<int, 32>{});
}

}  // namespace

cudaError_t EnqueueOutermostHop(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                                const SampleAggregate& aggregate, SumOrder order, const RunState* state,
                                const BatchHeader* header, const int32_t* nodes, Element out_element,
                                cudaStream_t stream) {
  const auto launch = [&](auto in, auto out) {
    return WithRows<decltype(in)>(graph, [&]<typename Rows>(const Rows& features) {
      return LaunchOutermost<Rows, decltype(out)>(graph, features, hop, fanout, rows, aggregate, order, state, header,
                                                  nodes, stream);
    });
  };
  const auto launch_for = [&](auto in) {
    return out_element == Element::kFloat32 ? launch(in, float{}) : launch(in, __nv_bfloat16{});
  };
  switch (feature_element) {
    case Element::kFloat32:
      return launch_for(float{});
    case Element::kFloat16:
      return launch_for(__half{});
    case Element::kBFloat16:
      return launch_for(__nv_bfloat16{});
  }
  return cudaErrorInvalidValue;
}

cudaError_t EnqueueSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                   int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                   const BatchHeader* header, const int32_t* nodes, Element out_element,
                                   cudaStream_t stream) {
  if (fanout > kNarrowFanout) {
    return EnqueueWideSampleAggregate(graph, feature_element, hop, fanout, rows, aggregate, /*by_maximum=*/false, state,
                                      header, nodes, out_element, stream);
  }
  return EnqueueOutermostHop(graph, feature_element, hop, fanout, rows, aggregate, SumOrder::kShared, state, header,
                             nodes, out_element, stream);
}

}  // namespace hone::gnn::cuda
