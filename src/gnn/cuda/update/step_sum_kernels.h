// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds up the results of a step's shards, in the order of one binary tree (dist/shard_sum.h), on the device.
//
// A node of the tree has the gradients of its shards as floats, followed by their totals (learn_kernels.h, StepTotal)
// and running statistics as doubles. All lie in one piece of memory, so that one operation sends a node to the other
// ranks. Functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/update/learn_kernels.h"
#include "gnn/cuda/update/peer_exchange_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int kMostMerges = 16;  // levels of the tree: at most 65,536 shards

// A node of the tree, in device memory.
struct SumNode {
  float* floats;    // gradients
  double* doubles;  // totals, then running statistics
};

// The sizes of a tree node, and the arrays with a shard's own values.
struct ShardValues {
  int64_t floats;            // length of the gradient
  int64_t statistics;        // number of running statistics; a node has kStepTotals + statistics doubles
  const float* gradient;     // [floats]
  const BatchHeader* batch;  // gives the totals, with EnqueueSoftmaxLoss's rows; if it is invalid, kTotalMissing is 1
                             // and the others are 0
  const float* row_loss;
  const int32_t* row_correct;
  float* running;       // [statistics]
  const float* before;  // [statistics] values at the beginning of the step
};
// Adds a shard to the tree: out = nodes[0] + … + nodes[merges - 1] + the shard, added from the right. `out` may be the
// leftmost node or the gradient itself. Resets the running statistics to their values before the step.
struct LeafSum {
  ShardValues shard;
  SumNode nodes[kMostMerges];
  int merges;
  SumNode out;
  ExchangeOnDevice room;  // if it has rooms, they replace `out`: this rank's slot in every room, with one flag per
                          // block of LeafBlocks
  int64_t double_offset;  // byte offset of a node's doubles in a slot
};
int LeafBlocks(int64_t floats);
cudaError_t EnqueueAddLeaf(const LeafSum& sum, cudaStream_t stream);

// Computes out = the sum of all nodes of all ranks. Node n begins at parts + places[n] * node_bytes, its doubles
// double_offset bytes further. Nodes are pushed on a stack in order; after node n, the two nodes on top are added,
// merges[n] times.
struct RankSum {
  const unsigned char* parts;
  const int32_t* places;  // [nodes]
  const int32_t* merges;  // [nodes]
  int32_t nodes;
  bool perfect;  // true: the nodes are contiguous and make a perfect binary tree
  int64_t node_bytes, double_offset;
  int64_t floats, doubles;
  SumNode out;
  ExchangeOnDevice room;  // if it has rooms, they replace `parts`: the kernel waits for every rank's slot in this
                          // rank's room
};
cudaError_t EnqueueAddRanks(const RankSum& sum, cudaStream_t stream);

// Does the work of EnqueueAddRanks, EnqueueJudgeStep, EnqueueMeanStatistics, EnqueueAdam and EnqueueFinishSum in one
// kernel, for a step that is not clipped. The summed gradient is not stored; *step and the running statistics are.
struct RankUpdate {
  AdamConstants adam;
  RunState* state;
  const BatchHeader* last;  // see EnqueueJudgeStep
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

// Sets running [statistics] = sums / shards if the step is complete; otherwise leaves it unchanged.
cudaError_t EnqueueMeanStatistics(const BatchHeader* step, const double* sums, int shards, int64_t statistics,
                                  float* running, cudaStream_t stream);

}  // namespace hone::gnn::cuda
