// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts graph files of other programs into a container. The data is streamed: memory is bounded whatever the number
// of edges and feature rows, except for 8 bytes per node (labels, splits), and 4 for each of several labels or values
// of a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gnn/graph/convert/unread.h"
#include "gnn/graph/split.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

enum class SelfLoops { kKeep, kRemove, kAdd };  // kAdd: exactly one at every node

struct ConvertOptions {
  bool symmetrize = false;  // add the reverse of every edge except self-loops
  bool coalesce = false;    // keep only one of several parallel edges
  SelfLoops self_loops = SelfLoops::kKeep;
  FeatureDtype dtype = FeatureDtype::kFloat32;  // of the features of nodes and of edges
  // A .npy [E, F] with a row of features for each edge, in the order of the source's edges; empty: a folder's
  // edge_features.npy, if it has one.
  std::string edge_features;
  std::optional<float> replace_nan;     // value for features that are not finite; unset: refuse them
  int64_t num_nodes = 0;                // 0: the number that the source states, else the largest id + 1
  int32_t num_classes = 0;              // 0: the largest label + 1; not with several labels or values a node
  std::optional<TargetKind> labels;     // what the labels are; unset: as OpenGraphSource says
  std::optional<SplitFractions> split;  // make new splits even if the source has splits
  std::optional<uint64_t> split_seed;   // seed of new splits, which a value also requests; default 0
  int split_index = -1;                 // index among several official splits; -1: the first
  int64_t first_id = 0;                 // the id that the source's edges give the first node; 1 if they count from 1
  bool allow_isolated = false;          // convert an edge list even if most of its nodes have no edge
  int64_t memory_bytes = int64_t{1} << 30;  // memory for edges; further edges go to a temporary file next to `out`
  int threads = 0;
  GraphProgress progress;
};

struct ConvertReport {
  std::string format;
  int64_t num_nodes = 0;
  int64_t edges_read = 0;  // edges in the source
  int64_t num_edges = 0;   // edges written, each direction counted
  int64_t self_loops_dropped = 0, parallel_dropped = 0;
  int64_t feature_width = 0;
  int64_t edge_feature_width = 0;  // 0: the edges have no features
  int32_t num_classes = 0;
  TargetKind labels = TargetKind::kClasses;
  int64_t labelled = 0;  // nodes with a label
  int64_t split_sizes[3] = {0, 0, 0};
  int64_t in_no_split = 0;               // nodes in no split
  bool splits_made = false;              // true: the splits were made here, from a seed
  std::string splits_meaning;            // what the source's splits mean, judged by the file that holds them
  int split_count = 1, split_index = 0;  // number of official splits in the source, and the one used
  bool spilled = false;                  // true: edges did not fit in memory_bytes and went through a temporary file
  GraphFlags flags;
  // No edge has node 0, and nothing but edges says that there is one: the source's ids may be counted from 1.
  bool perhaps_from_one = false;
  int64_t nan_replaced = 0;  // feature values that were not finite and were replaced
  std::vector<std::string> notes;
  std::vector<UnreadPart> unread;  // parts of the source that are not converted
};

// Reads `source` (see OpenGraphSource for its formats) and writes `out`. Rows are sorted; parallel edges stay in the
// order of the source. An edge's features go with it: with `symmetrize` the reverse has the same row, `coalesce` keeps
// the first of several parallel edges in the order of the source, and a self-loop that is added has a row of zeros.
// kInvalidArgument names file,
// row and remedy; kIo for a full disk; after any error nothing is left behind and an old `out` stays.
Result<ConvertReport> ConvertGraph(const std::string& source, const std::string& out, const ConvertOptions& options);

}  // namespace hone::gnn
