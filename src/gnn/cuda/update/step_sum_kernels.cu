// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the kernels of step_sum_kernels.h: each thread sums one value over the whole tree.
#include "gnn/cuda/update/step_sum_kernels.h"

#include <algorithm>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/update/peer_flags.cuh"
#include "gnn/cuda/update/update.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = kUpdateThreads;

int64_t Blocks(int64_t items) { return (items + kBlock - 1) / kBlock; }

__device__ float4 operator+(const float4& a, const float4& b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// Adds a shard with four values per thread; the last block handles the totals and the statistics.
__global__ void AddLeafKernel(LeafSum sum) {
  __shared__ double losses[kBlock];
  __shared__ int32_t correct_seeds[kBlock], counted_seeds[kBlock];
  __shared__ uint32_t shared_turn;
  const ShardValues& shard = sum.shard;
  uint32_t turn = 0;
  if (sum.room.rooms != nullptr) {
    if (threadIdx.x == 0) shared_turn = ++sum.room.turns[blockIdx.x];
    __syncthreads();
    turn = shared_turn;
  }
  const auto put = [&](auto value, int64_t offset, auto* out) {
    if (sum.room.rooms == nullptr) {
      *out = value;
      return;
    }
    for (int ahead = 0; ahead < sum.room.ranks; ++ahead) {
      unsigned char* const slot = Slot(sum.room, (sum.room.rank + ahead) % sum.room.ranks, turn, sum.room.rank);
      *reinterpret_cast<decltype(value)*>(slot + offset) = value;
    }
  };
  if (blockIdx.x + 1 < gridDim.x) {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) * 4;
    if (i < shard.floats) {
      float4 value = *reinterpret_cast<const float4*>(shard.gradient + i);
      for (int n = sum.merges; n-- > 0;) value = *reinterpret_cast<const float4*>(sum.nodes[n].floats + i) + value;
      put(value, i * 4, reinterpret_cast<float4*>(sum.out.floats + i));
    }
    if (sum.room.rooms != nullptr) RaiseForAll(sum.room, turn, blockIdx.x);
    return;
  }
  BatchSums sums = {};
  const bool valid = shard.batch->valid != 0;
  if (valid) sums = SumRows(shard.batch, shard.row_loss, shard.row_correct, losses, correct_seeds, counted_seeds);
  for (int64_t i = threadIdx.x; i < kStepTotals + shard.statistics; i += kBlock) {
    double value = 0;
    if (i >= kStepTotals) {
      value = static_cast<double>(shard.running[i - kStepTotals]);
      shard.running[i - kStepTotals] = shard.before[i - kStepTotals];
    } else if (i == kTotalLoss) {
      value = sums.loss;
    } else if (i == kTotalCounted) {
      value = sums.counted;
    } else if (i == kTotalCorrect) {
      value = sums.correct;
    } else if (i == kTotalMissing) {
      value = valid ? 0 : 1;
    }
    for (int n = sum.merges; n-- > 0;) value = sum.nodes[n].doubles[i] + value;
    put(value, sum.double_offset + i * 8, sum.out.doubles + i);
  }
  if (sum.room.rooms != nullptr) RaiseForAll(sum.room, turn, blockIdx.x);
}

// Finds the nodes of this turn in a sum with a room, into which EnqueueAddLeaf has begun to write them, and awaits
// slices of the nodes with all threads of a block. The last slice has the doubles. Without a room nothing is awaited.
struct RoomOfTurn {
  uint32_t turn = 0;
  __device__ explicit RoomOfTurn(RankSum& sum) {
    if (sum.room.rooms == nullptr) return;
    turn = sum.room.turns[0];
    sum.parts = Slot(sum.room, sum.room.rank, turn, 0);
  }
  __device__ void Await(const RankSum& sum, int64_t slice) const {
    if (sum.room.rooms != nullptr) AwaitAll(sum.room, turn, static_cast<unsigned>(slice));
  }
  __device__ void AwaitDoubles(const RankSum& sum) const { Await(sum, sum.room.slices - 1); }
};
constexpr int kSlice = kBlock * 4;  // floats per block of AddLeafKernel

template <typename T>
__device__ T AddUp(const RankSum& sum, int64_t offset, int64_t i) {
  T stack[kMostMerges + 1];
  stack[0] = {};
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
  const RoomOfTurn room(sum);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlock, i = first + threadIdx.x;
  if (first < sum.floats) room.Await(sum, first / kSlice);
  if (first + kBlock > sum.floats) room.AwaitDoubles(sum);
  if (i < sum.floats) {
    sum.out.floats[i] = AddUp<float>(sum, 0, i);
  } else if (i < sum.floats + sum.doubles) {
    sum.out.doubles[i - sum.floats] = AddUp<double>(sum, sum.double_offset, i - sum.floats);
  }
}

