// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements sample_mean.h.
#include "gnn/cuda/kernels/sample_mean.h"

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/drawn_mean.cuh"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kSampleMeanBlock = 128;

int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }

// Each warp draws for 32 / kLanes rows at once and then gathers them.
template <typename Rows, typename Out, int kLanes>
__global__ void __launch_bounds__(kSampleMeanBlock)
    SampleMeanKernel(GraphOnDevice graph, Rows features, int hop, int fanout, const RunState* state,
                     const BatchHeader* header, const int32_t* nodes, Out* out) {
  constexpr int kRows = 32 / kLanes;
  const int32_t rows = RowsAfter(header, hop);
  const int32_t warp = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int32_t base = warp * kRows;
  if (base >= rows) return;
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t drawn_row = base + lane / kLanes;
  const bool active = drawn_row < rows;
  const uint32_t node = active ? static_cast<uint32_t>(nodes[drawn_row]) : 0;
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const auto own_place = features.Place(node);
  const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
  const int32_t count = degree < fanout ? degree : fanout;
  const int32_t neighbor = active && lane % kLanes < count ? features.Place(__ldg(graph.columns + begin + slot)) : 0;

  MeansOfDrawn<kLanes>(features, graph.feature_vectors, fanout, base, rows, own_place, count, neighbor, out);
}

template <typename Rows, typename Out>
cudaError_t LaunchSampleMean(const GraphOnDevice& graph, const Rows& features, int hop, int fanout, int32_t rows, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, Out* out, cudaStream_t stream) {
  if (fanout <= 8) {
    Launch(SampleMeanKernel<Rows, Out, 8>, Blocks(rows, 4 * kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else if (fanout <= 16) {
    Launch(SampleMeanKernel<Rows, Out, 16>, Blocks(rows, 2 * kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else {
    Launch(SampleMeanKernel<Rows, Out, 32>, Blocks(rows, kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  }
  return cudaPeekAtLastError();
}

template <typename In>
cudaError_t LaunchSampleMean(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, Element out_element, void* out,
                             cudaStream_t stream) {
  return WithRows<In>(graph, [&](const auto& features) {
    if (out_element == Element::kFloat32) {
      return LaunchSampleMean(graph, features, hop, fanout, rows, state, header, nodes, static_cast<float*>(out), stream);
    }
    return LaunchSampleMean(graph, features, hop, fanout, rows, state, header, nodes, static_cast<__nv_bfloat16*>(out),
                            stream);
  });
}

}  // namespace

cudaError_t EnqueueSampleMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const RunState* state, const BatchHeader* header, const int32_t* nodes,
                              Element out_element, void* out, cudaStream_t stream) {
  if (fanout > kNarrowFanout) {
    SampleAggregate aggregate;
    aggregate.kind.mean = true;
    aggregate.out = out;
    return EnqueueWideSampleAggregate(graph, feature_element, hop, fanout, rows, aggregate, /*by_maximum=*/false, state,
                                      header, nodes, out_element, stream);
  }
  cudaError_t error = cudaErrorInvalidValue;
  switch (feature_element) {
    case Element::kFloat32:
      error = LaunchSampleMean<float>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
    case Element::kFloat16:
      error = LaunchSampleMean<__half>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
    case Element::kBFloat16:
      error = LaunchSampleMean<__nv_bfloat16>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
  }
  return error;
}

}  // namespace hone::gnn::cuda
