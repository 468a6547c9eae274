// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes what `hone-gnn info` reports about a graph: degrees, components, classes, splits, homophily.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct GraphDescription {
  int64_t num_nodes = 0;
  int64_t num_edges = 0;  // directed edges: an undirected edge counts twice
  int64_t self_loops = 0;
  // Statistics of the in-degrees (row lengths).
  int64_t min_degree = 0, median_degree = 0, p90_degree = 0, p99_degree = 0, max_degree = 0;
  double mean_degree = 0;
  int64_t isolated = 0;                   // nodes without in-edges
  std::vector<int64_t> degree_histogram;  // [0]: degree 0; [k]: degrees 2^(k-1) … 2^k - 1
  int64_t components = 0;                 // weakly connected
  int64_t largest_component = 0;          // nodes
  int64_t labelled = 0;                   // nodes with a label
  int32_t classes_present = 0;
  int64_t smallest_class = 0, largest_class = 0;  // labelled nodes in the smallest and largest class present
  // A graph with targets() has the following four in place of the three fields above:
  int64_t known_targets = 0;  // elements that are not NaN
  double mean_target = 0;     // of the known ones; with several labels the share of ones
  double smallest_target = 0, largest_target = 0;
  // Share of the edges between two labelled nodes whose ends have equal labels, without self-loops; -1: no such edges.
  double edge_homophily = -1;
  int64_t labelled_edges = 0;  // number of edges that edge_homophily is computed from
};

// Describes a graph in one pass over the columns; takes 4 bytes per node for the components. kInvalidArgument for a
// neighbor or label out of range (a mapped container may not have been checked when it was opened). kResourceExhausted:
// no memory.
Result<GraphDescription> DescribeGraph(const Graph& graph, const GraphProgress& progress = {});

}  // namespace hone::gnn
