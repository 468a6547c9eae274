// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/sample/reference_sampler.h"

#include <set>
#include <string>
#include <unordered_map>

#include "gnn/sample/draw.h"

namespace hone::gnn {
namespace {

// Returns the chosen slots of a row, in slot order.
std::vector<int64_t> ChooseSlots(const DrawKey& key, NodeId node, int64_t degree, int32_t fanout) {
  std::vector<int64_t> chosen;
  if (fanout == kAllNeighbors || degree <= fanout) {
    for (int64_t slot = 0; slot < degree; ++slot) chosen.push_back(slot);
    return chosen;
  }
  std::set<int64_t> drawn_places;
  for (int32_t slot = 0; slot < fanout; ++slot) {
    const int64_t last = degree - fanout + slot;
    const auto id = static_cast<uint32_t>(node);
    const auto number = static_cast<uint32_t>(slot);
    int64_t drawn = BoundedDraw(key, id, number, DrawWord(key, id, number, 0), static_cast<uint32_t>(last + 1));
    if (drawn_places.contains(drawn)) drawn = last;
    drawn_places.insert(drawn);
    chosen.push_back(drawn);
  }
  return chosen;
}

}  // namespace

NeighborSample ReferenceSample(const CsrView& graph, const SamplerOptions& options, std::span<const NodeId> seeds,
                               const BatchKey& key) {
  NeighborSample sample;
  sample.new_only = options.frontier == FrontierRule::kNewOnly;
  std::unordered_map<NodeId, int32_t> local_ids;
  const auto local_id = [&](NodeId node) {
    const auto [entry, is_new] = local_ids.emplace(node, sample.num_nodes());
    if (is_new) sample.nodes.push_back(node);
    return entry->second;
  };
  for (const NodeId seed : seeds) local_id(seed);
  sample.hop_nodes.push_back(sample.num_nodes());
  sample.rows.resize(sample.new_only ? 1 : options.fanouts.size());
  for (NeighborSample::Rows& rows : sample.rows) rows.row_offsets.push_back(0);
  int32_t begin = 0;
  for (size_t hop = 0; hop < options.fanouts.size(); ++hop) {
    NeighborSample::Rows& rows = sample.rows[sample.new_only ? 0 : hop];
    const int32_t end = sample.num_nodes();
    for (int32_t row = begin; row < end; ++row) {
      const NodeId node = sample.nodes[static_cast<size_t>(row)];
      const DrawKey draw{key.seed, key.step, key.epoch, static_cast<uint32_t>(hop)};
      for (const int64_t slot : ChooseSlots(draw, node, graph.Degree(node), options.fanouts[hop])) {
        rows.columns.push_back(local_id(graph.Neighbors(node)[static_cast<size_t>(slot)]));
        if (options.edges) rows.edges.push_back(graph.row_offsets[static_cast<size_t>(node)] + slot);
      }
      rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    }
    if (sample.new_only) begin = end;
    sample.hop_nodes.push_back(sample.num_nodes());
  }
  return sample;
}

std::unique_ptr<NeighborSampler> MakePlainSampler(const CsrView& graph, const SamplerOptions& options) {
  class Plain final : public NeighborSampler {
   public:
    Plain(const CsrView& graph, const SamplerOptions& options) : graph_(graph), options_(options) {}
    Status Sample(std::span<const NodeId> seeds, const BatchKey& key, NeighborSample& out) override {
      out = {};
      for (const NodeId seed : seeds) {
        if (seed < 0 || seed >= graph_.num_nodes) {
          return Status::InvalidArgument("seed " + std::to_string(seed) +
                                         " is not in the graph, which has nodes 0 to " +
                                         std::to_string(graph_.num_nodes - 1));
        }
      }
      out = ReferenceSample(graph_, options_, seeds, key);
      return Status::Ok();
    }

   private:
    const CsrView graph_;
    const SamplerOptions options_;
  };
  return std::make_unique<Plain>(graph, options);
}

}  // namespace hone::gnn
