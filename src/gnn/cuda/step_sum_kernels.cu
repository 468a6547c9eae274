// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of step_sum_kernels.h: a thread a value, which goes through the tree by itself.
#include "gnn/cuda/launch.h"
#include "gnn/cuda/learn_kernels.h"
#include "gnn/cuda/step_sum_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

int Blocks(int64_t items) { return static_cast<int>((items + kBlock - 1) / kBlock); }

__global__ void AddLeafKernel(LeafSum sum) {
  const ShardValues& shard = sum.shard;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < shard.floats) {
    float value = shard.gradient[i];
    for (int n = sum.merges; n-- > 0;) value = sum.nodes[n].floats[i] + value;
    sum.out.floats[i] = value;
    return;
  }
  i -= shard.floats;
  if (i >= kStepTotals + shard.statistics) return;
  double value = 0;
  if (i < kStepTotals) {
    value = shard.totals[i];
  } else {
    value = static_cast<double>(shard.running[i - kStepTotals]);
    shard.running[i - kStepTotals] = shard.before[i - kStepTotals];
  }
  for (int n = sum.merges; n-- > 0;) value = sum.nodes[n].doubles[i] + value;
  sum.out.doubles[i] = value;
}

template <typename T>
__device__ T AddUp(const RankSum& sum, int64_t offset, int64_t i) {
  T stack[kMostMerges + 1];
  int top = 0;
  for (int32_t n = 0; n < sum.nodes; ++n) {
    const unsigned char* node = sum.parts + sum.places[n] * sum.node_bytes + offset;
    T value = reinterpret_cast<const T*>(node)[i];
    for (int32_t merge = sum.merges[n]; merge > 0; --merge) value = stack[--top] + value;
    stack[top++] = value;
  }
  return stack[0];
}

__global__ void AddRanksKernel(RankSum sum) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < sum.floats) {
    sum.out.floats[i] = AddUp<float>(sum, 0, i);
  } else if (i < sum.floats + sum.doubles) {
    sum.out.doubles[i - sum.floats] = AddUp<double>(sum, sum.double_offset, i - sum.floats);
  }
}

__global__ void MeanStatisticsKernel(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                     float* running) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < statistics && step->valid != 0) running[i] = static_cast<float>(sums[i] / shards);
}

}  // namespace

cudaError_t EnqueueAddLeaf(const LeafSum& sum, cudaStream_t stream) {
  Launch(AddLeafKernel, Blocks(sum.shard.floats + kStepTotals + sum.shard.statistics), kBlock, 0, stream, sum);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueAddRanks(const RankSum& sum, cudaStream_t stream) {
  Launch(AddRanksKernel, Blocks(sum.floats + sum.doubles), kBlock, 0, stream, sum);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueMeanStatistics(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                  float* running, cudaStream_t stream) {
  if (statistics == 0) return cudaSuccess;
  Launch(MeanStatisticsKernel, Blocks(statistics), kBlock, 0, stream, step, sums, shards, statistics, running);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
