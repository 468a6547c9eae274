// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum over the virtual shards of a step, on one GPU or on those of several ranks, with the same bits on any number
// of them.
//
// What ShardSum (dist/shard_sum.h) does on the host, enqueued: a rank adds up whole branches of the tree over the
// shards while its shards are computed; one all-gather brings everybody the branches of all ranks, gradients, totals
// and running statistics in one piece; every rank adds those up in the tree's order. Where GPUs write into one another's
// memory (peer_exchange.h) and a rank has one branch, the kernel that ends the branch writes it to all, and the kernel that
// updates waits for it: there is no gather between the two. An all-reduce would move less where there are many ranks, in
// an order of NCCL's own; what a gather over four costs stands in docs/design/0019.
#pragma once

#include <vector>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/update/learn_kernels.h"
#include "gnn/cuda/update/peer_exchange_kernels.h"
#include "gnn/cuda/update/step_sum_kernels.h"
#include "gnn/dist/gradient_exchange.h"
#include "gnn/dist/shard_sum.h"

namespace hone::gnn::cuda {

class StepSum {
 public:
  // `parameters` and `ranks` are borrowed; `ranks` is null for one rank. `shards` is a multiple of the ranks.
  Status Make(const DeviceParameters& parameters, int shards, GradientExchange* ranks);

  // One step is: Begin, EndShard for each of this rank's shards in order, Finish.
  Status EnqueueBegin(cudaStream_t stream) const;
  // What the backward pass of local shard `shard` left in the parameters' gradients and running statistics.
  Status EnqueueEndShard(int shard, const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                         cudaStream_t stream) const;
  // Leaves the sum in the parameters' gradients and the mean in their statistics, where the step is whole.
  // Collective. `last`: see EnqueueJudgeStep.
  Status EnqueueFinish(const BatchHeader* last, RunState* state, volatile HostProgress* progress,
                       cudaStream_t stream) const;
  // Of several ranks, instead of EnqueueFinish and all that a step without clipping needs after it: updates the
  // parameters by the sum and keeps the books. Collective.
  Status EnqueueFinishAndUpdate(const AdamOptions& adam, const BatchHeader* last, RunState* state,
                                volatile HostProgress* progress, cudaStream_t stream) const;
  const BatchHeader* step() const { return step_.get(); }  // after Finish
  const double* totals() const { return totals_.get(); }   // [kStepTotals], likewise

 private:
  SumNode Node(size_t which) const;
  Status EnqueueGather(cudaStream_t stream) const;
  bool shares() const { return room_.rooms != nullptr; }
  RankSum OfRanks() const;

  const DeviceParameters* parameters_ = nullptr;
  GradientExchange* ranks_ = nullptr;
  int shards_ = 1;
  std::vector<size_t> merges_;  // by local shard: nodes added up when it is done
  size_t sent_ = 1;             // nodes that each rank sends, some of them meaningless where it has fewer
  int64_t node_bytes_ = 0, double_offset_ = 0;
  DeviceArray<unsigned char> nodes_, parts_;
  ExchangeOnDevice room_;  // where each rank's only branch goes at once; without rooms where that is not so
  bool perfect_ = false;
  DeviceArray<double> totals_;
  DeviceArray<float> before_;
  DeviceArray<BatchHeader> step_;
  DeviceArray<int32_t> rank_places_, rank_merges_;
};

}  // namespace hone::gnn::cuda