// Sums four values over a perfect tree of kNodes contiguous nodes, all loaded at once. kNodes 0: any tree, by AddUp.
template <int kNodes>
__device__ float4 AddFour(const RankSum& sum, int64_t i) {
  if constexpr (kNodes == 0) {
    return AddUp<float4>(sum, 0, i / 4);
  } else {
    float4 value[kNodes];
#pragma unroll
    for (int n = 0; n < kNodes; ++n) value[n] = *reinterpret_cast<const float4*>(sum.parts + n * sum.node_bytes + i * 4);
#pragma unroll
    for (int stride = 1; stride < kNodes; stride *= 2) {
#pragma unroll
      for (int n = 0; n < kNodes; n += 2 * stride) value[n] = value[n] + value[n + stride];
    }
    return value[0];
  }
}

// Sums, updates the parameters and ends the step; the last block to end adds the step to the totals.
template <int kNodes, typename T>
__global__ void __launch_bounds__(kBlock) UpdateFromRanksKernel(RankSum sum, RankUpdate update) {
  __shared__ bool last;
  RunState* state = update.state;
  const RoomOfTurn room(sum);
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kBlock;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const auto load = [&](int64_t i) -> FourParameters {
    return {AddFour<kNodes>(sum, i), *reinterpret_cast<const float4*>(update.master + i),
            *reinterpret_cast<const float4*>(update.moment1 + i), *reinterpret_cast<const float4*>(update.moment2 + i)};
  };
  FourParameters four = {};
  room.Await(sum, blockIdx.x);
  if (thread * 4 < sum.floats) four = load(thread * 4);
  room.AwaitDoubles(sum);
  const bool all_ranks_added = AddUp<double>(sum, sum.double_offset, kTotalMissing) == 0;
  const bool valid = all_ranks_added && update.last->step == state->trained_steps;
  if (!valid || state->failure != kNoFailure) {  // no block changes what this condition reads
    if (thread == 0) JudgeStep(all_ranks_added, *update.last, state, update.step, update.progress);
    return;
  }
  for (int64_t i = thread; i < update.statistics; i += stride) {
    update.running[i] = static_cast<float>(AddUp<double>(sum, sum.double_offset, kStepTotals + i) / update.shards);
  }
  const AdamRates rates = RatesOf(update.adam, *state);
  // All threads of a block take equally many turns, because they wait together.
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * kSlice; first < sum.floats;) {
    const int64_t i = first + threadIdx.x * 4;
    if (i < sum.floats) {
      UpdateFour(update.adam, rates, four, state, update.master + i, update.moment1 + i, update.moment2 + i,
                 static_cast<T*>(update.compute) + i);
    }
    first += stride * 4;
    if (first >= sum.floats) break;
    room.Await(sum, first / kSlice);
    if (i + stride * 4 < sum.floats) four = load(i + stride * 4);
  }
  if (!EndsLast(state, &last) || threadIdx.x != 0) return;
  state->updated_blocks = 0;
  JudgeStep(all_ranks_added, *update.last, state, update.step, update.progress);
  const auto total = [&](StepTotal which) { return AddUp<double>(sum, sum.double_offset, which); };
  KeepBooks({total(kTotalLoss), static_cast<int32_t>(total(kTotalCorrect)), static_cast<int32_t>(total(kTotalCounted))},
            update.last->weight, /*trains=*/true, state, update.progress);
}

template <int kNodes>
void LaunchUpdate(const RankSum& sum, const RankUpdate& update, cudaStream_t stream) {
  const int blocks = static_cast<int>(std::min<int64_t>(Blocks(sum.floats / 4), kUpdateBlocks));
  if (update.element == Element::kFloat32) {
    Launch(UpdateFromRanksKernel<kNodes, float>, blocks, kBlock, 0, stream, sum, update);
  } else {
    Launch(UpdateFromRanksKernel<kNodes, __nv_bfloat16>, blocks, kBlock, 0, stream, sum, update);
  }
}

__global__ void MeanStatisticsKernel(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                     float* running) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < statistics && step->valid != 0) running[i] = static_cast<float>(sums[i] / shards);
}

}  // namespace

int LeafBlocks(int64_t floats) { return static_cast<int>(Blocks(floats / 4)) + 1; }

cudaError_t EnqueueAddLeaf(const LeafSum& sum, cudaStream_t stream) {
  if (sum.shard.floats % 4 != 0) return cudaErrorInvalidValue;
  Launch(AddLeafKernel, LeafBlocks(sum.shard.floats), kBlock, 0, stream, sum);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueAddRanks(const RankSum& sum, cudaStream_t stream) {
  Launch(AddRanksKernel, static_cast<int>(Blocks(sum.floats + sum.doubles)), kBlock, 0, stream, sum);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueUpdateFromRanks(const RankSum& sum, const RankUpdate& update, cudaStream_t stream) {
  if (sum.floats % 4 != 0) return cudaErrorInvalidValue;
  switch (sum.perfect ? sum.nodes : 0) {
    case 2: LaunchUpdate<2>(sum, update, stream); break;
    case 4: LaunchUpdate<4>(sum, update, stream); break;
    case 8: LaunchUpdate<8>(sum, update, stream); break;
    default: LaunchUpdate<0>(sum, update, stream);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueMeanStatistics(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                  float* running, cudaStream_t stream) {
  if (statistics == 0) return cudaSuccess;
  Launch(MeanStatisticsKernel, static_cast<int>(Blocks(statistics)), kBlock, 0, stream, step, sums, shards, statistics, running);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
