// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes small community graphs for tests. Most edges stay within a class. Each feature row is its class's centroid plus
// so much noise that a single row reveals little.
#pragma once

#include <cstdint>
#include <memory>

#include "hone/gnn/graph.h"

namespace hone::gnn {

struct CommunityOptions {
  int nodes = 1000;
  int classes = 4;
  int degree = 10;  // mean in-degree; node 0 has none, node 1 has a self-loop and a parallel edge
  int width = 12;
  double inside = 0.8;                          // share of edges within the class
  double noise = 1;                             // standard deviation; centroids have entries of ±1
  double train_share = 0.6, valid_share = 0.2;  // the rest is the test split
  bool labels = true;
  bool features = true;
  int unlabelled_every = 0;  // every n-th node has no label, but the features of a class; 0: all nodes have labels
  float bad_feature = 0;     // if not 0: a value put into every row, such as NaN
  // Features of each edge: noise of standard deviation 1, and 4 more in column (class of the destination) % edge_width,
  // so that edges tell what nodes do not. 0: edges have none.
  int edge_width = 0;
  // Not kClasses: the targets of a node are those of its class (TargetOfClass), and every seventh element is unknown.
  TargetKind targets = TargetKind::kClasses;
  int target_width = 3;
  double target_scale = 1,
         target_offset = 0;  // kValues: each value is multiplied by the scale, and the offset is added
  uint64_t seed = 1;
};
// Returns target `column` of the nodes of a class: 0 or 1 for kMultiLabel, or a value of -2 to 2.
float TargetOfClass(TargetKind kind, int32_t label, int64_t column);
std::shared_ptr<const Graph> CommunityGraph(const CommunityOptions& options);

// Returns the class whose centroid is nearest to the row of `v`: the best guess from features alone.
int32_t NearestCentroid(const Graph& graph, NodeId v);

}  // namespace hone::gnn
