// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See synthetic_graph.h.
#include "gnn/graph/synthetic/synthetic_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/graph/array_graph.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/container/container_writer.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/synthetic/synthetic_generator.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace hone::gnn {
namespace {

constexpr int64_t kFeatureRowsAtOnce = 256 * 1024;  // rows that are generated between two reports of progress
// Flags that hold by construction. Self-loops and parallel edges are rare but possible; rows are in slot order.
constexpr GraphFlags kSyntheticFlags = {.symmetric = true, .sorted = false, .parallel_edges = true, .self_loops = true};

// Adds labels and splits, which both kinds of graph below have.
Status AddLabels(const SyntheticRequest& request, const SyntheticGenerator& generator, GraphParts& parts) {
  const int64_t nodes = request.spec.num_nodes;
  HONE_ASSIGN_OR_RETURN(MemoryRegion labels, MemoryRegion::Anonymous(nodes * 4, "the labels"));
  generator.FillLabels(0, nodes, labels.as<int32_t>());
  parts.labels = {labels.as<int32_t>(), static_cast<size_t>(nodes)};
  parts.memory.push_back(std::move(labels));
  for (int split = 0; split < 3; ++split) parts.owned_ids.push_back(generator.SplitNodes(split));
  for (size_t split = 0; split < 3; ++split) parts.split[split] = parts.owned_ids[split];
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<const Graph>> OutlineSyntheticGraph(const std::string& name, int threads) {
  HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
  GraphParts parts;
  parts.name = name;
  parts.num_classes = request.spec.num_classes;
  parts.flags = kSyntheticFlags;
  parts.structure.num_nodes = request.spec.num_nodes;
  if (request.spec.width > 0) {
    parts.features = {nullptr, request.dtype, request.spec.num_nodes, request.spec.width,
                      FeatureStrideBytes(request.spec.width, request.dtype)};
  }
  HONE_RETURN_IF_ERROR(AddLabels(request, SyntheticGenerator::WithoutEdges(request, threads), parts));
  return std::shared_ptr<const Graph>(std::make_shared<ArrayGraph>(std::move(parts)));
}

Result<std::shared_ptr<const Graph>> MakeSyntheticGraph(const std::string& name, const OpenGraphOptions& options) {
  HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
  const GraphProgress& progress = options.progress;
  const auto report = [&](std::string_view step, int64_t done, int64_t total) {
    if (progress) progress(step, done, total);
  };
  const int64_t nodes = request.spec.num_nodes;
  report("degrees", 0, nodes);
  HONE_ASSIGN_OR_RETURN(SyntheticGenerator generator, SyntheticGenerator::Make(request, options.threads));

  GraphParts parts;
  parts.name = name;
  parts.num_classes = request.spec.num_classes;
  parts.flags = kSyntheticFlags;
  const int64_t edges = generator.num_edges();
  HONE_ASSIGN_OR_RETURN(MemoryRegion columns, MemoryRegion::Anonymous(edges * 4, "the columns"));
  for (int64_t region = 0; region < generator.num_regions(); ++region) {
    const int64_t begin = generator.row_offsets()[static_cast<size_t>(generator.RegionBegin(region))];
    report("edges", begin, edges);
    HONE_RETURN_IF_ERROR(generator.FillColumns(region, columns.as<NodeId>() + begin));
  }
  report("edges", edges, edges);
  const int64_t width = request.spec.width;
  if (width > 0) {
    const int64_t stride = FeatureStrideBytes(width, request.dtype);
    HONE_ASSIGN_OR_RETURN(MemoryRegion features, MemoryRegion::Anonymous(nodes * stride, "the features"));
    for (int64_t v = 0; v < nodes; v += kFeatureRowsAtOnce) {
      report("features", v, nodes);
      generator.FillFeatures(v, std::min(nodes, v + kFeatureRowsAtOnce), features.data() + v * stride, stride);
    }
    report("features", nodes, nodes);
    parts.features = {features.data(), request.dtype, nodes, width, stride};
    parts.memory.push_back(std::move(features));
  }
  HONE_RETURN_IF_ERROR(AddLabels(request, generator, parts));
  MemoryRegion row_offsets = std::move(generator).TakeRowOffsets();
  parts.structure = {nodes,
                     {row_offsets.as<int64_t>(), static_cast<size_t>(nodes) + 1},
                     {columns.as<NodeId>(), static_cast<size_t>(edges)}};
  parts.memory.push_back(std::move(row_offsets));
  parts.memory.push_back(std::move(columns));
  return std::shared_ptr<const Graph>(std::make_shared<ArrayGraph>(std::move(parts)));
}

Status GenerateContainer(const std::string& name, const std::string& path, int threads, const GraphProgress& progress) {
  HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(name));
  HONE_RETURN_IF_ERROR(CheckContainerPath(path));
  const int64_t nodes = request.spec.num_nodes, width = request.spec.width;
  const int64_t stride = FeatureStrideBytes(width, request.dtype);
  if (progress) progress("degrees", 0, nodes);
  HONE_ASSIGN_OR_RETURN(SyntheticGenerator generator, SyntheticGenerator::Make(request, threads));
  const int64_t edges = generator.num_edges();
  const std::string provenance = fmt::format(R"({{"source":"{}"}})", name);
  std::vector<NodeId> split[3];
  for (int i = 0; i < 3; ++i) split[i] = generator.SplitNodes(i);

  ContainerHeader header;
  header.num_nodes = nodes;
  header.num_edges = edges;
  header.num_classes = request.spec.num_classes;
  header.graph_flags = FlagBits(kSyntheticFlags);
  const size_t offsets_at = header.Add(SectionType::kRowOffsets, SectionDtype::kInt64, nodes + 1, /*required=*/true);
  const size_t columns_at = header.Add(SectionType::kColumns, SectionDtype::kInt32, edges, /*required=*/true);
  size_t features_at = 0;
  if (width > 0) features_at = header.AddFeatures(SectionType::kFeatures, request.dtype, nodes, width, stride);
  const size_t labels_at = header.Add(SectionType::kLabels, SectionDtype::kInt32, nodes);
  size_t split_at[3] = {0, 0, 0};
  constexpr SectionType split_types[] = {SectionType::kTrainNodes, SectionType::kValidNodes, SectionType::kTestNodes};
  for (size_t i = 0; i < 3; ++i) {
    if (split[i].empty()) continue;
    split_at[i] = header.Add(split_types[i], SectionDtype::kInt32, static_cast<int64_t>(split[i].size()));
  }
  const size_t provenance_at =
      header.Add(SectionType::kProvenance, SectionDtype::kBytes, static_cast<int64_t>(provenance.size()));

  HONE_ASSIGN_OR_RETURN(ContainerWriter writer, ContainerWriter::Create(path, std::move(header)));
  HONE_RETURN_IF_ERROR(writer.AppendValues<int64_t>(offsets_at, generator.row_offsets()));
  for (int64_t region = 0; region < generator.num_regions(); ++region) {
    const int64_t begin = generator.row_offsets()[static_cast<size_t>(generator.RegionBegin(region))];
    const int64_t end = generator.row_offsets()[static_cast<size_t>(generator.RegionBegin(region + 1))];
    if (progress) progress("edges", begin, edges);
    HONE_ASSIGN_OR_RETURN(MemoryRegion columns, MemoryRegion::Anonymous((end - begin) * 4, "a region's columns"));
    HONE_RETURN_IF_ERROR(generator.FillColumns(region, columns.as<NodeId>()));
    HONE_RETURN_IF_ERROR(writer.Append(columns_at, {columns.data(), static_cast<size_t>(columns.size())}));
  }
  if (progress) progress("edges", edges, edges);
  MemoryRegion rows;
  if (width > 0) {
    HONE_ASSIGN_OR_RETURN(rows, MemoryRegion::Anonymous(std::min(nodes, kFeatureRowsAtOnce) * stride, "feature rows"));
  }
  std::vector<int32_t> labels;
  for (int64_t v = 0; v < nodes; v += kFeatureRowsAtOnce) {
    const int64_t end = std::min(nodes, v + kFeatureRowsAtOnce);
    if (progress) progress("features", v, nodes);
    if (width > 0) {
      generator.FillFeatures(v, end, rows.data(), stride);
      HONE_RETURN_IF_ERROR(writer.Append(features_at, {rows.data(), static_cast<size_t>((end - v) * stride)}));
    }
    labels.resize(static_cast<size_t>(end - v));
    generator.FillLabels(v, end, labels.data());
    HONE_RETURN_IF_ERROR(writer.AppendValues<int32_t>(labels_at, labels));
  }
  if (progress) progress("features", nodes, nodes);
  for (size_t i = 0; i < 3; ++i) {
    if (!split[i].empty()) HONE_RETURN_IF_ERROR(writer.AppendValues<int32_t>(split_at[i], split[i]));
  }
  HONE_RETURN_IF_ERROR(writer.Append(provenance_at, std::as_bytes(std::span(provenance))));
  if (progress) progress("flushing to disk", 0, 0);
  return writer.Finish();
}

}  // namespace hone::gnn
