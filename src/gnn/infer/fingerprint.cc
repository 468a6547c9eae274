// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph's name for itself: what must be equal for a checkpoint to continue on it.
//
// Hashing all of a graph of billions of edges would cost more than opening it, so besides the sizes a few thousand
// evenly spaced rows go in, whole. A change elsewhere goes unseen: this guards against mistakes, not against malice.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

constexpr int64_t kProbes = 4096;
constexpr int64_t kColumnsOfARow = 64;  // one hub must not make this slow

// Up to kProbes indices of [0, count), first and last among them.
template <typename Visit>
void Probe(int64_t count, const Visit& visit) {
  const int64_t probes = count < kProbes ? count : kProbes;
  for (int64_t i = 0; i < probes; ++i) visit(probes == 1 ? 0 : i * (count - 1) / (probes - 1));
}

void Append(std::string& bytes, const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

void AppendIds(std::string& bytes, std::span<const int32_t> ids) {
  Probe(static_cast<int64_t>(ids.size()), [&](int64_t i) { Append(bytes, &ids[static_cast<size_t>(i)], 4); });
}

}  // namespace

std::string GraphFingerprint(const Graph& graph) {
  const CsrView structure = graph.structure();
  const FeatureView features = graph.features();
  std::string bytes = fmt::format("{} {} {} {} {} {} {} {}\n", structure.num_nodes, structure.num_edges(),
                                  features.num_rows, features.width, FeatureDtypeName(features.dtype),
                                  graph.num_classes(), graph.train_nodes().size(), graph.valid_nodes().size());
  Probe(structure.num_nodes, [&](int64_t v) {
    const auto node = static_cast<NodeId>(v);
    Append(bytes, &structure.row_offsets[static_cast<size_t>(v)], 8);
    const std::span<const NodeId> row = structure.Neighbors(node);
    Append(bytes, row.data(), 4 * std::min<size_t>(row.size(), kColumnsOfARow));
  });
  Probe(features.num_rows, [&](int64_t v) {
    Append(bytes, features.Row(v), static_cast<size_t>(features.width * FeatureDtypeBytes(features.dtype)));
  });
  AppendIds(bytes, graph.labels());
  AppendIds(bytes, graph.train_nodes());
  AppendIds(bytes, graph.valid_nodes());
  return Sha256Hex(bytes).substr(0, 32);
}

}  // namespace hone::gnn
