// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a graph's fingerprint, which must equal a checkpoint's if training is to continue on the graph.
//
// Hashing all of a graph of billions of edges would cost more than opening it. Besides the sizes, only a few thousand
// evenly spaced rows are hashed, completely. A change elsewhere is not noticed: the fingerprint guards against
// mistakes, not against malice.
#include "gnn/infer/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/hash.h"
#include "gnn/graph/container/crc32c.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

constexpr int64_t kProbes = 4096;  // rows of each table that are hashed, evenly spaced
// Hex digits of a fingerprint: of all that is hashed, then of the graph without its splits.
constexpr size_t kWholeDigits = 32, kGraphDigits = 8;
constexpr int64_t kColumnsOfARow = 64;  // most columns hashed per row, so that a hub does not make this slow

// Visits up to kProbes indices of [0, count), the first and last among them, until a visit fails.
template <typename Visit>
Status VisitSamples(int64_t count, const Visit& visit) {
  const int64_t probes = std::min(count, kProbes);
  for (int64_t i = 0; i < probes; ++i) HONE_RETURN_IF_ERROR(visit(probes == 1 ? 0 : i * (count - 1) / (probes - 1)));
  return Status::Ok();
}

void Append(std::string& bytes, const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

Status AppendIds(std::string& bytes, std::span<const int32_t> ids) {
  return VisitSamples(static_cast<int64_t>(ids.size()), [&](int64_t i) {
    Append(bytes, &ids[static_cast<size_t>(i)], 4);
    return Status::Ok();
  });
}

}  // namespace

Result<std::string> FingerprintThrough(const Graph& outline, const GraphReader& reader) {
  const int64_t num_nodes = outline.structure().num_nodes;
  const FeatureView features = outline.features();
  std::string bytes = fmt::format("{} {} {} {} {} {} {} {}\n", num_nodes, reader.num_edges, features.num_rows,
                                  features.width, FeatureDtypeName(features.dtype), outline.num_classes(),
                                  outline.train_nodes().size(), outline.valid_nodes().size());
  const size_t sizes = bytes.size();
  const auto append_row = [&](int64_t v) -> Status {
    int64_t begin = 0, end = 0;
    HONE_RETURN_IF_ERROR(reader.row(v, begin, end));
    Append(bytes, &begin, 8);
    NodeId columns[kColumnsOfARow];
    const auto count = static_cast<size_t>(std::min(end - begin, kColumnsOfARow));
    if (count > 0) HONE_RETURN_IF_ERROR(reader.columns(begin, {columns, count}));
    Append(bytes, columns, 4 * count);
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(VisitSamples(num_nodes, append_row));
  std::vector<std::byte> values(static_cast<size_t>(features.width * FeatureDtypeBytes(features.dtype)));
  const auto append_features = [&](int64_t v) -> Status {
    HONE_RETURN_IF_ERROR(reader.features(v, values));
    Append(bytes, values.data(), values.size());
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(VisitSamples(features.num_rows, append_features));
  HONE_RETURN_IF_ERROR(AppendIds(bytes, outline.labels()));
  if (const TargetView targets = outline.targets(); targets.num_rows > 0) {
    bytes += fmt::format("targets {} {}\n", TargetKindName(targets.kind), targets.width);
    const auto append_targets = [&](int64_t v) -> Status {
      Append(bytes, targets.Row(v), static_cast<size_t>(targets.width) * 4);
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(VisitSamples(targets.num_rows, append_targets));
  }
  // A graph whose edges have no features keeps the fingerprint that it had before edges could have any.
  if (const FeatureView edges = outline.edge_features(); edges.num_rows > 0) {
    bytes += fmt::format("edges {} {}\n", edges.width, FeatureDtypeName(edges.dtype));
    values.resize(static_cast<size_t>(edges.width * FeatureDtypeBytes(edges.dtype)));
    const auto append_edge = [&](int64_t e) -> Status {
      HONE_RETURN_IF_ERROR(reader.edge_features(e, values));
      Append(bytes, values.data(), values.size());
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(VisitSamples(edges.num_rows, append_edge));
  }
  // The first hash covers everything except the splits, so that a message can distinguish another split from another
  // graph.
  const uint32_t graph = Crc32c(0, bytes.data() + sizes, bytes.size() - sizes);
  HONE_RETURN_IF_ERROR(AppendIds(bytes, outline.train_nodes()));
  HONE_RETURN_IF_ERROR(AppendIds(bytes, outline.valid_nodes()));
  return fmt::format("{}{:08x}", Sha256Hex(bytes).substr(0, kWholeDigits), graph);
}

FingerprintMatch CompareFingerprints(std::string_view a, std::string_view b) {
  if (a.substr(0, kWholeDigits) == b.substr(0, kWholeDigits)) return FingerprintMatch::kSame;
  if (std::min(a.size(), b.size()) < kWholeDigits + kGraphDigits) return FingerprintMatch::kOtherOrSplit;
  return a.substr(kWholeDigits) == b.substr(kWholeDigits) ? FingerprintMatch::kOtherSplit : FingerprintMatch::kOther;
}

Status CheckPredictsOnItsGraph(std::string_view what, std::string_view trained, std::string_view found_fingerprint,
                               const Graph& graph) {
  constexpr std::string_view kSplit =
      "if it was trained with --split, give the same --split here; with another one, some nodes it was trained on are "
      "among the test nodes, and --other-graph says that this is meant";
  constexpr std::string_view kGraph =
      "name the graph that it was trained on, or say --other-graph if another one is meant";
  switch (CompareFingerprints(trained, found_fingerprint)) {
    case FingerprintMatch::kSame:
      return Status::Ok();
    case FingerprintMatch::kOtherSplit:
      return Status::InvalidArgument(
          fmt::format("{} was trained on '{}' with another split: {}", what, graph.name(), kSplit));
    case FingerprintMatch::kOther:
      return Status::InvalidArgument(
          fmt::format("{} was trained on another graph than '{}': {}", what, graph.name(), kGraph));
    case FingerprintMatch::kOtherOrSplit:
      break;
  }
  return Status::InvalidArgument(
      fmt::format("{} was trained on another graph than '{}', or on the same one with another split: {}", what,
                  graph.name(), kSplit));
}

std::string GraphFingerprint(const Graph& graph) {
  const CsrView structure = graph.structure();
  const FeatureView features = graph.features(), edges = graph.edge_features();
  const GraphReader reader{.num_edges = structure.num_edges(),
                           .row =
                               [&](int64_t v, int64_t& begin, int64_t& end) {
                                 begin = structure.row_offsets[static_cast<size_t>(v)];
                                 end = structure.row_offsets[static_cast<size_t>(v) + 1];
                                 return Status::Ok();
                               },
                           .columns =
                               [&](int64_t first, std::span<NodeId> columns) {
                                 std::memcpy(columns.data(), &structure.columns[static_cast<size_t>(first)],
                                             columns.size_bytes());
                                 return Status::Ok();
                               },
                           .features =
                               [&](int64_t v, std::span<std::byte> values) {
                                 std::memcpy(values.data(), features.Row(v), values.size());
                                 return Status::Ok();
                               },
                           .edge_features =
                               [&](int64_t e, std::span<std::byte> values) {
                                 std::memcpy(values.data(), edges.Row(e), values.size());
                                 return Status::Ok();
                               }};
  return FingerprintThrough(graph, reader).value();  // reading from memory cannot fail
}

}  // namespace hone::gnn
