// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes two passes over the edges: into buckets by destination, then bucket by bucket into the file. See convert.h.
#include "gnn/graph/convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include "gnn/graph/class_names.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/container/container_writer.h"
#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/convert/id_range.h"
#include "gnn/graph/edge_buckets.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/parallel.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

constexpr size_t kEdgesAtOnce = 64 * 1024;
// Limits for edge lists whose ids are not numbered from 0 (users' ids, say), which would make a container of mostly
// isolated nodes.
constexpr int64_t kFewNodes = 100'000;  // below this number of nodes the container is smaller than a megabyte anyway
// Largest ratio of all nodes to those with an edge that is converted without --allow-isolated.
constexpr int64_t kNodesPerNodeWithEdges = 10;
constexpr int64_t kFeatureBytesAtOnce = int64_t{16} << 20;

// Hashes a directed edge to one word; SplitMix64's finalizer.
uint64_t DirectedHash(int64_t a, int64_t b) {
  uint64_t z = (static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b)) + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class Conversion {
 public:
  Conversion(const std::string& path, const std::string& out, const ConvertOptions& options)
      : path_(path), out_(out), options_(options) {}

  Result<ConvertReport> Run() {
    HONE_RETURN_IF_ERROR(CheckContainerPath(out_));
    if (options_.split_index >= 0 && (options_.split || options_.split_seed)) {
      return Status::InvalidArgument(
          "--split-index takes a split of the source, and --split and --split-seed make another: leave out one of "
          "them");
    }
    HONE_ASSIGN_OR_RETURN(source_, OpenGraphSource(path_, options_.split_index, options_.labels));
    report_.format = source_.format;
    report_.unread = source_.unread;
    // An earlier output in the source's own folder is not an unread part of the source.
    std::erase_if(report_.unread, [&](const UnreadPart& part) {
      std::error_code error;
      return std::filesystem::equivalent(path_ + "/" + part.name, out_, error);
    });
    HONE_RETURN_IF_ERROR(SettleEdgeFeatures());
    HONE_RETURN_IF_ERROR(SettleNodes());
    HONE_RETURN_IF_ERROR(SettleLabels());
    HONE_RETURN_IF_ERROR(SettleSplits());
    HONE_RETURN_IF_ERROR(BucketEdges());
    HONE_RETURN_IF_ERROR(CreateWriter());
    HONE_RETURN_IF_ERROR(WriteFeatures());
    HONE_RETURN_IF_ERROR(WriteRows());
    return Finish();
  }

 private:
  void Report(std::string_view step, int64_t done, int64_t total) {
    if (options_.progress) options_.progress(step, done, total);
  }

  // Reads the next edges. Ids become those of the container, which are counted from 0.
  Result<size_t> NextEdges(EdgeReader& reader, std::span<int64_t> sources, std::span<int64_t> destinations) const {
    HONE_ASSIGN_OR_RETURN(const size_t count, reader.Next(sources, destinations));
    for (size_t i = 0; i < count && options_.first_id != 0; ++i) {
      sources[i] -= options_.first_id;
      destinations[i] -= options_.first_id;
    }
    return count;
  }

  // Opens the features of the edges, and compares their number with the edges' where that is known before a pass.
  Status SettleEdgeFeatures() {
    if (!options_.edge_features.empty()) {
      if (source_.edge_features) {
        return Status::InvalidArgument(
            fmt::format("'{}' is read as the features of the edges: leave --edge-features out, "
                        "or remove the file",
                        source_.edge_features->name()));
      }
      HONE_ASSIGN_OR_RETURN(NpyArray array, NpyArray::InFile(options_.edge_features));
      HONE_ASSIGN_OR_RETURN(source_.edge_features, FeaturesOfArray(std::move(array), "edge"));
      std::erase_if(report_.unread, [&](const UnreadPart& part) {
        std::error_code error;
        return std::filesystem::equivalent(path_ + "/" + part.name, options_.edge_features, error);
      });
    }
    if (!source_.edge_features) return Status::Ok();
    report_.edge_feature_width = source_.edge_features->width();
    edge_stride_ = EdgeStrideBytes(report_.edge_feature_width, options_.dtype);
    if (options_.self_loops == SelfLoops::kAdd) {
      report_.notes.push_back("the self-loops that were added have edge features of zero");
    }
    const int64_t edges = source_.edges->num_edges();
    return edges < 0 ? Status::Ok() : CheckEdgeRows(edges, "");
  }

  // Checks that each of the source's edges has a row of features. `suffix` (" or more", or empty) follows the number of
  // edges in the message.
  Status CheckEdgeRows(int64_t edges, std::string_view suffix) const {
    const int64_t rows = source_.edge_features->rows();
    if (rows == edges && suffix.empty()) return Status::Ok();
    return Status::InvalidArgument(
        fmt::format("'{}' has {} rows, and '{}' has {}{} edges: give every edge of the source one row, in the order of "
                    "the source (before --symmetrize adds any)",
                    source_.edge_features->name(), rows, path_, edges, suffix));
  }

  // Determines the number of nodes, and where it comes from.
  Status SettleNodes() {
    // Takes a number of nodes that `owner` states (an option or a file); a negative one states nothing.
    const auto take_count = [&](int64_t count, const std::string& owner) {
      if (count < 0) return Status::Ok();
      if (nodes_ < 0) {
        nodes_ = count;
        nodes_stated_by_ = owner;
        return Status::Ok();
      }
      if (count == nodes_) return Status::Ok();
      return Status::InvalidArgument(fmt::format("'{}' has {} rows, and {} says {} nodes: give every node one row",
                                                 owner, count, nodes_stated_by_, nodes_));
    };
    if (options_.num_nodes > 0) HONE_RETURN_IF_ERROR(take_count(options_.num_nodes, "--nodes"));
    HONE_RETURN_IF_ERROR(take_count(source_.num_nodes, source_.nodes_stated_by));
    if (source_.features) HONE_RETURN_IF_ERROR(take_count(source_.features->rows(), source_.features->name()));
    if (!source_.labels.empty()) {
      HONE_RETURN_IF_ERROR(take_count(static_cast<int64_t>(source_.labels.size()), source_.labels_name));
    }
    HONE_RETURN_IF_ERROR(take_count(source_.split_rows, source_.splits_name[0]));
    if (nodes_ < 0) HONE_RETURN_IF_ERROR(FindLargestId());
    if (nodes_ < 1) {
      return Status::InvalidArgument(
          fmt::format("'{}' is an empty graph: {}", path_,
                      nodes_stated_by_.empty() ? "it has no edges" : nodes_stated_by_ + " says there are no nodes"));
    }
    if (nodes_ > INT32_MAX) {
      return Status::InvalidArgument(
          fmt::format("'{}' has {} nodes; node ids are 32-bit, so at most {} can be held", path_, nodes_, INT32_MAX));
    }
    report_.num_nodes = nodes_;
    return Status::Ok();
  }

  // Makes a pass over the edges to find the largest node id.
  Status FindLargestId() {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<EdgeReader> reader, source_.edges->Open());
    std::vector<int64_t> sources(kEdgesAtOnce), destinations(kEdgesAtOnce);
    int64_t largest_id = -1, done = 0, nodes_with_edges = 0;
    std::vector<bool> has_edge;
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const size_t count, NextEdges(*reader, sources, destinations));
      if (count == 0) break;
      for (size_t i = 0; i < count; ++i) {
        const int64_t id = std::max(sources[i], destinations[i]);
        if (id >= INT32_MAX) {
          return Status::InvalidArgument(
              fmt::format("{}: node {} is too large; node ids are 32-bit, so number the nodes from 0 without gaps",
                          reader->Place(i), id + options_.first_id));
        }
        largest_id = std::max(largest_id, id);
        if (static_cast<size_t>(largest_id) >= has_edge.size()) {
          has_edge.resize(
              std::max(static_cast<size_t>(largest_id) + 1, std::min<size_t>(2 * has_edge.size(), INT32_MAX)));
        }
        for (const int64_t endpoint : {sources[i], destinations[i]}) {
          if (endpoint < 0 || has_edge[static_cast<size_t>(endpoint)]) continue;
          has_edge[static_cast<size_t>(endpoint)] = true;
          ++nodes_with_edges;
        }
      }
      done += static_cast<int64_t>(count);
      Report("counting nodes", done, source_.edges->num_edges());
    }
    nodes_ = largest_id + 1;
    if (nodes_ > 0) nodes_stated_by_ = "the largest id";
    if (nodes_ > kFewNodes && nodes_with_edges < nodes_ / kNodesPerNodeWithEdges && !options_.allow_isolated) {
      return Status::InvalidArgument(fmt::format(
          "'{}': the largest id is {}, and {} nodes have an edge: the others would be isolated nodes, in a container "
          "of at "
          "least {:.2g} GB. Number the nodes from 0 without gaps, or say --allow-isolated to keep the ids as they are",
          path_, largest_id, nodes_with_edges, static_cast<double>(nodes_) * 8e-9));
    }
    return Status::Ok();
  }

  // Checks the labels, and determines the number of classes.
  Status SettleLabels() {
    if (options_.labels && source_.labels.empty()) {
      return Status::InvalidArgument(fmt::format("--labels {}: '{}' has no labels; leave the option out",
                                                 TargetKindName(*options_.labels), path_));
    }
    report_.labels = source_.target_kind;
    if (source_.target_kind != TargetKind::kClasses) return SettleTargets();
    int32_t largest_class = -1;
    const int32_t limit = options_.num_classes;
    for (size_t v = 0; v < source_.labels.size(); ++v) {
      const int32_t label = source_.labels[v];
      if (limit > 0 && label >= limit) {
        return Status::InvalidArgument(fmt::format("'{}' row {}: label {} is outside the {} classes of --classes",
                                                   source_.labels_name, v, label, limit));
      }
      largest_class = std::max(largest_class, label);
      report_.labelled += label != kNoLabel;
    }
    // Class numbers far beyond the number of nodes are identifiers and not classes: a model's output would not fit in
    // memory.
    if (limit == 0 && largest_class >= std::max<int64_t>(nodes_, 1000)) {
      return Status::InvalidArgument(
          fmt::format("'{}' has the label {} in a graph of {} nodes; number the classes from 0, or say how many there "
                      "are with --classes",
                      source_.labels_name, largest_class, nodes_));
    }
    const auto named_classes = static_cast<int64_t>(source_.class_names.size());
    if (named_classes > 0 && largest_class >= named_classes) {
      return Status::InvalidArgument(
          fmt::format("'{}' has the label {}, and '{}' names {} classes: give each class a line", source_.labels_name,
                      largest_class, source_.class_names_file, named_classes));
    }
    if (limit > 0 && named_classes > limit) {
      return Status::InvalidArgument(fmt::format("--classes {}: '{}' names {} classes; leave the option out", limit,
                                                 source_.class_names_file, named_classes));
    }
    report_.num_classes = limit > 0 ? limit : std::max(largest_class + 1, static_cast<int32_t>(named_classes));
    return Status::Ok();
  }

  // Does the work of SettleLabels for several labels or values a node.
  Status SettleTargets() {
    const auto named_classes = static_cast<int64_t>(source_.class_names.size());
    if (named_classes > source_.target_width) {
      return Status::InvalidArgument(fmt::format("'{}' names {} columns, and '{}' has {}: give each column a line",
                                                 source_.class_names_file, named_classes, source_.labels_name,
                                                 source_.target_width));
    }
    if (options_.num_classes > 0 && options_.num_classes != source_.target_width) {
      return Status::InvalidArgument(fmt::format("--classes {}: '{}' has {} columns; leave the option out",
                                                 options_.num_classes, source_.labels_name, source_.target_width));
    }
    for (const int32_t label : source_.labels) report_.labelled += label != kNoLabel;
    report_.num_classes = static_cast<int32_t>(source_.target_width);
    return Status::Ok();
  }

  // Checks the source's splits, or makes splits from a seed.
  Status SettleSplits() {
    report_.in_no_split = nodes_;
    if (options_.split || options_.split_seed || !source_.has_splits) {
      const SplitFractions fractions = options_.split.value_or(SplitFractions{});
      if (!(fractions.train >= 0 && fractions.valid >= 0 && fractions.test >= 0 &&
            fractions.train + fractions.valid + fractions.test <= 1 + 1e-9)) {
        return Status::InvalidArgument(
            "split fractions are not negative and their sum is at most 1, as in 0.6,0.2,0.2");
      }
      if (source_.labels.empty()) {
        if (options_.split || options_.split_seed) {
          return Status::InvalidArgument(
              fmt::format("'{}' has no labels to split by; give a folder with labels.npy beside edges.npy and "
                          "features.npy, or an .npz with "
                          "labels (docs/graphs.md), or leave --split out",
                          path_));
        }
        return Status::Ok();
      }
      NodeSplits generated =
          MakeStratifiedSplits(source_.labels, report_.num_classes, fractions, options_.split_seed.value_or(0));
      if (source_.has_splits) {
        report_.notes.push_back(
            fmt::format("the source's own splits ({}) were replaced by splits made by seed", source_.splits_meaning));
      }
      for (int i = 0; i < 3; ++i) source_.splits[i] = std::move(generated.nodes[i]);
      report_.splits_made = true;
    } else {
      report_.splits_meaning = source_.splits_meaning;
      report_.split_count = source_.split_count;
      report_.split_index = source_.split_index;
      report_.notes.insert(report_.notes.end(), source_.notes.begin(), source_.notes.end());
      std::vector<bool> in_a_split(static_cast<size_t>(nodes_));
      for (int i = 0; i < 3; ++i) {
        for (size_t row = 0; row < source_.splits[i].size(); ++row) {
          const NodeId v = source_.splits[i][row];
          if (v < 0 || v >= nodes_) {
            return Status::InvalidArgument(fmt::format("'{}': node {} is outside the {} nodes ({} says so)",
                                                       source_.splits_name[i], v, nodes_, nodes_stated_by_));
          }
          if (in_a_split[static_cast<size_t>(v)]) {
            return Status::InvalidArgument(fmt::format(
                "'{}': node {} is listed twice, or in two splits; a node is in one", source_.splits_name[i], v));
          }
          in_a_split[static_cast<size_t>(v)] = true;
        }
        std::sort(source_.splits[i].begin(), source_.splits[i].end());
      }
    }
    for (int i = 0; i < 3; ++i) {
      report_.split_sizes[i] = static_cast<int64_t>(source_.splits[i].size());
      report_.in_no_split -= report_.split_sizes[i];
      const auto unknown = [&](int64_t v) { return source_.labels[static_cast<size_t>(v)] == kNoLabel; };
      if (static_cast<int64_t>(source_.labels.size()) != nodes_ || source_.splits[i].empty() ||
          !std::all_of(source_.splits[i].begin(), source_.splits[i].end(), unknown)) {
        continue;
      }
      constexpr const char* kNames[] = {"training", "validation", "test"};
      report_.notes.push_back(fmt::format("no {} of the {} {} nodes is known, so that nothing can be {} on them",
                                          source_.target_kind == TargetKind::kValues ? "value" : "label",
                                          report_.split_sizes[i], kNames[i], i == 0 ? "learned" : "measured"));
    }
    return Status::Ok();
  }

  // Makes the first pass: reads the edges into buckets by destination.
  Status BucketEdges() {
    buckets_ = std::make_unique<EdgeBuckets>(nodes_, options_.memory_bytes, out_, edge_stride_);
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<EdgeReader> reader, source_.edges->Open());
    const int64_t width = report_.edge_feature_width;
    const size_t at_once =
        width == 0 ? kEdgesAtOnce
                   : static_cast<size_t>(std::clamp<int64_t>(kFeatureBytesAtOnce / (width * 4), 1, kEdgesAtOnce));
    std::vector<int64_t> sources(at_once), destinations(at_once);
    std::unique_ptr<FeatureReader> features;
    if (source_.edge_features) {
      HONE_ASSIGN_OR_RETURN(features, source_.edge_features->Open());
    }
    std::vector<float> values(at_once * static_cast<size_t>(width));
    std::vector<std::byte> row(static_cast<size_t>(edge_stride_));
    const uint64_t nodes = static_cast<uint64_t>(nodes_);
    const bool drop_loops = options_.self_loops != SelfLoops::kKeep;
    IdRange ids;
    uint64_t direction_hash =
        0;  // sum over edges of hash(u, v) - hash(v, u): 0 for a symmetric graph, else only by chance
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const size_t count, NextEdges(*reader, sources, destinations));
      if (count == 0) break;
      const std::span<float> rows = std::span(values).first(count * static_cast<size_t>(width));
      if (features) {
        const int64_t edges = report_.edges_read + static_cast<int64_t>(count);
        if (edges > source_.edge_features->rows()) return CheckEdgeRows(edges, " or more");
        HONE_RETURN_IF_ERROR(features->Next(rows));
      }
      for (size_t i = 0; i < count; ++i) {
        const int64_t u = sources[i], v = destinations[i];
        if (features) {
          HONE_RETURN_IF_ERROR(StoreRow(source_.edge_features->name(),
                                        rows.subspan(i * static_cast<size_t>(width), static_cast<size_t>(width)),
                                        report_.edges_read + static_cast<int64_t>(i), row.data()));
        }
        if (static_cast<uint64_t>(u) >= nodes || static_cast<uint64_t>(v) >= nodes) return OutOfRange(*reader, i, u, v);
        ids.Add(u, v);
        if (u == v) {
          if (drop_loops) {
            ++report_.self_loops_dropped;
            continue;
          }
        } else if (options_.symmetrize) {
          HONE_RETURN_IF_ERROR(buckets_->Add(static_cast<NodeId>(v), static_cast<NodeId>(u), row.data()));
        } else {
          direction_hash += DirectedHash(u, v) - DirectedHash(v, u);
        }
        HONE_RETURN_IF_ERROR(buckets_->Add(static_cast<NodeId>(u), static_cast<NodeId>(v), row.data()));
      }
      report_.edges_read += static_cast<int64_t>(count);
      Report("reading edges", report_.edges_read, source_.edges->num_edges());
    }
    if (std::optional<UnreadPart> columns = reader->Unread()) {
      report_.unread.insert(report_.unread.begin(), std::move(*columns));
    }
    if (report_.edges_read == 0) {
      return Status::InvalidArgument(fmt::format("'{}' is an empty graph: it has no edges", path_));
    }
    if (source_.edge_features) HONE_RETURN_IF_ERROR(CheckEdgeRows(report_.edges_read, ""));
    // Rows of features or labels say that there is a node 0; without them only the edges do.
    report_.perhaps_from_one = options_.first_id == 0 && source_.features == nullptr && source_.labels.empty() &&
                               ids.CountsFromOne(nodes_ - 1);
    if (report_.perhaps_from_one) {
      report_.notes.push_back(
          "no edge has node 0, which is a node without edges here; if the ids are counted from 1, say --first-id 1");
    }
    // Coalescing keeps a symmetric multigraph symmetric. It may also make an asymmetric one symmetric, for which the
    // flag is not set.
    report_.flags.symmetric = options_.symmetrize || direction_hash == 0;
    report_.spilled = buckets_->spilled();
    return Status::Ok();
  }

  // Returns the error about edge i of the reader, of which one end is not a node.
  Status OutOfRange(const EdgeReader& reader, size_t i, int64_t u, int64_t v) {
    const int64_t bad_id = u < 0 || u >= nodes_ ? u : v;
    const int64_t id_in_source = bad_id + options_.first_id;  // as the source has it
    if (bad_id < 0 && options_.first_id != 0) {
      return Status::InvalidArgument(
          fmt::format("{}: node {} is below --first-id {}; the first node's id is the smallest", reader.Place(i),
                      id_in_source, options_.first_id));
    }
    if (bad_id < 0)
      return Status::InvalidArgument(fmt::format("{}: node {} is negative; ids run from 0", reader.Place(i), bad_id));
    std::string hint;
    if (bad_id == nodes_ && options_.first_id == 0) {
      const Result<IdRange> ids = RangeOfIds(*source_.edges);
      if (ids.ok() && ids->CountsFromOne(nodes_)) {
        hint =
            ". No edge has node 0, and the largest id is the number of nodes: if the ids are counted from 1, say "
            "--first-id 1";
      }
    }
    if (source_.features && nodes_stated_by_ == source_.features->name()) {
      return Status::InvalidArgument(fmt::format("{}: node {} has no features: '{}' has {} rows{}", reader.Place(i),
                                                 id_in_source, nodes_stated_by_, nodes_,
                                                 hint.empty() ? "; add the missing rows" : hint));
    }
    return Status::InvalidArgument(
        fmt::format("{}: node {} is outside the {} nodes that {} tells of; ids run from {} to {}{}", reader.Place(i),
                    id_in_source, nodes_, nodes_stated_by_, options_.first_id, nodes_ - 1 + options_.first_id, hint));
  }

  // Creates the container's file with all sections.
  Status CreateWriter() {
    ContainerHeader header;
    header.num_nodes = nodes_;
    header.num_classes = report_.num_classes;
    offsets_at_ = header.Add(SectionType::kRowOffsets, SectionDtype::kInt64, nodes_ + 1, /*required=*/true);
    if (source_.features) {
      report_.feature_width = source_.features->width();
      features_at_ = header.AddFeatures(SectionType::kFeatures, options_.dtype, nodes_, report_.feature_width,
                                        FeatureStrideBytes(report_.feature_width, options_.dtype));
    }
    size_t labels_at = 0, split_at[3] = {0, 0, 0};
    const bool targets = source_.target_kind != TargetKind::kClasses;
    if (targets) {
      labels_at = header.AddTargets(TargetSection(source_.target_kind), nodes_, source_.target_width);
    } else if (!source_.labels.empty()) {
      labels_at = header.Add(SectionType::kLabels, SectionDtype::kInt32, nodes_);
    }
    constexpr SectionType kSplitSections[] = {SectionType::kTrainNodes, SectionType::kValidNodes,
                                              SectionType::kTestNodes};
    for (int i = 0; i < 3; ++i) {
      if (report_.split_sizes[i] > 0)
        split_at[i] = header.Add(kSplitSections[i], SectionDtype::kInt32, report_.split_sizes[i]);
    }
    const std::string provenance = ProvenanceJson();
    const size_t provenance_at =
        header.Add(SectionType::kProvenance, SectionDtype::kBytes, static_cast<int64_t>(provenance.size()));
    std::string names = ClassNamesText(source_.class_names);
    if (static_cast<int64_t>(names.size()) > kMostClassNameBytes) {
      report_.notes.push_back(
          fmt::format("the names of the classes take more than {} MiB and were left out", kMostClassNameBytes >> 20));
      names.clear();
    }
    const size_t names_at =
        names.empty() ? 0
                      : header.Add(SectionType::kClassNames, SectionDtype::kBytes, static_cast<int64_t>(names.size()));
    int64_t most_edges = options_.self_loops == SelfLoops::kAdd ? nodes_ : 0;
    for (int64_t b = 0; b < buckets_->num_buckets(); ++b) most_edges += buckets_->Size(b);
    columns_at_ = header.Add(SectionType::kColumns, SectionDtype::kInt32, most_edges, /*required=*/true);
    if (edge_stride_ > 0) {
      edge_features_at_ = header.AddFeatures(SectionType::kEdgeFeatures, options_.dtype, most_edges,
                                             report_.edge_feature_width, edge_stride_);
    }

    HONE_ASSIGN_OR_RETURN(ContainerWriter writer, ContainerWriter::Create(out_, std::move(header)));
    writer_ = std::make_unique<ContainerWriter>(std::move(writer));
    if (targets) {
      HONE_RETURN_IF_ERROR(writer_->AppendValues<float>(labels_at, source_.targets));
    } else if (!source_.labels.empty()) {
      HONE_RETURN_IF_ERROR(writer_->AppendValues<int32_t>(labels_at, source_.labels));
    }
    for (int i = 0; i < 3; ++i) {
      if (report_.split_sizes[i] > 0)
        HONE_RETURN_IF_ERROR(writer_->AppendValues<int32_t>(split_at[i], source_.splits[i]));
    }
    if (!names.empty()) HONE_RETURN_IF_ERROR(writer_->Append(names_at, std::as_bytes(std::span(names))));
    return writer_->Append(provenance_at, std::as_bytes(std::span(provenance)));
  }

  // Returns the JSON of the provenance section.
  std::string ProvenanceJson() const {
    // A path with JSON's quotes and control characters escaped or replaced.
    const auto escaped = [](const std::string& path) {
      std::string text;
      for (const char c : path) {
        if (c == '"' || c == '\\') text += '\\';
        text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
      }
      return text;
    };
    constexpr const char* loops[] = {"keep", "remove", "add"};
    std::string text = fmt::format(
        R"({{"source":"{}","format":"{}","symmetrize":{},"coalesce":{},"self_loops":"{}","splits":")", escaped(path_),
        report_.format, options_.symmetrize, options_.coalesce, loops[static_cast<int>(options_.self_loops)]);
    if (report_.splits_made) {
      const SplitFractions f = options_.split.value_or(SplitFractions{});
      text += fmt::format("stratified {},{},{} seed {}", f.train, f.valid, f.test, options_.split_seed.value_or(0));
    } else {
      text += !source_.has_splits ? "none"
              : source_.split_count == 1
                  ? "of the source"
                  : fmt::format("of the source, {} of {}", source_.split_index, source_.split_count);
    }
    text += '"';
    if (source_.edge_features) {
      text += fmt::format(R"(,"edge_features":"{}")", escaped(source_.edge_features->name()));
    }
    return text + "}";
  }

  // Converts and writes the feature rows.
  Status WriteFeatures() {
    if (!source_.features) return Status::Ok();
    const int64_t width = report_.feature_width, stride = FeatureStrideBytes(width, options_.dtype);
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<FeatureReader> reader, source_.features->Open());
    const int64_t rows_at_once = std::clamp<int64_t>(kFeatureBytesAtOnce / (width * 4), 1, nodes_);
    std::vector<float> values(static_cast<size_t>(rows_at_once * width));
    std::vector<std::byte> rows(static_cast<size_t>(rows_at_once * stride));
    for (int64_t v = 0; v < nodes_; v += rows_at_once) {
      const int64_t count = std::min(rows_at_once, nodes_ - v);
      const std::span<float> part = std::span(values).first(static_cast<size_t>(count * width));
      HONE_RETURN_IF_ERROR(reader->Next(part));
      for (int64_t r = 0; r < count; ++r) {
        HONE_RETURN_IF_ERROR(StoreRow(source_.features->name(),
                                      part.subspan(static_cast<size_t>(r * width), static_cast<size_t>(width)), v + r,
                                      rows.data() + r * stride));
      }
      HONE_RETURN_IF_ERROR(writer_->Append(features_at_, std::span(rows).first(static_cast<size_t>(count * stride))));
      Report("features", v + count, nodes_);
    }
    return Status::Ok();
  }

  // Rounds row v of the array `name` into `out`, whose padding is already zero.
  Status StoreRow(const std::string& name, std::span<float> row, int64_t v, std::byte* out) {
    for (size_t f = 0; f < row.size(); ++f) {
      if (!std::isfinite(row[f])) {
        if (!options_.replace_nan) {
          return Status::InvalidArgument(fmt::format(
              "'{}' row {} column {} is {}; mend the source, or give --replace-nan VALUE", name, v, f, row[f]));
        }
        row[f] = *options_.replace_nan;
        ++report_.nan_replaced;
      }
      if (options_.dtype == FeatureDtype::kFloat16 && std::fabs(row[f]) >= 65520.0f) {  // rounds to infinity
        return Status::InvalidArgument(
            fmt::format("'{}' row {} column {} is {}, beyond float16's 65504; use --dtype bfloat16 or float32", name, v,
                        f, row[f]));
      }
    }
    if (options_.dtype == FeatureDtype::kFloat32) {
      std::memcpy(out, row.data(), row.size_bytes());
      return Status::Ok();
    }
    const bool is_float16 = options_.dtype == FeatureDtype::kFloat16;
    uint16_t* elements = reinterpret_cast<uint16_t*>(out);
    for (size_t f = 0; f < row.size(); ++f)
      elements[f] = is_float16 ? HalfFromFloat(row[f]) : BFloat16FromFloat(row[f]);
    return Status::Ok();
  }

  // The rows of a bucket's nodes, as the container stores them.
  struct BucketRows {
    std::vector<int64_t> row_ends;  // within the bucket
    std::vector<NodeId> columns;
    std::vector<std::byte> features;               // edge_stride_ bytes for each column
    int64_t parallel = 0, dropped = 0, loops = 0;  // edges: repeated ones kept, repeated ones dropped, self-loops
    Status status;
  };

  // An edge within its row: its source and its place among the bucket's edges, by which parallel edges are sorted.
  struct SourceAndPlace {
    NodeId source;
    int64_t place;
    bool operator<(const SourceAndPlace& other) const {
      return source != other.source ? source < other.source : place < other.place;
    }
  };
  static NodeId SourceOf(NodeId source) { return source; }
  static NodeId SourceOf(const SourceAndPlace& edge) { return edge.source; }

  // Sorts a bucket's edges into rows by a counting sort over destinations. An Entry is a source (NodeId), or a
  // SourceAndPlace if edges have features.
  template <typename Entry>
  BucketRows MakeRows(int64_t bucket) const {
    constexpr bool kFeatures = std::is_same_v<Entry, SourceAndPlace>;
    BucketRows out;
    EdgeBuckets::Edges bucket_edges;
    out.status = buckets_->Read(bucket, bucket_edges);
    if (!out.status.ok()) return out;
    const std::vector<BucketedEdge>& edges = bucket_edges.edges;
    const int64_t first = buckets_->FirstNode(bucket);
    const size_t rows = static_cast<size_t>(buckets_->EndNode(bucket) - first);
    std::vector<int64_t> begin(rows + 1);
    for (const BucketedEdge& e : edges) ++begin[static_cast<size_t>(e.destination - first) + 1];
    for (size_t r = 0; r < rows; ++r) begin[r + 1] += begin[r];
    std::vector<Entry> sources(edges.size());
    std::vector<int64_t> next_place(begin.begin(), begin.end() - 1);
    for (size_t i = 0; i < edges.size(); ++i) {
      Entry& entry = sources[static_cast<size_t>(next_place[static_cast<size_t>(edges[i].destination - first)]++)];
      if constexpr (kFeatures) {
        entry = {edges[i].source, static_cast<int64_t>(i)};
      } else {
        entry = edges[i].source;
      }
    }
    const bool add_loops = options_.self_loops == SelfLoops::kAdd;
    out.columns.reserve(edges.size() + (add_loops ? rows : 0));
    out.features.reserve((edges.size() + (add_loops ? rows : 0)) * static_cast<size_t>(edge_stride_));
    const auto append_loop = [&](NodeId self) {
      out.columns.push_back(self);
      out.features.resize(out.features.size() + static_cast<size_t>(edge_stride_));
      ++out.loops;
    };
    for (size_t r = 0; r < rows; ++r) {
      const auto row_begin = sources.begin() + begin[r], row_end = sources.begin() + begin[r + 1];
      const NodeId self = static_cast<NodeId>(first + static_cast<int64_t>(r));
      std::sort(row_begin, row_end);
      bool needs_loop = add_loops;
      for (auto it = row_begin; it != row_end; ++it) {
        const NodeId source = SourceOf(*it);
        if (it != row_begin && source == SourceOf(*(it - 1))) {
          if (options_.coalesce) {
            ++out.dropped;
            continue;
          }
          ++out.parallel;
        }
        if (needs_loop && source > self) {
          append_loop(self);
          needs_loop = false;
        }
        out.loops += source == self;
        out.columns.push_back(source);
        if constexpr (kFeatures) {
          const auto row = bucket_edges.rows.begin() + it->place * edge_stride_;
          out.features.insert(out.features.end(), row, row + edge_stride_);
        }
      }
      if (needs_loop) append_loop(self);
      out.row_ends.push_back(static_cast<int64_t>(out.columns.size()));
    }
    return out;
  }

  // Makes the second pass: sorts bucket after bucket into rows and writes them.
  Status WriteRows() {
    const int threads = ThreadCount(options_.threads);
    int64_t at_once = std::max(1, 2 * threads);
    if (edge_stride_ > 0) {  // a bucket's features are in memory twice, as read and as sorted
      int64_t largest_bucket = 1;
      for (int64_t b = 0; b < buckets_->num_buckets(); ++b)
        largest_bucket = std::max(largest_bucket, buckets_->Size(b));
      at_once = std::clamp<int64_t>(options_.memory_bytes / (2 * largest_bucket * edge_stride_), 1, at_once);
    }
    int64_t parallel = 0, loops = 0, edges = 0;
    const int64_t zero = 0;
    HONE_RETURN_IF_ERROR(writer_->AppendValues<int64_t>(offsets_at_, {&zero, 1}));
    for (int64_t bucket = 0; bucket < buckets_->num_buckets(); bucket += at_once) {
      const int64_t count = std::min(at_once, buckets_->num_buckets() - bucket);
      std::vector<BucketRows> bucket_rows(static_cast<size_t>(count));
      ParallelPieces(threads, count, [&](int64_t i) {
        bucket_rows[static_cast<size_t>(i)] =
            edge_stride_ > 0 ? MakeRows<SourceAndPlace>(bucket + i) : MakeRows<NodeId>(bucket + i);
      });
      for (int64_t i = 0; i < count; ++i) {
        BucketRows& rows = bucket_rows[static_cast<size_t>(i)];
        HONE_RETURN_IF_ERROR(rows.status);
        for (int64_t& end : rows.row_ends) end += edges;
        HONE_RETURN_IF_ERROR(writer_->AppendValues<int64_t>(offsets_at_, rows.row_ends));
        HONE_RETURN_IF_ERROR(writer_->AppendValues<NodeId>(columns_at_, rows.columns));
        if (edge_stride_ > 0) HONE_RETURN_IF_ERROR(writer_->Append(edge_features_at_, rows.features));
        edges += static_cast<int64_t>(rows.columns.size());
        parallel += rows.parallel;
        loops += rows.loops;
        report_.parallel_dropped += rows.dropped;
        buckets_->Release(bucket + i);
      }
      Report("sorting rows", std::min(buckets_->num_buckets(), bucket + count), buckets_->num_buckets());
    }
    report_.num_edges = edges;
    report_.flags.sorted = true;
    report_.flags.parallel_edges = parallel > 0;
    report_.flags.self_loops = loops > 0;
    return Status::Ok();
  }

  Result<ConvertReport> Finish() {
    writer_->Shrink(columns_at_);
    if (edge_stride_ > 0) writer_->Shrink(edge_features_at_);
    writer_->header().num_edges = report_.num_edges;
    writer_->header().graph_flags = FlagBits(report_.flags);
    Report("flushing to disk", 0, 0);
    HONE_RETURN_IF_ERROR(writer_->Finish());
    return std::move(report_);
  }

  const std::string path_, out_;
  const ConvertOptions& options_;
  ConvertReport report_;
  GraphSource source_;
  int64_t nodes_ = -1;           // -1: not yet known
  std::string nodes_stated_by_;  // option or file that states the number of nodes, for messages
  std::unique_ptr<EdgeBuckets> buckets_;
  std::unique_ptr<ContainerWriter> writer_;
  int64_t edge_stride_ = 0;  // bytes of an edge's row of features; 0: the edges have none
  size_t offsets_at_ = 0, columns_at_ = 0, features_at_ = 0, edge_features_at_ = 0;
};

}  // namespace

Result<ConvertReport> ConvertGraph(const std::string& source, const std::string& out, const ConvertOptions& options) {
  return Conversion(source, out, options).Run();
}

}  // namespace hone::gnn
