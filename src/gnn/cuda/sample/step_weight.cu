// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements step_weight.h.
#include "gnn/cuda/sample/step_weight.h"

#include "gnn/cuda/base/launch.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

// Sums in one thread block, so that the sum has one order, the same on every rank.
__global__ void StepWeightKernel(GraphOnDevice graph, SeedsOnDevice seeds, const RunState* state,
                                 const float* class_weights, BatchHeader* header) {
  __shared__ double sums[kBlock];
  const int64_t most = static_cast<int64_t>(seeds.batch) * seeds.shards;
  const int64_t first = header->step * most;
  const int64_t end = first + most < seeds.count ? first + most : seeds.count;
  const IndexPermutation order(state->seed, header->epoch, seeds.count);
  double sum = 0;
  for (int64_t i = first + threadIdx.x; i < end && header->valid != 0; i += kBlock) {
    const int32_t label = graph.labels[seeds.nodes[seeds.in_order != 0 ? i : order(i)]];
    if (label >= 0) sum += static_cast<double>(class_weights[label]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) header->weight = sums[0];
}

}  // namespace

cudaError_t EnqueueStepWeight(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const RunState* state,
                              const float* class_weights, BatchHeader* header, cudaStream_t stream) {
  Launch(StepWeightKernel, 1, kBlock, 0, stream, graph, seeds, state, class_weights, header);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
