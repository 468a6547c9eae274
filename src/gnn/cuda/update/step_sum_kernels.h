// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds up what the shards of a step made, in the order of one binary tree (dist/shard_sum.h), on the device.
//
// A node of the tree has the gradients of its shards as floats and, as doubles, their totals (learn_kernels.h,
// StepTotal) and running statistics behind them. Both lie in one piece of memory, so that one operation brings it to
// the other ranks. Enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/update/learn_kernels.h"
#include "gnn/cuda/update/peer_exchange_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int kMostMerges = 16;  // 65,536 shards

struct SumNode {
  float* floats;
  double* doubles;
};

// How many values a node has, and what a shard leaves its own in.
struct ShardValues {
  int64_t floats;            // of the gradient
  int64_t statistics;        // running statistics; the doubles are kStepTotals + statistics
  const float* gradient;     // [floats]
  const BatchHeader* batch;  // its totals: of EnqueueSoftmaxLoss's rows; of a batch that is not valid kTotalMissing is 1, the others 0
  const float* row_loss;
  const int32_t* row_correct;
  float* running;       // [statistics]
  const float* before;  // [statistics] at the step's beginning
};
// out = node[0] + … + node[merges - 1] + the shard, added from the right; `out` may be the leftmost node or the
// gradient itself. The running statistics go back to what they were before the step.
struct LeafSum {
  ShardValues shard;
  SumNode nodes[kMostMerges];
  int merges;
  SumNode out;
  ExchangeOnDevice room;  // with rooms: `out` is every rank's slot for this one, a flag for each of LeafBlocks
  int64_t double_offset;  // of a slot
};
int LeafBlocks(int64_t floats);
cudaError_t EnqueueAddLeaf(const LeafSum& sum, cudaStream_t stream);

// out = all nodes of all ranks. Node n begins at parts + places[n] * node_bytes, its doubles double_offset further,
// and after it was put on a stack the two on top are added merges[n] times.
struct RankSum {
  const unsigned char* parts;
  const int32_t* places;  // [nodes]
  const int32_t* merges;  // [nodes]
  int32_t nodes;
  bool perfect;  // the nodes lie one behind the other and make a perfect binary tree
  int64_t node_bytes, double_offset;
  int64_t floats, doubles;
  SumNode out;
  ExchangeOnDevice room;  // with rooms: the nodes are this rank's slots, each waited for
};
cudaError_t EnqueueAddRanks(const RankSum& sum, cudaStream_t stream);

// EnqueueAddRanks, EnqueueJudgeStep, EnqueueMeanStatistics, EnqueueAdam and EnqueueFinishSum in one kernel, for a step that
// is not clipped; the sum itself is left nowhere, but for what belongs to the step (*step, running statistics).
struct RankUpdate {
  AdamOptions adam;
  RunState* state;
  const BatchHeader* last;  // as EnqueueJudgeStep's
  BatchHeader* step;
  float *master, *moment1, *moment2;  // [sum.floats]
  Element element;
  void* compute;
  int shards;
  int64_t statistics;
  float* running;  // [statistics]
  volatile HostProgress* progress;
};
cudaError_t EnqueueUpdateFromRanks(const RankSum& sum, const RankUpdate& update, cudaStream_t stream);

// running [statistics] = sums / shards, for a step that is whole; otherwise they stay.
cudaError_t EnqueueMeanStatistics(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                  float* running, cudaStream_t stream);

}  // namespace hone::gnn::cuda
