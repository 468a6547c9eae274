// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/update/step_sum.h"

#include <algorithm>
#include <bit>

#include "gnn/cuda/update/peer_exchange.h"

namespace hone::gnn::cuda {
namespace {

// Pushes a node on the stack, and returns how many times the two nodes on top are to be added.
size_t PushAndCountMerges(int shards, ShardRange node, std::vector<ShardRange>& stack) {
  size_t merges = 0;
  while (!stack.empty() && AreSiblings(shards, stack.back(), node)) {
    node.begin = stack.back().begin;
    stack.pop_back();
    ++merges;
  }
  stack.push_back(node);
  return merges;
}

}  // namespace

Status StepSum::Make(const DeviceParameters& parameters, int shards, GradientExchange* ranks) {
  parameters_ = &parameters;
  ranks_ = ranks;
  shards_ = shards;
  const int size = ranks == nullptr ? 1 : ranks->size();
  const ShardRange own_shards = ShardsOfRank(shards, ranks == nullptr ? 0 : ranks->rank(), size);
  std::vector<ShardRange> stack;
  size_t deepest = 1;
  for (int shard = own_shards.begin; shard < own_shards.end; ++shard) {
    merges_.push_back(PushAndCountMerges(shards, {shard, shard + 1}, stack));
    HONE_CHECK(merges_.back() <= static_cast<size_t>(kMostMerges), "the tree over the shards has 16 levels");
    deepest = std::max(deepest, stack.size());
  }
  double_offset_ = RoundUp(parameters.count() * static_cast<int64_t>(sizeof(float)), 256);
  const int64_t doubles = kStepTotals + parameters.buffer_count();
  node_bytes_ = double_offset_ + RoundUp(doubles * static_cast<int64_t>(sizeof(double)), 256);
  HONE_RETURN_IF_ERROR(totals_.Allocate(doubles));
  HONE_RETURN_IF_ERROR(before_.Allocate(parameters.buffer_count()));
  HONE_RETURN_IF_ERROR(step_.Allocate(1));
  if (ranks == nullptr) return nodes_.Allocate(static_cast<int64_t>(deepest) * node_bytes_);

  for (int r = 0; r < size; ++r) sent_ = std::max(sent_, TreeNodes(shards, ShardsOfRank(shards, r, size)).size());
  HONE_RETURN_IF_ERROR(nodes_.Allocate(static_cast<int64_t>(std::max(deepest, sent_)) * node_bytes_));
  if (PeerRooms* const rooms = ranks->rooms(); rooms != nullptr && sent_ == 1) {
    HONE_ASSIGN_OR_RETURN(room_, rooms->MakeRoom(node_bytes_, LeafBlocks(parameters.count())));
  } else {
    HONE_RETURN_IF_ERROR(parts_.Allocate(size * static_cast<int64_t>(sent_) * node_bytes_));
  }
  std::vector<int32_t> places, merges;
  stack.clear();
  for (int r = 0; r < size; ++r) {
    const std::vector<ShardRange> shards_of_rank = TreeNodes(shards, ShardsOfRank(shards, r, size));
    for (size_t n = 0; n < shards_of_rank.size(); ++n) {
      places.push_back(static_cast<int32_t>(static_cast<size_t>(r) * sent_ + n));
      merges.push_back(static_cast<int32_t>(PushAndCountMerges(shards, shards_of_rank[n], stack)));
    }
  }
  const size_t count = places.size();
  perfect_ = std::has_single_bit(count);
  for (size_t n = 0; n < count; ++n) {
    perfect_ = perfect_ && places[n] == static_cast<int32_t>(n) && merges[n] == std::countr_zero(n + 1);
  }
  HONE_RETURN_IF_ERROR(rank_places_.Upload(places.data(), static_cast<int64_t>(places.size())));
  return rank_merges_.Upload(merges.data(), static_cast<int64_t>(merges.size()));
}

SumNode StepSum::Node(size_t index) const {
  unsigned char* node = nodes_.get() + static_cast<int64_t>(index) * node_bytes_;
  return {reinterpret_cast<float*>(node), reinterpret_cast<double*>(node + double_offset_)};
}

Status StepSum::EnqueueBegin(cudaStream_t stream) const {
  if (before_.size() == 0) return Status::Ok();
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(before_.get(), parameters_->buffers(),
                                            static_cast<size_t>(before_.size()) * sizeof(float),
                                            cudaMemcpyDeviceToDevice, stream));
  return Status::Ok();
}

