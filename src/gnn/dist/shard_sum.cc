// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/shard_sum.h"

#include <bit>
#include <cstring>
#include <utility>

namespace hone::gnn {
namespace {

// Returns where a node splits: after the largest power of two below its size.
int SplitPoint(ShardRange node) {
  return node.begin + static_cast<int>(std::bit_floor(static_cast<unsigned>(node.size() - 1)));
}

// Appends the fewest nodes at and below `node` that make up the part of `range` in it.
void AppendNodes(ShardRange node, ShardRange range, std::vector<ShardRange>& nodes) {
  if (node.end <= range.begin || node.begin >= range.end) return;
  if (node.begin >= range.begin && node.end <= range.end) {
    nodes.push_back(node);
    return;
  }
  AppendNodes({node.begin, SplitPoint(node)}, range, nodes);
  AppendNodes({SplitPoint(node), node.end}, range, nodes);
}

template <typename T>
void AddTo(T* sum, const T* summand, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] += summand[i];
}

// Sums the arrays that belong to `nodes`, in tree order, into the first of them.
template <typename T>
void AddUp(int shards, const std::vector<ShardRange>& nodes, const std::vector<T*>& arrays, size_t count) {
  std::vector<std::pair<ShardRange, T*>> stack;
  for (size_t n = 0; n < nodes.size(); ++n) {
    stack.emplace_back(nodes[n], arrays[n]);
    while (stack.size() > 1 && AreSiblings(shards, stack[stack.size() - 2].first, stack.back().first)) {
      auto& [range, sum] = stack[stack.size() - 2];
      AddTo(sum, stack.back().second, count);
      range.end = stack.back().first.end;
      stack.pop_back();
    }
  }
  HONE_CHECK(stack.size() == 1, "the nodes of all ranks make up the tree");
}

}  // namespace

ShardRange ShardsOfRank(int shards, int rank, int ranks) {
  const int each = shards / ranks;
  return {rank * each, (rank + 1) * each};
}

bool AreSiblings(int shards, ShardRange left, ShardRange right) {
  if (left.end != right.begin) return false;
  for (ShardRange node{0, shards}; node.size() > 1;) {
    const int middle = SplitPoint(node);
    if (node.begin == left.begin && node.end == right.end) return middle == left.end;
    node = right.end <= middle ? ShardRange{node.begin, middle} : ShardRange{middle, node.end};
    if (left.begin < node.begin || right.end > node.end) return false;
  }
  return false;
}

std::vector<ShardRange> TreeNodes(int shards, ShardRange range) {
  std::vector<ShardRange> nodes;
  AppendNodes({0, shards}, range, nodes);
  return nodes;
}

ShardSum::ShardSum(Communicator& ranks, int shards, size_t floats, size_t doubles)
    : ranks_(ranks),
      shards_(shards),
      mine_(ShardsOfRank(shards, ranks.rank(), ranks.size())),
      float_count_(floats),
      double_count_(doubles) {
  HONE_CHECK(shards % ranks.size() == 0, "the shards are a multiple of the ranks");
  next_ = TakeNode();
}

std::unique_ptr<ShardSum::Node> ShardSum::TakeNode() {
  if (free_.empty()) {
    auto node = std::make_unique<Node>();
    node->floats.resize(float_count_);
    node->doubles.resize(double_count_);
    return node;
  }
  std::unique_ptr<Node> node = std::move(free_.back());
  free_.pop_back();
  return node;
}

void ShardSum::Begin() {
  for (std::unique_ptr<Node>& node : nodes_) free_.push_back(std::move(node));
  nodes_.clear();
  done_ = 0;
}

void ShardSum::EndShard() {
  const int shard = mine_.begin + done_++;
  HONE_CHECK(shard < mine_.end, "more shards than this rank has");
  next_->range = {shard, shard + 1};
  nodes_.push_back(std::move(next_));
  while (nodes_.size() > 1 && AreSiblings(shards_, nodes_[nodes_.size() - 2]->range, nodes_.back()->range)) {
    Node& left = *nodes_[nodes_.size() - 2];
    Node& right = *nodes_.back();
    AddTo(left.floats.data(), right.floats.data(), float_count_);
    AddTo(left.doubles.data(), right.doubles.data(), double_count_);
    left.range.end = right.range.end;
    free_.push_back(std::move(nodes_.back()));
    nodes_.pop_back();
  }
  next_ = TakeNode();
}

