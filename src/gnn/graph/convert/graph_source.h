// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Presents a graph that another program's files hold: a stream of edges, a stream of feature rows, and labels and
// splits in memory.
//
// Readers of single formats (source_*.cc) make a GraphSource; convert.cc turns it into a container. Every error names
// the file and the row or line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/convert/npy_array.h"
#include "gnn/graph/convert/unread.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// One pass over the edges.
class EdgeReader {
 public:
  virtual ~EdgeReader() = default;
  // Reads up to sources.size() edges sources[i] -> destinations[i] (same sizes); returns 0 at the end. Ids are as in
  // the file: the caller checks their range.
  virtual Result<size_t> Next(std::span<int64_t> sources, std::span<int64_t> destinations) = 0;
  // Names the place of edge i of the last Next(): "'edges.npy' row 17".
  virtual std::string Place(size_t i) const = 0;
  // At the end, returns the further columns of the edge list that were not read, if there are any.
  virtual std::optional<UnreadPart> Unread() const { return std::nullopt; }
};

class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  virtual int64_t num_edges() const = 0;  // -1: unknown before a pass
  virtual Result<std::unique_ptr<EdgeReader>> Open() const = 0;
};

// One pass over dense feature rows, in the order of the nodes, or of the source's edges.
class FeatureReader {
 public:
  virtual ~FeatureReader() = default;
  // Fills rows.size() / width rows. The caller must not read past the source's rows.
  virtual Status Next(std::span<float> rows) = 0;
};

class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual const std::string& name() const = 0;
  virtual int64_t rows() const = 0;  // -1: unknown before a pass
  virtual int64_t width() const = 0;
  virtual Result<std::unique_ptr<FeatureReader>> Open() const = 0;
};

struct GraphSource {
  std::string format;           // "OGB folder", …
  int64_t num_nodes = -1;       // -1: not stated by the source
  std::string nodes_stated_by;  // what stated num_nodes, for messages
  std::unique_ptr<EdgeSource> edges;
  std::unique_ptr<FeatureSource> features;       // null: none
  std::unique_ptr<FeatureSource> edge_features;  // a row for each edge, in the order of `edges`; null: none
  std::vector<int32_t> labels;                   // empty: no labels; kNoLabel for a node without one
  std::string labels_name;
  // With several labels or values a node, which `labels` then stands for as Graph::labels() does:
  TargetKind target_kind = TargetKind::kClasses;
  std::vector<float> targets;  // [nodes, target_width], NaN where unknown
  int64_t target_width = 0;
  std::vector<std::string> class_names;  // class_names[c] is the name of class c; empty: the source has only numbers
  std::string class_names_file;          // the file with the class names
  bool has_splits = false;
  std::vector<NodeId> splits[3];  // train, valid, test, as read: unsorted, unchecked
  std::string splits_name[3];
  int64_t split_rows = -1;         // rows of the splits' arrays, if these have a row per node; -1 otherwise
  std::string splits_meaning;      // what the splits mean, judged by the file that holds them, for the report
  int split_count = 1;             // official splits that the source holds
  int split_index = 0;             // index of the split used
  std::vector<std::string> notes;  // sentences about decisions that the reader made
  std::vector<std::string> read_paths;  // for a folder: paths of the files that were opened
  std::vector<UnreadPart> unread;  // members and columns that the reader skips; later also the folder's other files
};

// Opens `path`; its layout decides the format:
//   a folder with raw/                         OGB (csv.gz, or papers100M's data.npz)
//   a folder with edges.npy                    arrays: edges, features, labels, split or masks
//   a folder with *_edges.csv, *_target.csv    facebook_large and its kin
//   a .npz with adj_indptr                     scipy CSR members
//   a .npz with edges and node_features        the heterophilous graphs' members, with several official splits
//   any other file                             a CSV or SNAP edge list, gzip or not
// `split_index`: the official split to use, if there are several; -1: not given. `labels`: what the labels are; not
// given: several columns of them are labels that are each true or false, and one column has classes. kNotFound and
// kInvalidArgument name the expected files.
Result<GraphSource> OpenGraphSource(const std::string& path, int split_index = -1,
                                    std::optional<TargetKind> labels = std::nullopt);

// Open a source of one format each.
Result<GraphSource> OpenOgbFolder(const std::string& path, std::optional<TargetKind> labels = std::nullopt);
Result<GraphSource> OpenNpyFolder(const std::string& path, int split_index = -1,
                                  std::optional<TargetKind> labels = std::nullopt);
Result<GraphSource> OpenMusaeFolder(const std::string& path, const std::string& stem);
Result<GraphSource> OpenArchive(const std::string& path, int split_index = -1,
                                std::optional<TargetKind> labels = std::nullopt);
Result<GraphSource> OpenEdgeList(const std::string& path);

// ---- building blocks shared by the readers ----
//
// Reads the edges of an array [E, 2], whose row e is source and destination, or [2, E], whose row 0 is the sources; of
// the latter, two readers read one row each.
Result<std::unique_ptr<EdgeSource>> EdgesOfArray(NpyArray array, bool prefer_two_rows);
Result<std::unique_ptr<EdgeSource>> EdgesOfText(const std::string& path);
// `element`: what has a row each, for messages: "node" or "edge".
Result<std::unique_ptr<FeatureSource>> FeaturesOfArray(NpyArray array, std::string_view element = "node");
// Makes dense rows from sparse ones: row r is indices[offsets[r] … offsets[r+1]), values[i] (empty: all 1). Indices in
// [0, width).
std::unique_ptr<FeatureSource> FeaturesOfSparseRows(std::string name, int64_t width, std::vector<int64_t> offsets,
                                                    std::vector<int32_t> indices, std::vector<float> values);
// Makes num_nodes rows of zeros and ones from JSON text {"node id": [feature index, …], …}.
Result<std::unique_ptr<FeatureSource>> FeaturesOfJsonLists(std::string_view text, const std::string& name,
                                                           int64_t num_nodes);
// Reads labels from a vector of integers or floats ([N] or [N, 1]); NaN and negative numbers become kNoLabel.
Result<std::vector<int32_t>> LabelsOfArray(const NpyArray& array);
// Reads the labels of `array`, of the given kind, into the source.
Status ReadLabels(const NpyArray& array, std::optional<TargetKind> labels, GraphSource& source);
// Converts one label; NaN and -1 become kNoLabel. kInvalidArgument for a fraction, below -1, or above 2^31 - 2; `place`
// for the message.
Result<int32_t> LabelOfFloat(double value, const std::string& place);

}  // namespace hone::gnn
