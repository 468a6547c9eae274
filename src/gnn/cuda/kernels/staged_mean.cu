// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/kernels/staged_mean.h"

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/drawn_mean.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 128;

// Returns the place of a drawn row: `place`, or for the few rows without a recorded place (~id) the map's.
template <typename T>
__device__ int32_t Resolve(const CachedRows<T>& features, int32_t place) {
  return place >= 0 ? place : features.Place(static_cast<uint32_t>(~place));
}

// Gathers 32 / kLanes rows per warp from their recorded places.
template <typename T, typename Out, int kLanes>
__global__ void __launch_bounds__(kBlock)
    StagedMeanKernel(GraphOnDevice graph, CachedRows<T> features, int hop, int fanout, const BatchHeader* header,
                     DrawnPlaces drawn, Out* out) {
  constexpr int kRows = 32 / kLanes;
  const int32_t rows = RowsAfter(header, hop);
  const int32_t base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kRows;
  if (base >= rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t row = base + lane / kLanes;
  const bool active = row < rows;
  const bool has_slot = active && lane % kLanes < fanout;
  const int32_t own_place = active ? __ldg(drawn.own + row) : 0;
  const int32_t slot_place = has_slot ? __ldg(drawn.slots + static_cast<int64_t>(row) * fanout + lane % kLanes) : kNoPlace;
  const unsigned group = kLanes == 32 ? kFullWarp : ((1u << (kLanes % 32)) - 1u) << (lane / kLanes * kLanes);
  const int32_t count = __popc(__ballot_sync(kFullWarp, slot_place != kNoPlace) & group);
  const int32_t own = Resolve(features, own_place);
  const int32_t neighbor = slot_place != kNoPlace ? Resolve(features, slot_place) : 0;
  MeansOfDrawn<kLanes>(features, graph.feature_vectors, fanout, base, rows, own, count, neighbor, out);
}

template <typename T, typename Out>
cudaError_t LaunchStagedMean(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const BatchHeader* header,
                             const DrawnPlaces& drawn, Out* out, cudaStream_t stream) {
  const auto launch = [&](auto kernel, int lanes) {
    const int rows_a_block = kBlock / lanes;
    return Launch(kernel, (rows + rows_a_block - 1) / rows_a_block, kBlock, 0, stream, graph, CachedRows<T>(graph), hop,
                  fanout, header, drawn, out);
  };
  if (fanout <= 8) return launch(StagedMeanKernel<T, Out, 8>, 8);
  return fanout <= 16 ? launch(StagedMeanKernel<T, Out, 16>, 16) : launch(StagedMeanKernel<T, Out, 32>, 32);
}

}  // namespace

cudaError_t EnqueueStagedMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const BatchHeader* header, const DrawnPlaces& drawn, Element out_element, void* out,
                              cudaStream_t stream) {
  const auto launch = [&]<typename T>(T) {
    return out_element == Element::kFloat32
               ? LaunchStagedMean<T>(graph, hop, fanout, rows, header, drawn, static_cast<float*>(out), stream)
               : LaunchStagedMean<T>(graph, hop, fanout, rows, header, drawn, static_cast<__nv_bfloat16*>(out), stream);
  };
  switch (feature_element) {
    case Element::kFloat32: return launch(float{});
    case Element::kFloat16: return launch(__half{});
    case Element::kBFloat16: return launch(__nv_bfloat16{});
  }
  return cudaErrorInvalidValue;
}

}  // namespace hone::gnn::cuda
