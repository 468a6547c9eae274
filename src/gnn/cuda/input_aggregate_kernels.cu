// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of input_aggregate_kernels.h. A warp draws for 32 / kLanes rows at once and gathers them row by row: lane
// = part of a row, and 32 / parts neighbors side by side. While the rows of one group are on their way it draws for the
// next group, and looks up where the neighbors of the one after that lie.
#include <algorithm>

#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/input_aggregate_kernels.h"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/row_loads.cuh"
#include "gnn/cuda/row_math.cuh"

namespace hone::gnn::cuda {
namespace {

// So many threads, each with the 80 registers it may have, that a multiprocessor has room for nothing else.
constexpr int kBlock = 768;
constexpr int kAhead = 5;  // rows that a lane loads before it adds the first

__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// kMasked: with dropout of any kind.
template <typename In, int kLanes, bool kMasked>
__global__ void __launch_bounds__(kBlock, 1)
    SampleAggregateBesideKernel(GraphOnDevice graph, DeviceRows<In> features, int hop, int fanout,
                                SampleAggregate aggregate, const RunState* state, const BatchHeader* header,
                                const int32_t* nodes) {
  using Out = __nv_bfloat16;
  constexpr int kRows = 32 / kLanes;
  const AggregateKind kind = aggregate.kind;
  const int32_t rows = RowsAfter(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  DropoutKey input_mask = {}, neighbor_mask = {}, self_mask = {};
  if (kMasked) {
    input_mask = MaskKey(aggregate.input_mask, state, header);
    neighbor_mask = MaskKey(aggregate.neighbors, state, header);
    self_mask = MaskKey(aggregate.self, state, header);
  }
  Out* out = static_cast<Out*>(aggregate.out);
  Out* input_rows = static_cast<Out*>(aggregate.input_rows);
  const float own_factor = kind.adds_self && kind.eps != nullptr ? 1.0f + *kind.eps : 1.0f;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes to a feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int side = lane / parts, sides = 32 / parts, part = lane % parts;
  const auto step = static_cast<int32_t>(gridDim.x * blockDim.x / 32) * kRows;
  const auto first_base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kRows;

  struct Found {  // of a lane's row
    uint32_t node;
    int64_t begin;
    int32_t degree;
  };
  const auto find = [&](int32_t base) {
    const int32_t row = base + lane / kLanes;
    Found found = {};
    if (row >= rows) return found;
    found.node = static_cast<uint32_t>(nodes[row]);
    found.begin = __ldg(graph.row_offsets + found.node);
    found.degree = static_cast<int32_t>(__ldg(graph.row_offsets + found.node + 1) - found.begin);
    return found;
  };
  struct Drawn {  // likewise, and the lane's neighbor
    uint32_t node;
    int32_t count;
    int32_t neighbor;
  };
  const auto draw = [&](const Found& found) {
    const int32_t slot = PickSlot<kLanes>(key, found.node, found.degree, fanout, lane % kLanes);
    Drawn drawn = {found.node, found.degree < fanout ? found.degree : fanout, 0};
    if (lane % kLanes < drawn.count) drawn.neighbor = __ldg(graph.columns + found.begin + slot);
    return drawn;
  };

  Drawn drawn = draw(find(first_base));
  Found found = find(first_base + step);
  for (int32_t base = first_base; base < rows; base += step) {
    Drawn next = {};
    bool drew = false;
    for (int r = 0; r < kRows && base + r < rows; ++r) {
      const int32_t neighbors = __shfl_sync(kFullWarp, drawn.count, r * kLanes);
      const uint32_t self = __shfl_sync(kFullWarp, drawn.node, r * kLanes);
      Out* to = out + static_cast<int64_t>(base + r) * vectors * (kind.adds_self ? 8 : 16);
      for (int first = 0; first < vectors; first += parts) {
        const int vector = first + part;
        const bool reads = vector < vectors;
        RawOf<In> own_raw;
        if (reads && side == 0) own_raw = LoadRaw(features.At(self) + vector * 8);
        Float8 sum = {};
        for (int j = 0; j < fanout; j += kAhead * sides) {
          RawOf<In> raw[kAhead];
          int32_t ids[kAhead];
#pragma unroll
          for (int a = 0; a < kAhead; ++a) {
            const int which = j + a * sides + side;
            const int from = r * kLanes + (which < kLanes ? which : 0);
            ids[a] = __shfl_sync(kFullWarp, drawn.neighbor, from);
            if (reads && which < neighbors) raw[a] = LoadRaw(features.At(ids[a]) + vector * 8);
          }
          if (!drew) {
            drew = true;
            next = draw(found);
            found = find(base + 2 * step);
          }
#pragma unroll
          for (int a = 0; a < kAhead; ++a) {
            if (!reads || j + a * sides + side >= neighbors) continue;
            Float8 x = Widen(raw[a]);
            if (kMasked) {
              Drop8(input_mask, static_cast<uint32_t>(ids[a]), static_cast<uint32_t>(vector), x);
              Drop8(neighbor_mask, static_cast<uint32_t>(ids[a]), static_cast<uint32_t>(vector), x);
            }
            Add8(x, sum);
          }
        }
        for (int offset = parts; offset < 32; offset *= 2) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
        }
        if (!reads || side != 0) continue;
        if (kind.mean && neighbors > 0) Scale8(1.0f / static_cast<float>(neighbors), sum);
        Float8 own = Widen(own_raw);
        if (kMasked) Drop8(input_mask, self, static_cast<uint32_t>(vector), own);
        if (input_rows != nullptr) Store8(input_rows + (static_cast<int64_t>(base + r) * vectors + vector) * 8, own);
        if (kMasked) Drop8(self_mask, self, static_cast<uint32_t>(vector), own);
        if (kind.adds_self) {
          Scale8(own_factor, own);
          Add8(own, sum);
        } else {
          Store8(to + (vectors + vector) * 8, own);
        }
        Store8(to + vector * 8, sum);
      }
    }
    drawn = next;
  }
}

// Three quarters of the multiprocessors: what is left is enough for the small kernels beside, and what is taken keeps
// the memory busy.
cudaError_t MostBlocks(int* blocks) {
  int device = 0, count = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  *blocks = std::max(1, count * 3 / 4);
  return error;
}

template <typename In, bool kMasked>
cudaError_t LaunchFor(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const SampleAggregate& aggregate,
                      const RunState* state, const BatchHeader* header, const int32_t* nodes, cudaStream_t stream) {
  const DeviceRows<In> features(graph);
  int most = 0;
  const cudaError_t error = MostBlocks(&most);
  if (error != cudaSuccess) return error;
  const auto blocks = [&](int lanes) {
    const int of_block = kBlock / 32 * (32 / lanes);
    return std::min(most, (rows + of_block - 1) / of_block);
  };
  if (fanout <= 8) {
    Launch(SampleAggregateBesideKernel<In, 8, kMasked>, blocks(8), kBlock, 0, stream, graph, features, hop, fanout,
           aggregate, state, header, nodes);
  } else if (fanout <= 16) {
    Launch(SampleAggregateBesideKernel<In, 16, kMasked>, blocks(16), kBlock, 0, stream, graph, features, hop, fanout,
           aggregate, state, header, nodes);
  } else {
    Launch(SampleAggregateBesideKernel<In, 32, kMasked>, blocks(32), kBlock, 0, stream, graph, features, hop, fanout,
           aggregate, state, header, nodes);
  }
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t EnqueueSampleAggregateBeside(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                         int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                         const BatchHeader* header, const int32_t* nodes, Element out_element,
                                         cudaStream_t stream) {
  if (graph.feature_places != nullptr || out_element != Element::kBFloat16) {
    return EnqueueSampleAggregate(graph, feature_element, hop, fanout, rows, aggregate, state, header, nodes,
                                  out_element, stream);
  }
  const bool masked =
      aggregate.input_mask.threshold != 0 || aggregate.neighbors.threshold != 0 || aggregate.self.threshold != 0;
  const auto launch = [&]<typename In>(In) {
    return masked ? LaunchFor<In, true>(graph, hop, fanout, rows, aggregate, state, header, nodes, stream)
                  : LaunchFor<In, false>(graph, hop, fanout, rows, aggregate, state, header, nodes, stream);
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