Status ShardSum::Finish() {
  HONE_CHECK(mine_.begin + done_ == mine_.end, "fewer shards than this rank has");
  if (ranks_.size() > 1) return CombineRanks();
  HONE_CHECK(nodes_.size() == 1, "all shards make up the tree");
  free_.push_back(std::move(next_));
  next_ = std::move(nodes_.back());
  nodes_.clear();
  return Status::Ok();
}

// Adds up the nodes of all ranks along the tree. A message holds, for each of the sender's nodes, all doubles; then for
// each node the receiver's slice of the floats.
Status ShardSum::CombineRanks() {
  const auto size = static_cast<size_t>(ranks_.size());
  const auto own_rank = static_cast<size_t>(ranks_.rank());
  const auto begin = [&](size_t r) { return float_count_ * r / size; };
  const auto slice = [&](size_t r) { return begin(r + 1) - begin(r); };
  std::vector<ShardRange> ranges;
  std::vector<double*> doubles;
  std::vector<float*> floats;
  std::vector<std::span<const std::byte>> to(size);
  std::vector<std::span<std::byte>> from(size);
  outgoing_.resize(size);
  incoming_.resize(size);
  for (size_t r = 0; r < size; ++r) {
    std::vector<std::byte>& out = outgoing_[r];
    out.resize(nodes_.size() * (double_count_ * sizeof(double) + slice(r) * sizeof(float)));
    std::byte* at = out.data();
    const auto append = [&](const auto* values, size_t count) {
      if (count > 0) std::memcpy(at, values, count * sizeof(*values));
      at += count * sizeof(*values);
    };
    for (const std::unique_ptr<Node>& node : nodes_) append(node->doubles.data(), double_count_);
    for (const std::unique_ptr<Node>& node : nodes_) append(node->floats.data() + begin(r), slice(r));
    to[r] = out;

    const std::vector<ShardRange> shards_of_rank =
        TreeNodes(shards_, ShardsOfRank(shards_, static_cast<int>(r), static_cast<int>(size)));
    std::vector<std::byte>& in = incoming_[r];
    in.resize(shards_of_rank.size() * (double_count_ * sizeof(double) + slice(own_rank) * sizeof(float)));
    from[r] = in;
    ranges.insert(ranges.end(), shards_of_rank.begin(), shards_of_rank.end());
    for (size_t n = 0; n < shards_of_rank.size(); ++n) {
      doubles.push_back(reinterpret_cast<double*>(in.data()) + n * double_count_);
      floats.push_back(reinterpret_cast<float*>(in.data() + shards_of_rank.size() * double_count_ * sizeof(double)) +
                       n * slice(own_rank));
    }
  }
  HONE_RETURN_IF_ERROR(ranks_.Exchange("the sum of the shards", to, from));
  AddUp(shards_, ranges, doubles, double_count_);
  AddUp(shards_, ranges, floats, slice(own_rank));
  std::copy(doubles[0], doubles[0] + double_count_, next_->doubles.begin());
  std::copy(floats[0], floats[0] + slice(own_rank),
            next_->floats.begin() + static_cast<std::ptrdiff_t>(begin(own_rank)));

  const std::span<float> sums(next_->floats);
  for (size_t r = 0; r < size; ++r) {
    to[r] =
        r == own_rank ? std::span<const std::byte>() : std::as_bytes(sums.subspan(begin(own_rank), slice(own_rank)));
    from[r] = r == own_rank ? std::span<std::byte>() : std::as_writable_bytes(sums.subspan(begin(r), slice(r)));
  }
  return ranks_.Exchange("the sums of the shards", to, from);
}

}  // namespace hone::gnn
