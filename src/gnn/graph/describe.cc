// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See describe.h.
#include "gnn/graph/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

namespace hone::gnn {
namespace {

// Returns the root of v's tree in a union-find forest, with path halving. The smaller id becomes the root, so no ranks
// are kept.
NodeId RootOf(std::vector<NodeId>& parent, NodeId v) {
  while (parent[static_cast<size_t>(v)] != v) {
    NodeId& up = parent[static_cast<size_t>(v)];
    up = parent[static_cast<size_t>(up)];
    v = up;
  }
  return v;
}

}  // namespace

Result<GraphDescription> DescribeGraph(const Graph& graph, const GraphProgress& progress) {
  const CsrView csr = graph.structure();
  const std::span<const int32_t> labels = graph.labels();
  GraphDescription d;
  d.num_nodes = csr.num_nodes;
  d.num_edges = csr.num_edges();
  d.degree_histogram.assign(1, 0);
  const size_t nodes = static_cast<size_t>(csr.num_nodes);

  const TargetView targets = graph.targets();
  double sum = 0;
  for (int64_t i = 0; i < targets.num_rows * targets.width; ++i) {
    const double value = targets.rows[i];
    if (std::isnan(value)) continue;
    d.smallest_target = d.known_targets == 0 ? value : std::min(d.smallest_target, value);
    d.largest_target = d.known_targets == 0 ? value : std::max(d.largest_target, value);
    sum += value;
    ++d.known_targets;
  }
  if (d.known_targets > 0) d.mean_target = sum / static_cast<double>(d.known_targets);
  // A map, because a container may claim a billion classes that no node has.
  std::map<int32_t, int64_t> class_size;
  for (size_t v = 0; v < labels.size(); ++v) {
    if (labels[v] == kNoLabel) continue;
    if (labels[v] < 0 || labels[v] >= graph.num_classes()) {
      return Status::InvalidArgument(fmt::format("'{}': node {} has label {}, outside the {} classes", graph.name(), v,
                                                 labels[v], graph.num_classes()));
    }
    ++class_size[labels[v]];
    ++d.labelled;
  }
  for (const auto& [label, size] : class_size) {
    if (targets.num_rows > 0) break;  // the labels are no classes
    d.smallest_class = d.classes_present == 0 ? size : std::min(d.smallest_class, size);
    d.largest_class = std::max(d.largest_class, size);
    ++d.classes_present;
  }

  std::vector<NodeId> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<int64_t> degrees(nodes);
  int64_t edges_of_equal_classes = 0;
  for (NodeId v = 0; v < csr.num_nodes; ++v) {
    const size_t at = static_cast<size_t>(v);
    const int64_t begin = csr.row_offsets[at], end = csr.row_offsets[at + 1];
    if (begin < 0 || begin > end || end > d.num_edges) {
      return Status::InvalidArgument(fmt::format("'{}': the offsets of row {} are damaged", graph.name(), v));
    }
    degrees[at] = end - begin;
    const size_t bin = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(end - begin)));
    if (bin >= d.degree_histogram.size()) d.degree_histogram.resize(bin + 1);
    ++d.degree_histogram[bin];
    const int32_t label = labels.empty() || targets.num_rows > 0 ? kNoLabel : labels[at];
    for (const NodeId u : csr.Neighbors(v)) {
      if (u < 0 || u >= csr.num_nodes) {
        return Status::InvalidArgument(
            fmt::format("'{}': row {} names node {}, outside the {} nodes", graph.name(), v, u, csr.num_nodes));
      }
      if (u == v) {
        ++d.self_loops;
        continue;
      }
      if (label != kNoLabel && labels[static_cast<size_t>(u)] != kNoLabel) {
        ++d.labelled_edges;
        edges_of_equal_classes += labels[static_cast<size_t>(u)] == label;
      }
      const NodeId a = RootOf(parent, v), b = RootOf(parent, u);
      if (a != b) parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
    if (progress && v % 65536 == 0) progress("describing", v, csr.num_nodes);
  }
  if (d.labelled_edges > 0)
    d.edge_homophily = static_cast<double>(edges_of_equal_classes) / static_cast<double>(d.labelled_edges);

  d.isolated = d.degree_histogram[0];
  d.mean_degree = static_cast<double>(d.num_edges) / static_cast<double>(nodes);
  const auto quantile = [&](double q) {
    const auto at = degrees.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(nodes - 1));
    std::nth_element(degrees.begin(), at, degrees.end());
    return *at;
  };
  d.min_degree = quantile(0);
  d.median_degree = quantile(0.5);
  d.p90_degree = quantile(0.9);
  d.p99_degree = quantile(0.99);
  d.max_degree = quantile(1);

  std::fill(degrees.begin(), degrees.end(), 0);
  for (NodeId v = 0; v < csr.num_nodes; ++v) ++degrees[static_cast<size_t>(RootOf(parent, v))];
  for (const int64_t size : degrees) {
    d.components += size > 0;
    d.largest_component = std::max(d.largest_component, size);
  }
  return d;
}

}  // namespace hone::gnn
