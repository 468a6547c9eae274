// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the outermost hop of hop_sums.h. A warp draws for one to four rows and gathers them, each lane a part of a
// feature row; lane groups that would be idle share a row's neighbors. Features need no gradient, so there is no
// backward pass.
#include <algorithm>
#include <type_traits>

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/hop_sums.h"
#include "gnn/cuda/kernels/symmetric_scales.cuh"

namespace hone::gnn::cuda {
namespace {

// A thread block takes all registers of a multiprocessor and stays to the end, on a share of the multiprocessors. The
// others are left to the concurrent chain of small kernels, as in outermost_kernels.cu.
constexpr int kBlock = 1024;
template <typename In>
constexpr int kAhead = sizeof(In) == 2 ? 5 : 3;  // rows that a lane loads before it adds the first

__device__ inline float DegreeOf(const GraphOnDevice& graph, int32_t node) {
  return static_cast<float>(__ldg(graph.row_offsets + node + 1) - __ldg(graph.row_offsets + node));
}

// The running sum, or the running maximum, of eight columns.
struct Gathered8 {
  Float8 sum = {};
  bool has_row = false;

  __device__ void Take(bool maximum, float weight, const Float8& x) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sum.v[i] = maximum ? (has_row ? fmaxf(sum.v[i], x.v[i]) : x.v[i]) : sum.v[i] + weight * x.v[i];
    }
    has_row = true;
  }
  // Combines with the sum or maximum of the lane group `offset` lanes away; the whole warp calls this.
  __device__ void Join(bool maximum, int offset) {
    const bool other_has_row = __shfl_xor_sync(kFullWarp, static_cast<int>(has_row), offset) != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float other = __shfl_xor_sync(kFullWarp, sum.v[i], offset);
      if (!maximum) {
        sum.v[i] += other;
      } else if (other_has_row) {
        sum.v[i] = has_row ? fmaxf(sum.v[i], other) : other;
      }
    }
    has_row = has_row || other_has_row;
  }
};

// Writes a vector of the output row from the sum over `count` neighbors and the node's own row.
template <typename Rows, typename Place, typename Out>
__device__ inline void Finish(HopSum kind, const Rows& features, Place own_place, float degree, int32_t count,
                              int vector, Float8 sum, Out* to) {
  const float factor = SumScale(kind, degree, count);
#pragma unroll
  for (int i = 0; i < 8; ++i) sum.v[i] *= factor;
  if (kind == HopSum::kSymmetric) {
    const Float8 x = Load8(features.At(own_place) + vector * 8);
    const float weight = OwnScale(degree);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] += weight * x.v[i];
  }
  Store8(to, sum);
}

// Draws and sums up to kLanes neighbors per row.
template <typename Rows, typename Out, int kLanes>
__global__ void __launch_bounds__(kBlock, 1)
    DrawnSumKernel(HopSum kind, GraphOnDevice graph, Rows features, int hop, int fanout, const RunState* state,
                   const BatchHeader* header, const int32_t* nodes, Out* out) {
  using In = std::remove_cv_t<std::remove_pointer_t<decltype(features.At(0))>>;
  constexpr int kRows = 32 / kLanes;
  const int32_t rows = RowsAfter(header, hop);
  const bool symmetric = kind == HopSum::kSymmetric, maximum = kind == HopSum::kMax;
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes that hold a feature row side by side, eight columns each
  while (parts < vectors && parts < 32) parts *= 2;
  const int lane_groups = 32 / parts, lane_group = lane / parts, part = lane % parts;
  const int rows_at_once =
      lane_groups < kRows
          ? lane_groups
          : kRows;  // rows that the warp reads side by side; several lane groups divide the neighbors of one row
  const int groups_a_row = lane_groups / rows_at_once;
  const int group_of_row = lane_group % groups_a_row;
  const auto warps = static_cast<int32_t>(gridDim.x * (kBlock / 32));
  const auto warp = static_cast<int32_t>(threadIdx.x / 32 * gridDim.x + blockIdx.x);
  for (int32_t base = warp * kRows; base < rows; base += warps * kRows) {
    const int32_t drawn_row = base + lane / kLanes;
    const bool active = drawn_row < rows;
    const uint32_t node = active ? static_cast<uint32_t>(nodes[drawn_row]) : 0;
    const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
    const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
    const auto own_place = features.Place(node);
    const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
    const int32_t count = degree < fanout ? degree : fanout;
    const bool has_slot = active && lane % kLanes < count;
    const int32_t id = has_slot ? __ldg(graph.columns + begin + slot) : 0;
    const auto neighbor = features.Place(id);
    const float weight = symmetric && has_slot ? SourceScale(DegreeOf(graph, id)) : 1.0f;

    for (int r = 0; r < kRows; r += rows_at_once) {
      const int row_in_warp = r + lane_group / groups_a_row;
      const int32_t row = base + row_in_warp;
      const int32_t neighbors = __shfl_sync(kFullWarp, count, row_in_warp * kLanes);
      const int32_t row_degree = __shfl_sync(kFullWarp, degree, row_in_warp * kLanes);
      const auto row_place = __shfl_sync(kFullWarp, own_place, row_in_warp * kLanes);
      for (int first = 0; first < vectors; first += parts) {
        const int vector = first + part;
        const bool reads = row < rows && vector < vectors;
        Gathered8 gathered;
        for (int j = 0; j < fanout; j += kAhead<In> * groups_a_row) {
          RawOf<In> raw[kAhead<In>];
#pragma unroll
          for (int a = 0; a < kAhead<In>; ++a) {
            const int at = j + a * groups_a_row + group_of_row;
            const auto place = __shfl_sync(kFullWarp, neighbor, row_in_warp * kLanes + at % kLanes);
            if (reads && at < neighbors) raw[a] = LoadRaw(features.At(place) + vector * 8);
          }
#pragma unroll
          for (int a = 0; a < kAhead<In>; ++a) {
            const int at = j + a * groups_a_row + group_of_row;
            const float w = __shfl_sync(kFullWarp, weight, row_in_warp * kLanes + at % kLanes);
            if (reads && at < neighbors) gathered.Take(maximum, w, Widen(raw[a]));
          }
        }
        for (int offset = parts; offset < parts * groups_a_row; offset *= 2) gathered.Join(maximum, offset);
        if (!reads || group_of_row != 0) continue;
        Finish(kind, features, row_place, static_cast<float>(row_degree), neighbors, vector, gathered.sum,
               out + (static_cast<int64_t>(row) * vectors + vector) * 8);
      }
    }
  }
}

