// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/general_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "gnn/sample/draw.h"
#include "gnn/sample/draw_rows.h"
#include "gnn/sample/fast_sampler.h"

namespace hone::gnn {
namespace {

// Maps a batch's (tree, node) pairs to local ids: open addressing, at most half full.
class PairMap {
 public:
  void Clear() { std::fill(keys_.begin(), keys_.end(), kNone); }
  // Returns the pair's local id. A new pair gets the id `next`.
  int32_t Add(uint64_t pair, int32_t next) {
    if (2 * (static_cast<size_t>(next) + 1) > keys_.size()) Grow();
    const size_t at = Place(pair);
    if (keys_[at] == kNone) {
      keys_[at] = pair;
      ids_[at] = next;
    }
    return ids_[at];
  }
  // Returns the pair's local id; -1 if the pair is not in the map.
  int32_t Find(uint64_t pair) const {
    const size_t at = Place(pair);
    return keys_[at] == kNone ? -1 : ids_[at];
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};  // no pair, because ids of nodes and trees are below 2^31
  // Returns the pair's entry, or the empty entry where it would be put.
  size_t Place(uint64_t pair) const {
    size_t at = (pair * 0x9E3779B97F4A7C15u >> 20) & (keys_.size() - 1);
    while (keys_[at] != kNone && keys_[at] != pair) at = (at + 1) & (keys_.size() - 1);
    return at;
  }
  void Grow() {
    std::vector<uint64_t> keys(keys_.size() * 2, kNone);
    std::vector<int32_t> ids(keys.size());
    keys.swap(keys_);
    ids.swap(ids_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kNone) continue;
      const size_t at = Place(keys[i]);
      keys_[at] = keys[i];
      ids_[at] = ids[i];
    }
  }

