// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/test_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/graph/array_graph.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

// Returns entry `column` of the centroid of a class: +1 or -1, the same in every test graph.
float CentroidEntry(int32_t label, int64_t column) {
  return Rng(9).Split(static_cast<uint64_t>(label * 1000 + column)).Uniform() < 0.5 ? -1.0f : 1.0f;
}

}  // namespace

std::shared_ptr<const Graph> CommunityGraph(const CommunityOptions& options) {
  Rng rng(options.seed);
  std::vector<int32_t> labels(static_cast<size_t>(options.nodes));
  for (int32_t& label : labels) label = static_cast<int32_t>(rng.Below(static_cast<uint64_t>(options.classes)));
  std::vector<std::vector<NodeId>> members(static_cast<size_t>(options.classes));
  for (NodeId v = 0; v < options.nodes; ++v) members[static_cast<size_t>(labels[static_cast<size_t>(v)])].push_back(v);

  std::vector<std::vector<NodeId>> rows(static_cast<size_t>(options.nodes));
  for (int64_t e = 0; e < int64_t{options.nodes} * options.degree / 2; ++e) {
    const auto v = static_cast<NodeId>(rng.Below(static_cast<uint64_t>(options.nodes)));
    const auto& nodes_of_class = members[static_cast<size_t>(labels[static_cast<size_t>(v)])];
    const NodeId u = rng.Uniform() < options.inside
                         ? nodes_of_class[rng.Below(nodes_of_class.size())]
                         : static_cast<NodeId>(rng.Below(static_cast<uint64_t>(options.nodes)));
    if (u == 0 || v == 0) continue;
    rows[static_cast<size_t>(v)].push_back(u);
    rows[static_cast<size_t>(u)].push_back(v);
  }
  rows[1].insert(rows[1].end(), {1, 2, 2});

  GraphParts parts;
  parts.name = "a test graph";
  parts.num_classes = options.labels ? options.classes : 0;
  parts.owned_offsets.push_back(0);
  parts.owned_ids.emplace_back();
  for (const std::vector<NodeId>& row : rows) {
    parts.owned_ids[0].insert(parts.owned_ids[0].end(), row.begin(), row.end());
    parts.owned_offsets.push_back(static_cast<int64_t>(parts.owned_ids[0].size()));
  }
  std::vector<NodeId> splits[3];
  for (NodeId v = 0; v < options.nodes; ++v) {
    const double draw = rng.Uniform();
    splits[draw < options.train_share ? 0 : draw < options.train_share + options.valid_share ? 1 : 2].push_back(v);
  }
  for (std::vector<NodeId>& split : splits) parts.owned_ids.push_back(std::move(split));
  parts.owned_ids.push_back(std::move(labels));
  parts.structure = {options.nodes, parts.owned_offsets, parts.owned_ids[0]};
  for (size_t s = 0; s < 3; ++s) parts.split[s] = parts.owned_ids[s + 1];
  if (options.labels) parts.labels = parts.owned_ids[4];

  if (options.features) {
    const int64_t stride = (options.width * 4 + 63) / 64 * 64;
    auto region = std::move(MemoryRegion::Anonymous(options.nodes * stride, "test features")).value();
    for (NodeId v = 0; v < options.nodes; ++v) {
      auto* row = reinterpret_cast<float*>(region.data() + v * stride);
      for (int64_t c = 0; c < options.width; ++c) {
        row[c] = CentroidEntry(parts.owned_ids[4][static_cast<size_t>(v)], c) +
                 static_cast<float>(options.noise * rng.Normal());
      }
      if (options.bad_feature != 0) row[0] = options.bad_feature;
    }
    parts.features = {region.data(), FeatureDtype::kFloat32, options.nodes, options.width, stride};
    parts.memory.push_back(std::move(region));
  }
  if (options.edge_width > 0) {
    const auto edges = static_cast<int64_t>(parts.owned_ids[0].size());
    const int64_t stride = EdgeStrideBytes(options.edge_width, FeatureDtype::kFloat16);
    auto region = std::move(MemoryRegion::Anonymous(edges * stride, "test features of edges")).value();
    for (NodeId v = 0; v < options.nodes; ++v) {
      const int32_t column = parts.owned_ids[4][static_cast<size_t>(v)] % options.edge_width;
      for (int64_t e = parts.owned_offsets[static_cast<size_t>(v)]; e < parts.owned_offsets[static_cast<size_t>(v) + 1];
           ++e) {
        auto* row = reinterpret_cast<uint16_t*>(region.data() + e * stride);
        for (int c = 0; c < options.edge_width; ++c) {
          row[c] = HalfFromFloat(static_cast<float>(rng.Normal()) + (c == column ? 4.0f : 0.0f));
        }
      }
    }
    parts.edge_features = {region.data(), FeatureDtype::kFloat16, edges, options.edge_width, stride};
    parts.memory.push_back(std::move(region));
  }
  for (NodeId v = 0; options.unlabelled_every > 0 && v < options.nodes; v += options.unlabelled_every) {
    parts.owned_ids[4][static_cast<size_t>(v)] = kNoLabel;
  }
  if (options.targets != TargetKind::kClasses) {
    auto region = std::move(MemoryRegion::Anonymous(options.nodes * options.target_width * 4, "test targets")).value();
    auto* rows = reinterpret_cast<float*>(region.data());
    for (int64_t i = 0; i < int64_t{options.nodes} * options.target_width; ++i) {
      const int32_t label = parts.owned_ids[4][static_cast<size_t>(i / options.target_width)];
      rows[i] = i % 7 == 6 ? std::nanf("") : TargetOfClass(options.targets, label, i % options.target_width);
      if (options.targets == TargetKind::kValues) {
        rows[i] = static_cast<float>(options.target_scale * static_cast<double>(rows[i]) + options.target_offset);
      }
    }
    parts.targets = {options.targets, rows, options.nodes, options.target_width};
    parts.num_classes = options.target_width;
    parts.memory.push_back(std::move(region));
    parts.owned_ids.push_back(std::move(LabelsOfTargets(parts.targets, 1)).value());
    parts.labels = parts.owned_ids.back();
  }
  return std::make_shared<ArrayGraph>(std::move(parts));
}

float TargetOfClass(TargetKind kind, int32_t label, int64_t column) {
  if (kind == TargetKind::kMultiLabel) return (label + column) % (2 + column % 2) == 0 ? 1.0f : 0.0f;
  return static_cast<float>((label * 3 + column * 2) % 5) - 2.0f;
}

int32_t NearestCentroid(const Graph& graph, NodeId v) {
  const auto* row = reinterpret_cast<const float*>(graph.features().Row(v));
  int32_t nearest = 0;
  double best = -1e30;
  for (int32_t label = 0; label < graph.num_classes(); ++label) {
    double product = 0;  // all centroids have the same length
    for (int64_t c = 0; c < graph.features().width; ++c) product += row[c] * CentroidEntry(label, c);
    if (product > best) best = product, nearest = label;
  }
  return nearest;
}

}  // namespace hone::gnn
