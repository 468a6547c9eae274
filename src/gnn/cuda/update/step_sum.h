// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums over the virtual shards of a step. The shards are those of one GPU or of several ranks' GPUs, and the sum has
// the same bits on any number of GPUs.
//
// The device does what ShardSum (dist/shard_sum.h) does on the host. A rank adds up whole branches of the tree over the
// shards while its shards are computed. One all-gather brings every rank the branches of all ranks (gradients, totals
// and running statistics in one piece), and every rank adds them up in the tree's order. If GPUs write into one
// another's memory (peer_exchange.h) and a rank has one branch, no gather is launched: the kernel that ends the branch
// writes it to all ranks, and the kernel that updates waits for it. An all-reduce would move fewer bytes between many
// ranks, but would add in NCCL's own order; docs/design/0019 gives the cost of a gather over four ranks.
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
  // `parameters` and `ranks` are borrowed; `ranks` is null for one rank. `shards` is a multiple of the number of ranks.
  Status Make(const DeviceParameters& parameters, int shards, GradientExchange* ranks);

  // The calls of a step are Begin, EndShard for each of this rank's shards in order, and Finish.
  Status EnqueueBegin(cudaStream_t stream) const;
  // Adds the gradients and running statistics that the backward pass of local shard `shard` left in the parameters.
  Status EnqueueEndShard(int shard, const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                         cudaStream_t stream) const;
  // Leaves the sum in the parameters' gradients and the mean in their running statistics, if the step is complete.
  // Collective. `last` is that of EnqueueJudgeStep.
  Status EnqueueFinish(const BatchHeader* last, RunState* state, volatile HostProgress* progress,
                       cudaStream_t stream) const;
  // Replaces EnqueueFinish and all later work of the step, for several ranks and no clipping: updates the parameters by
  // the sum and adds to the totals. Collective.
  Status EnqueueFinishAndUpdate(const AdamConstants& adam, const BatchHeader* last, RunState* state,
                                volatile HostProgress* progress, cudaStream_t stream) const;
  const BatchHeader* step() const { return step_.get(); }  // valid after Finish
  const double* totals() const { return totals_.get(); }   // [kStepTotals], valid after Finish

 private:
  SumNode Node(size_t index) const;
  Status EnqueueGather(cudaStream_t stream) const;
  bool shares() const { return room_.rooms != nullptr; }
  RankSum OfRanks() const;

  const DeviceParameters* parameters_ = nullptr;
  GradientExchange* ranks_ = nullptr;
  int shards_ = 1;
  std::vector<size_t> merges_;  // [local shards] how many tree nodes are added up when the shard is done
  size_t sent_ = 1;  // number of tree nodes that each rank sends; a rank that has fewer sends meaningless ones besides
  int64_t node_bytes_ = 0, double_offset_ = 0;
  DeviceArray<unsigned char> nodes_, parts_;  // this rank's tree nodes, and those gathered from all ranks
  ExchangeOnDevice room_;  // the exchange buffer for each rank's only branch; empty if a rank has several branches
  bool perfect_ = false;   // RankSum::perfect
  DeviceArray<double> totals_;
  DeviceArray<float> before_;  // running statistics at the beginning of the step
  DeviceArray<BatchHeader> step_;
  DeviceArray<int32_t> rank_places_, rank_merges_;
};

}  // namespace hone::gnn::cuda
