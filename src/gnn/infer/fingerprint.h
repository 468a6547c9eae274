// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares fingerprints of graphs, and computes that of a graph whose edges and features are not in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Reads parts of a graph from wherever they are stored. A fingerprint reads a few thousand parts, nodes ascending.
struct GraphReader {
  int64_t num_edges = 0;
  // Gives row_offsets[v] and row_offsets[v + 1].
  std::function<Status(int64_t v, int64_t& begin, int64_t& end)> row;
  // Reads columns[first …], as many as the span holds.
  std::function<Status(int64_t first, std::span<NodeId> columns)> columns;
  // Gives the first bytes of a feature row.
  std::function<Status(int64_t v, std::span<std::byte> values)> features;
  // Gives the first bytes of the features of edge e; only called if the outline has edge features.
  std::function<Status(int64_t e, std::span<std::byte> values)> edge_features = {};
};

// Returns GraphFingerprint (hone/gnn/predictor.h) of the whole graph. The structure's arrays and the feature rows are
// read through `reader`, everything else from `outline`. Errors are the reader's.
Result<std::string> FingerprintThrough(const Graph& outline, const GraphReader& reader);

// The outcome of comparing the fingerprints of two graphs. Fingerprints in checkpoints older than 0.2 do not
// distinguish another split from another graph: kOtherOrSplit.
enum class FingerprintMatch { kSame, kOtherSplit, kOther, kOtherOrSplit };
FingerprintMatch CompareFingerprints(std::string_view a, std::string_view b);

// Checks that `found_fingerprint`, the fingerprint of `graph`, equals `trained`, that of the graph on which a model was
// trained. Otherwise an error that refuses to predict, and names the model by `what`.
Status CheckPredictsOnItsGraph(std::string_view what, std::string_view trained, std::string_view found_fingerprint,
                               const Graph& graph);

}  // namespace hone::gnn