  std::vector<uint64_t> keys_ = std::vector<uint64_t>(1024, kNone);
  std::vector<int32_t> ids_ = std::vector<int32_t>(1024);
};

// Returns a number in [0, 1) with 53 random bits.
double UnitInterval(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// Returns the seed that keys a tree's draws. Each tree has one of its own, so that two trees with the same node draw
// its neighbors independently.
uint64_t SeedOfTree(uint64_t seed, uint64_t tree) {
  uint64_t mixed = (tree + 1) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return seed ^ mixed ^ mixed >> 31;
}

class Sampler final : public GeneralSampler {
 public:
  Sampler(const InEdges& graph, std::vector<int32_t> fanouts, const GeneralRules& rules)
      : graph_(graph), fanouts_(std::move(fanouts)), rules_(rules) {}

  Status Sample(std::span<const NodeId> seeds, const BatchKey& key, GeneralSample& out) override {
    NeighborSample& sample = out.nodes_and_rows;
    sample.new_only = true;
    sample.nodes.clear();
    sample.hop_nodes.clear();
    sample.rows.resize(1);
    NeighborSample::Rows& rows = sample.rows[0];
    rows.row_offsets.assign(1, 0);
    rows.columns.clear();
    out.trees.clear();
    out.edge_ids.clear();
    ids_.Clear();
    for (size_t i = 0; i < seeds.size(); ++i) AddNode(seeds[i], static_cast<int64_t>(i), out);
    sample.hop_nodes.push_back(sample.num_nodes());
    int32_t begin = 0;
    for (size_t hop = 0; hop < fanouts_.size(); ++hop) {
      const int32_t end = sample.num_nodes();
      for (int32_t v = begin; v < end; ++v) {
        const auto node = static_cast<size_t>(sample.nodes[static_cast<size_t>(v)]);
        const int64_t tree = rules_.disjoint ? out.trees[static_cast<size_t>(v)] : 0;
        const uint64_t seed = rules_.disjoint ? SeedOfTree(key.seed, static_cast<uint64_t>(tree)) : key.seed;
        const int64_t row = graph_.row_offsets[node];
        ChooseSlots({seed, key.step, key.epoch, static_cast<uint32_t>(hop)}, static_cast<uint32_t>(node), row,
                    graph_.row_offsets[node + 1] - row, fanouts_[hop]);
        for (const uint32_t slot : slots_)
          AddEdge(row + slot, AddNode(graph_.columns[static_cast<size_t>(row + slot)], tree, out), out);
        HONE_RETURN_IF_ERROR(EndRow(out));
      }
      begin = end;
      sample.hop_nodes.push_back(sample.num_nodes());
    }
    return rules_.induced ? Induce(out) : Status::Ok();
  }

 private:
  // Returns the local id of a node in a tree; a new node is appended to the sample.
  int32_t AddNode(NodeId node, int64_t tree, GeneralSample& out) {
    NeighborSample& sample = out.nodes_and_rows;
    const uint64_t pair = (rules_.disjoint ? static_cast<uint64_t>(tree) << 32 : 0) | static_cast<uint32_t>(node);
    const int32_t id = ids_.Add(pair, sample.num_nodes());
    if (id == sample.num_nodes()) {
      sample.nodes.push_back(node);
      if (rules_.disjoint) out.trees.push_back(tree);
    }
    return id;
  }
  // Appends an edge to the row that is being made.
  void AddEdge(int64_t slot, int32_t source, GeneralSample& out) {
    out.nodes_and_rows.rows[0].columns.push_back(source);
    out.edge_ids.push_back(graph_.edge_ids[static_cast<size_t>(slot)]);
  }
  // Ends the row. kResourceExhausted: the sample has too many edges.
  static Status EndRow(GeneralSample& out) {
    NeighborSample::Rows& rows = out.nodes_and_rows.rows[0];
    if (rows.columns.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      return Status::ResourceExhausted("a batch of more than 2^31 - 1 edges: take fewer seeds or neighbors");
    }
    rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    return Status::Ok();
  }

  // Replaces the drawn edges by all edges of the graph whose ends were both found.
  Status Induce(GeneralSample& out) {
    NeighborSample& sample = out.nodes_and_rows;
    sample.rows[0].row_offsets.assign(1, 0);
    sample.rows[0].columns.clear();
    out.edge_ids.clear();
    for (const NodeId node : sample.nodes) {
      const auto v = static_cast<size_t>(node);
      for (int64_t slot = graph_.row_offsets[v]; slot < graph_.row_offsets[v + 1]; ++slot) {
        const int32_t source = ids_.Find(static_cast<uint32_t>(graph_.columns[static_cast<size_t>(slot)]));
        if (source >= 0) AddEdge(slot, source, out);
      }
      HONE_RETURN_IF_ERROR(EndRow(out));
    }
    return Status::Ok();
  }

  // Sets slots_ to the slots drawn from a row of `degree` edges that begins at `row`.
  void ChooseSlots(const DrawKey& key, uint32_t node, int64_t row, int64_t degree, int32_t fanout) {
    if (fanout == kAllNeighbors || degree == 0 || (!rules_.replace && degree <= fanout)) {
      slots_.resize(static_cast<size_t>(degree));
      std::iota(slots_.begin(), slots_.end(), 0u);
      return;
    }
    if (!rules_.weights.empty()) {
      const std::span<const double> weights =
          rules_.weights.subspan(static_cast<size_t>(row), static_cast<size_t>(degree));
      return rules_.replace ? WeightedWithReplacement(key, node, weights, fanout)
                            : DrawWeighted(key, node, weights, fanout);
    }
    slots_.resize(static_cast<size_t>(fanout));
    for (int32_t s = 0; s < fanout; ++s) {
      const auto slot = static_cast<uint32_t>(s);
      const auto below = static_cast<uint32_t>(rules_.replace ? degree : degree - fanout + s + 1);
      slots_[slot] = BoundedDraw(key, node, slot, DrawWord(key, node, slot, 0), below);
    }
    if (!rules_.replace) ResolveFloyd(static_cast<uint32_t>(degree), fanout, slots_.data(), 1);
  }

  // Draws `fanout` slots with replacement, in proportion to the weights.
  void WeightedWithReplacement(const DrawKey& key, uint32_t node, std::span<const double> weights, int32_t fanout) {
    slots_.clear();
    sums_.resize(weights.size());
    std::partial_sum(weights.begin(), weights.end(), sums_.begin());
    if (sums_.back() <= 0) return;
    // The first prefix sum above a product never belongs to a weight of 0. A product that is rounded up to the total
    // belongs to the last edge whose weight is not 0.
    const auto last = std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin();
    for (uint32_t s = 0; s < static_cast<uint32_t>(fanout); ++s) {
      const double drawn =
          UnitInterval(DrawWord(key, node, 2 * s, 0), DrawWord(key, node, 2 * s + 1, 0)) * sums_.back();
      const auto at = std::upper_bound(sums_.begin(), sums_.end(), drawn) - sums_.begin();
      slots_.push_back(static_cast<uint32_t>(std::min(at, last)));
    }
  }

  // Draws without replacement: the `fanout` smallest of exponential times, with the weights as rates, are such draws in
  // order (Efraimidis and Spirakis 2006). The row has a random stream of its own, because it needs as many numbers as
  // it has edges.
  void DrawWeighted(const DrawKey& key, uint32_t node, std::span<const double> weights, int32_t fanout) {
    const PhiloxWords start = DrawBlock(key, node, 0, 0);
    const uint64_t stream = uint64_t{start[1]} << 32 | start[0];
    times_.clear();
    for (uint32_t slot = 0; slot < weights.size(); ++slot) {
      if (weights[slot] <= 0) continue;
      const PhiloxWords random_words = Philox4x32(stream, {slot / 2, start[2], start[3], 0});
      const double unit = slot % 2 == 0 ? UnitInterval(random_words[0], random_words[1])
                                        : UnitInterval(random_words[2], random_words[3]);
      times_.push_back({-std::log1p(-unit) / weights[slot], slot});
    }
    if (static_cast<size_t>(fanout) < times_.size()) {
      std::nth_element(times_.begin(), times_.begin() + fanout, times_.end());
      times_.resize(static_cast<size_t>(fanout));
    }
    slots_.clear();
    for (const auto& [time, slot] : times_) slots_.push_back(slot);
    std::sort(slots_.begin(), slots_.end());
  }

  const InEdges& graph_;
  const std::vector<int32_t> fanouts_;
  const GeneralRules rules_;
  PairMap ids_;
  std::vector<uint32_t> slots_;
  std::vector<double> sums_;
  std::vector<std::pair<double, uint32_t>> times_;
};

}  // namespace

Result<std::unique_ptr<GeneralSampler>> MakeGeneralSampler(const InEdges& graph, std::vector<int32_t> fanouts,
                                                           const GeneralRules& rules) {
  HONE_RETURN_IF_ERROR(ValidateSamplerOptions(graph.view(), {.fanouts = fanouts, .frontier = FrontierRule::kNewOnly}));
  if (rules.induced && rules.disjoint) {
    return Status::InvalidArgument("an induced sample cannot be disjoint: choose one of the two");
  }
  if (!rules.weights.empty() && rules.weights.size() != graph.columns.size()) {
    return Status::InvalidArgument(
        fmt::format("there are {} weights, and the graph has {} edges", rules.weights.size(), graph.columns.size()));
  }
  return std::unique_ptr<GeneralSampler>(std::make_unique<Sampler>(graph, std::move(fanouts), rules));
}

}  // namespace hone::gnn