// Handles any fanout, one warp per row.
template <typename Rows, typename Out>
__global__ void __launch_bounds__(256)
    WideDrawnSumKernel(HopSum kind, GraphOnDevice graph, Rows features, int hop, int fanout, const RunState* state,
                       const BatchHeader* header, const int32_t* nodes, Out* out) {
  using In = std::remove_cv_t<std::remove_pointer_t<decltype(features.At(0))>>;
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, hop)) return;
  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(fanout);
  const bool symmetric = kind == HopSum::kSymmetric, maximum = kind == HopSum::kMax;
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto self = static_cast<uint32_t>(nodes[row]);
  const DrawnRow drawn = DrawRow(graph, key, self, fanout, shared);
  const auto own_place = features.Place(self);
  const float degree = DegreeOf(graph, static_cast<int32_t>(self));
  const int vectors = graph.feature_vectors;
  int parts = 1;
  while (parts < vectors && parts < 32) parts *= 2;
  const int lane_group = lane / parts, lane_groups = 32 / parts, part = lane % parts;
  for (int first = 0; first < vectors; first += parts) {
    const int vector = first + part;
    const bool reads = vector < vectors;
    Gathered8 gathered;
    for (int32_t first_slot = 0; first_slot < drawn.count; first_slot += 32) {
      const bool has_slot = first_slot + lane < drawn.count;
      const int32_t id = has_slot ? drawn.Source(graph, first_slot + lane) : 0;
      const auto neighbor = features.Place(id);
      const float weight = symmetric && has_slot ? SourceScale(DegreeOf(graph, id)) : 1.0f;
      const int32_t chunk = min(32, drawn.count - first_slot);
      for (int j = 0; j < chunk; j += lane_groups * kAhead<In>) {
        RawOf<In> raw[kAhead<In>];
#pragma unroll
        for (int a = 0; a < kAhead<In>; ++a) {
          const int at = j + a * lane_groups + lane_group;
          const auto place = __shfl_sync(kFullWarp, neighbor, at % 32);
          if (reads && at < chunk) raw[a] = LoadRaw(features.At(place) + vector * 8);
        }
#pragma unroll
        for (int a = 0; a < kAhead<In>; ++a) {
          const int at = j + a * lane_groups + lane_group;
          const float w = __shfl_sync(kFullWarp, weight, at % 32);
          if (reads && at < chunk) gathered.Take(maximum, w, Widen(raw[a]));
        }
      }
    }
    for (int offset = parts; offset < 32; offset *= 2) gathered.Join(maximum, offset);
    if (!reads || lane_group != 0) continue;
    Finish(kind, features, own_place, degree, drawn.count, vector, gathered.sum,
           out + (static_cast<int64_t>(row) * vectors + vector) * 8);
  }
}

template <typename Rows, typename Out>
cudaError_t LaunchDrawnSum(HopSum kind, const GraphOnDevice& graph, const Rows& features, int hop, int fanout,
                           int32_t rows, float multiprocessor_share, const RunState* state, const BatchHeader* header,
                           const int32_t* nodes, Out* out, cudaStream_t stream) {
  int device = 0, multiprocessors = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const cudaError_t query_error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (query_error != cudaSuccess) return query_error;
  const auto launch = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    // kLanes lanes draw for one row.
    constexpr int kRowsABlock = 32 / kLanes * kBlock / 32;
    const int max_blocks = std::max(1, static_cast<int>(multiprocessor_share * static_cast<float>(multiprocessors)));
    return Launch(DrawnSumKernel<Rows, Out, kLanes>, std::min(max_blocks, (rows + kRowsABlock - 1) / kRowsABlock),
                  kBlock, 0, stream, kind, graph, features, hop, fanout, state, header, nodes, out);
  };
  if (fanout <= 8) return launch(std::integral_constant<int, 8>{});
  if (fanout <= kNarrowFanout) return launch(std::integral_constant<int, 32>{});
  const int warps = WideWarps(fanout);
  return Launch(WideDrawnSumKernel<Rows, Out>, (rows + warps - 1) / warps, 32 * warps, warps * WideDrawBytes(fanout),
                stream, kind, graph, features, hop, fanout, state, header, nodes, out);
}

}  // namespace

cudaError_t EnqueueDrawnSum(HopSum kind, const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                            int32_t rows, float share, const RunState* state, const BatchHeader* header,
                            const int32_t* nodes, Element out_element, void* out, cudaStream_t stream) {
  const auto launch = [&]<typename In>(In) {
    return WithRows<In>(graph, [&](const auto& features) {
      if (out_element == Element::kFloat32) {
        return LaunchDrawnSum(kind, graph, features, hop, fanout, rows, share, state, header, nodes,
                              static_cast<float*>(out), stream);
      }
      return LaunchDrawnSum(kind, graph, features, hop, fanout, rows, share, state, header, nodes,
                            static_cast<__nv_bfloat16*>(out), stream);
    });
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
