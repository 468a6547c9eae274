// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines Graph: the nodes, edges, features, labels and splits that the whole engine reads.
//
// A Graph is immutable once open, and safe to read from any number of threads. A Graph owns its memory (a mapped
// container, anonymous huge pages, or generated arrays); the views borrow from the Graph and must not outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone::gnn {

using NodeId = int32_t;

// Compressed sparse rows by destination: row v lists the in-neighbors of v, the sources of the messages v receives.
// Parallel edges stay parallel: a neighbor listed twice has twice the weight in a draw and in a mean.
struct CsrView {
  int64_t num_nodes = 0;
  std::span<const int64_t> row_offsets;  // [num_nodes + 1], ascending, row_offsets[0] == 0
  std::span<const NodeId> columns;       // [row_offsets[num_nodes]], each in [0, num_nodes)

  int64_t num_edges() const { return static_cast<int64_t>(columns.size()); }
  int64_t Degree(NodeId v) const { return row_offsets[v + 1] - row_offsets[v]; }
  std::span<const NodeId> Neighbors(NodeId v) const {
    return columns.subspan(static_cast<size_t>(row_offsets[v]), static_cast<size_t>(Degree(v)));
  }
};

enum class FeatureDtype : uint8_t { kFloat32, kFloat16, kBFloat16 };
std::string_view FeatureDtypeName(FeatureDtype dtype);  // "float32", "float16", "bfloat16"
constexpr int64_t FeatureDtypeBytes(FeatureDtype dtype) { return dtype == FeatureDtype::kFloat32 ? 4 : 2; }

// Row-major feature rows, of nodes or of edges. Elements between `width` and the end of a row's stride are zero.
struct FeatureView {
  const std::byte* rows = nullptr;  // aligned to 64 bytes
  FeatureDtype dtype = FeatureDtype::kFloat32;
  int64_t num_rows = 0;
  int64_t width = 0;  // elements
  // A row of a node takes a multiple of 64 bytes, or of 128 if its elements take more than 96. A row of an edge takes a
  // power of two up to 64, or a multiple of 64, because a graph has many more edges than nodes and their rows are
  // narrow.
  int64_t stride_bytes = 0;

  const std::byte* Row(int64_t v) const { return rows + v * stride_bytes; }
};

// Known properties of a graph's edges. The defaults promise nothing: parallel_edges and self_loops mean that there may
// be some.
struct GraphFlags {
  static constexpr uint32_t kSymmetric = 1, kSorted = 2, kParallelEdges = 4, kSelfLoops = 8;
  bool symmetric = false;  // u lists v as often as v lists u
  bool sorted = false;     // every row ascends
  bool parallel_edges = true;
  bool self_loops = true;
};

// This label marks a node without a label; the loss and the accuracy ignore such nodes.
inline constexpr int32_t kNoLabel = -1;

// What a model predicts for a node: one of several classes, several labels that each are true or false, or real
// numbers.
enum class TargetKind : uint8_t { kClasses, kMultiLabel, kValues };
std::string_view TargetKindName(TargetKind kind);  // "classes", "multi-label", "values"

// The targets of the nodes of a graph for multi-label classification (kMultiLabel) or regression (kValues): a dense
// row-major array of float32. kMultiLabel: each element is 0 or 1. An element that is not known is NaN; it has no part
// in losses and metrics.
struct TargetView {
  TargetKind kind = TargetKind::kClasses;  // kClasses: the graph has no such targets, and `rows` is null
  const float* rows = nullptr;             // [num_rows, width]
  int64_t num_rows = 0;                    // the number of nodes, or 0
  int64_t width = 0;                       // labels or values of a node

  const float* Row(int64_t v) const { return rows + v * width; }
};

class Graph {
 public:
  virtual ~Graph() = default;
  virtual const std::string& name() const = 0;  // as given to OpenGraph: a path or synthetic:…
  virtual CsrView structure() const = 0;
  virtual FeatureView features() const = 0;  // num_rows 0: a graph without features
  // Features of the edges: row e belongs to the edge from structure().columns[e]. num_rows is the number of edges, or 0
  // for a graph whose edges have no features.
  virtual FeatureView edge_features() const { return {}; }
  // [num_nodes] in [0, num_classes) or kNoLabel; empty: none. In a graph with targets() a label is no class: it is 0
  // for a node with at least one known target, and kNoLabel for others.
  virtual std::span<const int32_t> labels() const = 0;
  virtual int32_t num_classes() const = 0;  // number of classes, or the width of targets()
  virtual TargetView targets() const { return {}; }
  // class_names()[c] is the name of class c, or of column c of targets(), in UTF-8. There are at most num_classes
  // names, and none if the graph's classes are only numbers.
  virtual std::span<const std::string> class_names() const { return {}; }
  // The nodes of each split: ids in ascending order, no node in two splits; empty if the graph has no such split.
  virtual std::span<const NodeId> train_nodes() const = 0;
  virtual std::span<const NodeId> valid_nodes() const = 0;
  virtual std::span<const NodeId> test_nodes() const = 0;
  virtual GraphFlags flags() const { return {}; }
  virtual int64_t resident_bytes() const = 0;  // bytes in memory once all of it was touched
};

// Reports the progress of a long step: `done` of `total` units ("rows", "edges", "bytes"); total 0: not known. Always
// called from the same thread.
using GraphProgress = std::function<void(std::string_view step, int64_t done, int64_t total)>;

struct OpenGraphOptions {
  // kCopy reads the container's sections into anonymous memory with huge pages. kMap maps the file, which then has no
  // huge pages: random reads cost up to 2.5 times as much. kAuto copies a container that fits in half of the free
  // memory, and maps others.
  enum class Load { kAuto, kCopy, kMap } load = Load::kAuto;
  // Selects the parts of a mapped container that are verified (checksums and ranges) before use. A copied container is
  // always verified whole, because the copy reads all of it. kStructure leaves the features unread; it is enough to
  // keep a sampler from reading out of bounds in a damaged file. kHeader verifies the header only, and leaves the
  // checks of rows to the caller.
  enum class Check { kHeader, kStructure, kAll } check = Check::kStructure;
  int threads = 0;  // for generation and copying; 0: all that the process may use
  GraphProgress progress;
};

// Opens or generates a graph. `name`: the path of a container, or "synthetic:SHAPE?scale=…&seed=…" (SHAPE: arxiv,
// products, papers100M). Errors: kNotFound, kInvalidArgument (a damaged or foreign file, an unknown shape: names file,
// field and remedy), kIo.
Result<std::shared_ptr<const Graph>> OpenGraph(const std::string& name, const OpenGraphOptions& options = {});

}  // namespace hone::gnn