Status StepSum::EnqueueEndShard(int shard, const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                                cudaStream_t stream) const {
  size_t on_stack = 0;
  for (int s = 0; s < shard; ++s) on_stack += 1 - merges_[static_cast<size_t>(s)];
  const size_t merges = merges_[static_cast<size_t>(shard)];
  LeafSum sum{};
  sum.shard = {parameters_->count(), before_.size(), parameters_->gradient(), header, row_loss, row_correct, parameters_->buffers(),
               before_.get()};
  for (size_t n = 0; n < merges; ++n) sum.nodes[n] = Node(on_stack - merges + n);
  sum.merges = static_cast<int>(merges);
  const bool ends = static_cast<size_t>(shard) + 1 == merges_.size(), all = ranks_ == nullptr && ends;
  if (shares() && ends) {
    sum.room = room_;
    sum.double_offset = double_offset_;
  }
  sum.out = all ? SumNode{parameters_->gradient(), totals_.get()} : Node(on_stack - merges);
  HONE_CUDA_RETURN_IF_ERROR(EnqueueAddLeaf(sum, stream));
  return Status::Ok();
}

Status StepSum::EnqueueGather(cudaStream_t stream) const {
  if (shares()) return Status::Ok();
  const int64_t bytes = static_cast<int64_t>(sent_) * node_bytes_;
  return ranks_->AllGather(nodes_.get(), parts_.get(), bytes / static_cast<int64_t>(sizeof(float)), DeviceElement::kFloat32, stream);
}

RankSum StepSum::OfRanks() const {
  return {.parts = parts_.get(),
          .places = rank_places_.get(),
          .merges = rank_merges_.get(),
          .nodes = static_cast<int32_t>(rank_places_.size()),
          .perfect = perfect_,
          .node_bytes = node_bytes_,
          .double_offset = double_offset_,
          .floats = parameters_->count(),
          .doubles = totals_.size(),
          .out = {parameters_->gradient(), totals_.get()},
          .room = room_};
}

Status StepSum::EnqueueFinishAndUpdate(const AdamConstants& adam, const BatchHeader* last, RunState* state,
                                       volatile HostProgress* progress, cudaStream_t stream) const {
  HONE_RETURN_IF_ERROR(EnqueueGather(stream));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueUpdateFromRanks(OfRanks(),
                                                   {.adam = adam,
                                                    .state = state,
                                                    .last = last,
                                                    .step = step_.get(),
                                                    .master = parameters_->master(),
                                                    .moment1 = parameters_->moment1(),
                                                    .moment2 = parameters_->moment2(),
                                                    .element = parameters_->element(),
                                                    .compute = parameters_->compute(),
                                                    .shards = shards_,
                                                    .statistics = before_.size(),
                                                    .running = parameters_->buffers(),
                                                    .progress = progress},
                                                   stream));
  return Status::Ok();
}

Status StepSum::EnqueueFinish(const BatchHeader* last, RunState* state, volatile HostProgress* progress,
                              cudaStream_t stream) const {
  if (ranks_ != nullptr) {
    HONE_RETURN_IF_ERROR(EnqueueGather(stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAddRanks(OfRanks(), stream));
  }
  HONE_CUDA_RETURN_IF_ERROR(EnqueueJudgeStep(totals_.get(), last, state, step_.get(), progress, stream));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueMeanStatistics(step_.get(), totals_.get() + kStepTotals, shards_, before_.size(),
                                                  parameters_->buffers(), stream));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
