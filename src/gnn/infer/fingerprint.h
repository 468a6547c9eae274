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

// Reads single parts of a graph from wherever they are. A fingerprint reads a few thousand parts, nodes ascending.
struct GraphReader {
  int64_t num_edges = 0;
  // Gives row_offsets[v] and row_offsets[v + 1].
  std::function<Status(int64_t v, int64_t& begin, int64_t& end)> row;
  // columns[first …], as many as the span has.
  std::function<Status(int64_t first, std::span<NodeId> columns)> columns;
  // Gives the first bytes of a feature row.
  std::function<Status(int64_t v, std::span<std::byte> values)> features;
};

// Returns GraphFingerprint (hone/gnn/predictor.h) of the whole graph. Reads everything from `outline` except the
// structure's arrays and the feature rows. Errors are the reader's.
Result<std::string> FingerprintThrough(const Graph& outline, const GraphReader& reader);

// What two fingerprints say about the graphs they are of. Checkpoints of before 0.2 hold none that tells a split from a
// graph: kOtherOrSplit.
enum class FingerprintMatch { kSame, kOtherSplit, kOther, kOtherOrSplit };
FingerprintMatch CompareFingerprints(std::string_view a, std::string_view b);

// Refuses to predict on `graph`, whose fingerprint `found` is not `trained`, that of the graph of a model's training.
// `what` names the model in the message. Ok where they are the same.
Status CheckPredictsOnItsGraph(std::string_view what, std::string_view trained, std::string_view found, const Graph& graph);

}  // namespace hone::gnn
