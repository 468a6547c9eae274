// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads graph sources made of NumPy arrays: a folder of .npy files, and .npz archives with scipy's CSR members or those
// of the heterophilous graphs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/files/file.h"
#include "gnn/graph/class_names.h"
#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/convert/split_masks.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

// Reads an array [E, 2], whose row e holds source and destination.
class PairReader final : public EdgeReader {
 public:
  PairReader(NpyItems items, int64_t edges, std::string name)
      : items_(std::move(items)), left_(edges), name_(std::move(name)) {}
  Result<size_t> Next(std::span<int64_t> sources, std::span<int64_t> destinations) override {
    base_ += last_;
    last_ = std::min(static_cast<int64_t>(sources.size()), left_);
    pairs_.resize(static_cast<size_t>(last_) * 2);
    HONE_RETURN_IF_ERROR(items_.ReadIntegers(pairs_));
    for (size_t i = 0; i < static_cast<size_t>(last_); ++i) {
      sources[i] = pairs_[2 * i];
      destinations[i] = pairs_[2 * i + 1];
    }
    left_ -= last_;
    return static_cast<size_t>(last_);
  }
  std::string Place(size_t i) const override {
    return fmt::format("'{}' row {}", name_, base_ + static_cast<int64_t>(i));
  }

 private:
  NpyItems items_;
  int64_t left_, base_ = 0, last_ = 0;
  std::string name_;
  std::vector<int64_t> pairs_;
};

// Reads an array [2, E], or [E, 2] in Fortran order. Its file holds all sources, then all destinations, so two readers
// advance together.
class TwoRowReader final : public EdgeReader {
 public:
  TwoRowReader(NpyItems sources, NpyItems destinations, int64_t edges, std::string name)
      : sources_(std::move(sources)), destinations_(std::move(destinations)), left_(edges), name_(std::move(name)) {}
  Result<size_t> Next(std::span<int64_t> sources, std::span<int64_t> destinations) override {
    base_ += last_;
    last_ = std::min(static_cast<int64_t>(sources.size()), left_);
    HONE_RETURN_IF_ERROR(sources_.ReadIntegers(sources.first(static_cast<size_t>(last_))));
    HONE_RETURN_IF_ERROR(destinations_.ReadIntegers(destinations.first(static_cast<size_t>(last_))));
    left_ -= last_;
    return static_cast<size_t>(last_);
  }
  std::string Place(size_t i) const override {
    return fmt::format("'{}' column {}", name_, base_ + static_cast<int64_t>(i));
  }

 private:
  NpyItems sources_, destinations_;
  int64_t left_, base_ = 0, last_ = 0;
  std::string name_;
};

class ArrayEdges final : public EdgeSource {
 public:
  ArrayEdges(NpyArray array, int64_t edges, bool two_rows)
      : array_(std::move(array)), edges_(edges), two_rows_(two_rows) {}
  int64_t num_edges() const override { return edges_; }
  Result<std::unique_ptr<EdgeReader>> Open() const override {
    HONE_ASSIGN_OR_RETURN(NpyItems first, array_.Open());
    if (!two_rows_)
      return std::unique_ptr<EdgeReader>(std::make_unique<PairReader>(std::move(first), edges_, array_.name()));
    HONE_ASSIGN_OR_RETURN(NpyItems second, array_.Open(edges_));
    return std::unique_ptr<EdgeReader>(
        std::make_unique<TwoRowReader>(std::move(first), std::move(second), edges_, array_.name()));
  }

 private:
  NpyArray array_;
  int64_t edges_;
  bool two_rows_;
};

class DenseReader final : public FeatureReader {
 public:
  explicit DenseReader(NpyItems items) : items_(std::move(items)) {}
  Status Next(std::span<float> rows) override { return items_.ReadFloats(rows); }

 private:
  NpyItems items_;
};

// Reads features [N, F] in Fortran order, which a file stores column by column. A few rows of every column are read at
// a time, so that memory does not grow with N. A compressed archive would be decompressed once per column, so it is
// first read whole.
class ColumnReader final : public FeatureReader {
 public:
  ColumnReader(NpyArray array, std::vector<float> all_values)
      : array_(std::move(array)), whole_(std::move(all_values)) {}
  Status Next(std::span<float> rows) override {
    const auto width = static_cast<size_t>(array_.header().shape[1]);
    const auto height = static_cast<size_t>(array_.header().shape[0]);
    const size_t count = rows.size() / width;
    column_.resize(count);
    for (size_t f = 0; f < width; ++f) {
      const size_t first = f * height + row_;
      std::span<const float> column = column_;
      if (!whole_.empty()) {
        column = std::span<const float>(whole_).subspan(first, count);
      } else {
        HONE_ASSIGN_OR_RETURN(NpyItems items, array_.Open(static_cast<int64_t>(first)));
        HONE_RETURN_IF_ERROR(items.ReadFloats(column_));
      }
      for (size_t r = 0; r < count; ++r) rows[r * width + f] = column[r];
    }
    row_ += count;
    return Status::Ok();
  }

 private:
  NpyArray array_;
  std::vector<float> whole_;  // all values, if they were read at once; empty: read from array_ in pieces
  std::vector<float> column_;
  size_t row_ = 0;
};

class DenseFeatures final : public FeatureSource {
 public:
  explicit DenseFeatures(NpyArray array) : array_(std::move(array)) {}
  const std::string& name() const override { return array_.name(); }
  int64_t rows() const override { return array_.header().shape[0]; }
  int64_t width() const override { return array_.header().shape[1]; }
  Result<std::unique_ptr<FeatureReader>> Open() const override {
    if (array_.header().fortran_order && width() > 1) {
      std::vector<float> all_values;
      if (!array_.seekable()) {
        HONE_ASSIGN_OR_RETURN(all_values, array_.Floats());
      }
      return std::unique_ptr<FeatureReader>(std::make_unique<ColumnReader>(array_, std::move(all_values)));
    }
    HONE_ASSIGN_OR_RETURN(NpyItems items, array_.Open());
    return std::unique_ptr<FeatureReader>(std::make_unique<DenseReader>(std::move(items)));
  }

 private:
  NpyArray array_;
};

class SparseFeatures final : public FeatureSource {
 public:
  SparseFeatures(std::string name, int64_t width, std::vector<int64_t> offsets, std::vector<int32_t> indices,
                 std::vector<float> values)
      : name_(std::move(name)),
        width_(width),
        offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        values_(std::move(values)) {}
  const std::string& name() const override { return name_; }
  int64_t rows() const override { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t width() const override { return width_; }
  Result<std::unique_ptr<FeatureReader>> Open() const override {
    return std::unique_ptr<FeatureReader>(std::make_unique<Reader>(*this));
  }

 private:
  class Reader final : public FeatureReader {
   public:
    explicit Reader(const SparseFeatures& source) : source_(source) {}
    Status Next(std::span<float> rows) override {
      std::fill(rows.begin(), rows.end(), 0.0f);
      const size_t width = static_cast<size_t>(source_.width_);
      for (size_t at = 0; at + width <= rows.size(); at += width, ++row_) {
        for (int64_t i = source_.offsets_[row_]; i < source_.offsets_[row_ + 1]; ++i) {
          const size_t entry = static_cast<size_t>(i);
          rows[at + static_cast<size_t>(source_.indices_[entry])] =
              source_.values_.empty() ? 1.0f : source_.values_[entry];
        }
      }
      return Status::Ok();
    }

   private:
    const SparseFeatures& source_;
    size_t row_ = 0;
  };
  std::string name_;
  int64_t width_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> indices_;
  std::vector<float> values_;
};

// The edges of scipy's adjacency matrix: the entry in row i and column j is the edge i -> j.
class CsrEdges final : public EdgeSource {
 public:
  CsrEdges(NpyArray indices, std::vector<int64_t> offsets)
      : indices_(std::move(indices)), offsets_(std::move(offsets)) {}
  int64_t num_edges() const override { return offsets_.back(); }
  Result<std::unique_ptr<EdgeReader>> Open() const override {
    HONE_ASSIGN_OR_RETURN(NpyItems items, indices_.Open());
    return std::unique_ptr<EdgeReader>(std::make_unique<Reader>(*this, std::move(items)));
  }

 private:
  class Reader final : public EdgeReader {
   public:
    Reader(const CsrEdges& source, NpyItems items) : source_(source), items_(std::move(items)) {}
    Result<size_t> Next(std::span<int64_t> sources, std::span<int64_t> destinations) override {
      base_ += last_;
      last_ = std::min(static_cast<int64_t>(sources.size()), source_.num_edges() - base_);
      HONE_RETURN_IF_ERROR(items_.ReadIntegers(destinations.first(static_cast<size_t>(last_))));
      for (int64_t i = 0; i < last_; ++i) {
        while (source_.offsets_[row_ + 1] <= base_ + i) ++row_;
        sources[static_cast<size_t>(i)] = static_cast<int64_t>(row_);
      }
      return static_cast<size_t>(last_);
    }
    std::string Place(size_t i) const override {
      return fmt::format("'{}' entry {}", source_.indices_.name(), base_ + static_cast<int64_t>(i));
    }

   private:
    const CsrEdges& source_;
    NpyItems items_;
    size_t row_ = 0;
    int64_t base_ = 0, last_ = 0;
  };
  NpyArray indices_;
  std::vector<int64_t> offsets_;
};

struct CsrMembers {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> offsets;
};

// Reads the members PREFIX_shape and PREFIX_indptr, and checks shape and row pointers.
Result<CsrMembers> ReadCsr(const std::shared_ptr<const ZipArchive>& archive, const std::string& prefix,
                           int64_t entries) {
  HONE_ASSIGN_OR_RETURN(const NpyArray shape_array, NpyArray::InArchive(archive, prefix + "_shape"));
  HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, shape_array.Integers());
  HONE_ASSIGN_OR_RETURN(const NpyArray pointer_array, NpyArray::InArchive(archive, prefix + "_indptr"));
  CsrMembers csr;
  HONE_ASSIGN_OR_RETURN(csr.offsets, pointer_array.Integers());
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[1] > INT32_MAX ||
      static_cast<int64_t>(csr.offsets.size()) != shape[0] + 1) {
    return Status::InvalidArgument(fmt::format("'{}' has {} row pointers, which do not suit the shape in '{}'",
                                               pointer_array.name(), csr.offsets.size(), shape_array.name()));
  }
  csr.rows = shape[0];
  csr.columns = shape[1];
  if (csr.offsets.front() != 0 || !std::is_sorted(csr.offsets.begin(), csr.offsets.end()) ||
      csr.offsets.back() != entries) {
    return Status::InvalidArgument(fmt::format("'{}' does not ascend from 0 to the {} entries of {}_indices",
                                               pointer_array.name(), entries, prefix));
  }
  return csr;
}

}  // namespace

Result<std::unique_ptr<EdgeSource>> EdgesOfArray(NpyArray array, bool prefer_two_rows) {
  const NpyHeader& h = array.header();
  const auto refuse = [&](std::string_view why) {
    return Status::InvalidArgument(fmt::format("'{}' is {}: {}", array.name(), h.Text(), why));
  };
  if (!h.integer()) return refuse("edges are integer node ids");
  if (h.shape.size() != 2 || (h.shape[0] != 2 && h.shape[1] != 2)) return refuse("edges are an array [E, 2] or [2, E]");
  // A 2 x 2 array is ambiguous. It is read as the source's format usually stores edges.
  const bool two_by_e = h.shape[0] == 2 && (h.shape[1] != 2 || prefer_two_rows);
  const int64_t edges = two_by_e ? h.shape[1] : h.shape[0];
  const bool two_rows = two_by_e != h.fortran_order;
  return std::unique_ptr<EdgeSource>(std::make_unique<ArrayEdges>(std::move(array), edges, two_rows));
}

Result<std::unique_ptr<FeatureSource>> FeaturesOfArray(NpyArray array, std::string_view element) {
  const NpyHeader& h = array.header();
  if (h.shape.size() != 2 || h.shape[1] < 1 || h.shape[1] > (1 << 24)) {
    return Status::InvalidArgument(fmt::format("'{}' is {}: features are an array [{}, F], a row for each {}{}",
                                               array.name(), h.Text(), element == "edge" ? "E" : "N", element,
                                               h.shape.size() == 1 ? "; of one feature, save x.reshape(-1, 1)" : ""));
  }
  return std::unique_ptr<FeatureSource>(std::make_unique<DenseFeatures>(std::move(array)));
}

std::unique_ptr<FeatureSource> FeaturesOfSparseRows(std::string name, int64_t width, std::vector<int64_t> offsets,
                                                    std::vector<int32_t> indices, std::vector<float> values) {
  return std::make_unique<SparseFeatures>(std::move(name), width, std::move(offsets), std::move(indices),
                                          std::move(values));
}

Result<int32_t> LabelOfFloat(double value, const std::string& place) {
  if (std::isnan(value) || value == -1) return kNoLabel;
  if (value < -1 || value > 2147483646.0 || value != std::floor(value)) {
    return Status::InvalidArgument(
        fmt::format("{}: label {} is no class; labels are whole numbers from 0, and -1 or NaN where a node has none. "
                    "Say --labels values if these are numbers to predict (regression)",
                    place, value));
  }
  return static_cast<int32_t>(value);
}

Status ReadLabels(const NpyArray& array, std::optional<TargetKind> labels, GraphSource& source) {
  HONE_ASSIGN_OR_RETURN(NodeTargets targets, TargetsOfArray(array, labels));
  TakeTargets(std::move(targets), array.name(), source);
  return Status::Ok();
}

void TakeTargets(NodeTargets targets, const std::string& name, GraphSource& source) {
  source.labels = std::move(targets.labels);
  source.labels_name = name;
  source.target_kind = targets.kind;
  source.targets = std::move(targets.values);
  source.target_width = targets.width;
}

Result<std::vector<int32_t>> LabelsOfArray(const NpyArray& array) {
  const NpyHeader& h = array.header();
  if (h.shape.size() > 2 || h.shape.empty() || (h.shape.size() == 2 && h.shape[1] != 1)) {
    return Status::InvalidArgument(
        fmt::format("'{}' is {}: classes are an array [N] or [N, 1], one class a node; say --labels multi-label if a "
                    "node has several labels, or --labels values for numbers to predict (regression)",
                    array.name(), h.Text()));
  }
  std::vector<int32_t> labels(static_cast<size_t>(h.items()));
  HONE_ASSIGN_OR_RETURN(NpyItems items, array.Open());
  constexpr size_t kAtOnce = 1 << 16;
  std::vector<int64_t> integers(kAtOnce);
  std::vector<float> floats(kAtOnce);
  for (size_t at = 0; at < labels.size(); at += kAtOnce) {
    const size_t count = std::min(kAtOnce, labels.size() - at);
    if (h.integer())
      HONE_RETURN_IF_ERROR(items.ReadIntegers(std::span(integers).first(count)));
    else
      HONE_RETURN_IF_ERROR(items.ReadFloats(std::span(floats).first(count)));
    for (size_t i = 0; i < count; ++i) {
      const double value = h.integer() ? static_cast<double>(integers[i]) : static_cast<double>(floats[i]);
      if (value >= 0 && value < 2147483647.0 && value == std::floor(value)) {
        labels[at + i] = static_cast<int32_t>(value);
        continue;
      }
      HONE_ASSIGN_OR_RETURN(labels[at + i], LabelOfFloat(value, fmt::format("'{}' row {}", array.name(), at + i)));
    }
  }
  return labels;
}

namespace {

// Reads an array with the number of each node's split: 0 train, 1 valid, 2 test, -1 none.
Status ReadSplitNumbers(const NpyArray& split, GraphSource& source) {
  if (split.header().kind == 'b') {
    return Status::InvalidArgument(fmt::format(
        "'{}' is {}: true and false mark one split only, and split.npy gives every node's split as a number (0 train, "
        "1 valid, 2 test, -1 none). Rename a mask of training nodes to train_mask.npy, beside val_mask.npy and "
        "test_mask.npy",
        split.name(), split.header().Text()));
  }
  if (split.header().shape.size() != 1) {
    return Status::InvalidArgument(
        fmt::format("'{}' is {}: a split is an array [N] of 0 train, 1 valid, 2 test, -1 none", split.name(),
                    split.header().Text()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> values, split.Integers());
  for (size_t v = 0; v < values.size(); ++v) {
    if (values[v] < -1 || values[v] > 2) {
      return Status::InvalidArgument(fmt::format(
          "'{}' row {}: {} is no split; write 0 train, 1 valid, 2 test or -1 none", split.name(), v, values[v]));
    }
    if (values[v] >= 0) source.splits[values[v]].push_back(static_cast<NodeId>(v));
  }
  source.splits_meaning = "in split.npy 0 is train, 1 is valid, 2 is test, -1 is none";
  if (source.splits[2].empty()) {
    source.notes.push_back(
        "split.npy names no test node: if 1 marks its training nodes, it is a mask; rename it to train_mask.npy and "
        "convert again");
  }
  source.has_splits = true;
  source.split_rows = static_cast<int64_t>(values.size());
  for (std::string& name : source.splits_name) name = split.name();
  return Status::Ok();
}

// Reads train_mask.npy, valid_mask.npy and so on, if `path` holds any.
Status ReadMaskFiles(const std::string& path, int split_index, GraphSource& source) {
  MaskArrays arrays;
  std::string found_names;
  constexpr std::pair<int, const char*> names[] = {
      {0, "/train_mask.npy"}, {1, "/val_mask.npy"}, {1, "/valid_mask.npy"}, {2, "/test_mask.npy"}};
  for (const auto& [i, name] : names) {
    const std::string file = path + name;
    if (!FileExists(file)) continue;
    if (arrays.masks[i]) {
      return Status::InvalidArgument(
          fmt::format("'{}' and '{}' are both there, and one of them is the validation mask: remove the other",
                      arrays.masks[i]->name(), file));
    }
    HONE_ASSIGN_OR_RETURN(arrays.masks[i], NpyArray::InFile(file));
    source.read_paths.push_back(file);
    found_names = file;
  }
  if (found_names.empty()) {
    if (split_index < 0 || source.has_splits) return Status::Ok();
    return Status::InvalidArgument(fmt::format(
        "--split-index {}: '{}' holds no masks of several official splits; leave the option out", split_index, path));
  }
  if (source.has_splits) {
    return Status::InvalidArgument(fmt::format("'{}' and '{}' both tell splits: remove the one that is not meant",
                                               source.splits_name[0], found_names));
  }
  return ReadSplitMasks(arrays, split_index, source);
}

}  // namespace

Result<GraphSource> OpenNpyFolder(const std::string& path, int split_index, std::optional<TargetKind> labels_are) {
  GraphSource source;
  source.format = "folder of .npy files";
  const auto part = [&](const char* name) { return source.read_paths.emplace_back(path + name); };
  HONE_ASSIGN_OR_RETURN(NpyArray edges, NpyArray::InFile(part("/edges.npy")));
  HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfArray(std::move(edges), /*prefer_two_rows=*/false));
  if (FileExists(path + "/features.npy")) {
    HONE_ASSIGN_OR_RETURN(NpyArray features, NpyArray::InFile(part("/features.npy")));
    HONE_ASSIGN_OR_RETURN(source.features, FeaturesOfArray(std::move(features)));
  }
  if (FileExists(path + "/edge_features.npy")) {
    HONE_ASSIGN_OR_RETURN(NpyArray features, NpyArray::InFile(part("/edge_features.npy")));
    HONE_ASSIGN_OR_RETURN(source.edge_features, FeaturesOfArray(std::move(features), "edge"));
  }
  if (FileExists(path + "/labels.npy")) {
    HONE_ASSIGN_OR_RETURN(const NpyArray labels, NpyArray::InFile(part("/labels.npy")));
    HONE_RETURN_IF_ERROR(ReadLabels(labels, labels_are, source));
    if (FileExists(path + "/classes.txt")) {
      source.class_names_file = part("/classes.txt");
      HONE_ASSIGN_OR_RETURN(source.class_names, ReadClassNames(source.class_names_file));
    }
  }
  if (FileExists(path + "/split.npy")) {
    if (split_index >= 0) {
      return Status::InvalidArgument(
          fmt::format("--split-index {}: '{}/split.npy' is one split; leave the option out", split_index, path));
    }
    HONE_ASSIGN_OR_RETURN(const NpyArray split, NpyArray::InFile(part("/split.npy")));
    HONE_RETURN_IF_ERROR(ReadSplitNumbers(split, source));
  }
  HONE_RETURN_IF_ERROR(ReadMaskFiles(path, split_index, source));
  return source;
}

namespace {

using Archive = std::shared_ptr<const ZipArchive>;

// Opens a graph of PyTorch Geometric's HeterophilousGraphDataset: roman-empire, amazon-ratings, minesweeper, tolokers,
// questions.
Result<GraphSource> OpenHeterophilousArchive(const Archive& archive, int split_index,
                                             std::optional<TargetKind> labels_are) {
  GraphSource source;
  source.format = "archive of a heterophilous graph";
  HONE_ASSIGN_OR_RETURN(NpyArray edges, NpyArray::InArchive(archive, "edges"));
  HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfArray(std::move(edges), /*prefer_two_rows=*/false));
  HONE_ASSIGN_OR_RETURN(NpyArray features, NpyArray::InArchive(archive, "node_features"));
  HONE_ASSIGN_OR_RETURN(source.features, FeaturesOfArray(std::move(features)));
  if (archive->Find("node_labels.npy") != nullptr) {
    HONE_ASSIGN_OR_RETURN(const NpyArray labels, NpyArray::InArchive(archive, "node_labels"));
    HONE_RETURN_IF_ERROR(ReadLabels(labels, labels_are, source));
  }
  MaskArrays arrays;
  arrays.splits_first = true;
  constexpr const char* kMaskNames[] = {"train_masks", "val_masks", "test_masks"};
  bool any_mask = false;
  for (int i = 0; i < 3; ++i) {
    if (archive->Find(std::string(kMaskNames[i]) + ".npy") == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(arrays.masks[i], NpyArray::InArchive(archive, kMaskNames[i]));
    any_mask = true;
  }
  if (any_mask) {
    HONE_RETURN_IF_ERROR(ReadSplitMasks(arrays, split_index, source));
  } else if (split_index >= 0) {
    return Status::InvalidArgument(
        fmt::format("--split-index {}: '{}' holds no train_masks; leave the option out", split_index, archive->path()));
  }
  constexpr std::string_view read_members[] = {"edges",       "node_features", "node_labels",
                                               "train_masks", "val_masks",     "test_masks"};
  NameUnreadMembers(*archive, read_members, source.unread);
  return source;
}

Result<GraphSource> OpenScipyArchive(const Archive& archive, std::optional<TargetKind> labels_are) {
  const std::string& path = archive->path();
  GraphSource source;
  source.format = "scipy CSR archive";
  Result<NpyArray> indices = NpyArray::InArchive(archive, "adj_indices");
  if (!indices.ok()) {
    return indices.status().WithContext(
        "an .npz graph has the members adj_indices, adj_indptr and adj_shape (scipy's), or edges and node_features");
  }
  HONE_ASSIGN_OR_RETURN(CsrMembers adjacency, ReadCsr(archive, "adj", indices->header().items()));
  if (adjacency.rows != adjacency.columns) {
    return Status::InvalidArgument(
        fmt::format("'{}': the adjacency is {} x {} and should be square", path, adjacency.rows, adjacency.columns));
  }
  source.num_nodes = adjacency.rows;
  source.nodes_stated_by = path + ":adj_shape";
  source.edges = std::make_unique<CsrEdges>(std::move(indices).value(), std::move(adjacency.offsets));
  Result<NpyArray> attributes = NpyArray::InArchive(archive, "attr_indices");
  if (attributes.ok()) {
    HONE_ASSIGN_OR_RETURN(CsrMembers csr, ReadCsr(archive, "attr", attributes->header().items()));
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> wide, attributes->Integers());
    std::vector<int32_t> narrow(wide.size());
    for (size_t i = 0; i < wide.size(); ++i) {
      if (wide[i] < 0 || wide[i] >= csr.columns) {
        return Status::InvalidArgument(fmt::format("'{}' entry {}: feature {} is outside the {} of attr_shape",
                                                   attributes->name(), i, wide[i], csr.columns));
      }
      narrow[i] = static_cast<int32_t>(wide[i]);
    }
    HONE_ASSIGN_OR_RETURN(const NpyArray nonzero_values, NpyArray::InArchive(archive, "attr_data"));
    HONE_ASSIGN_OR_RETURN(std::vector<float> values, nonzero_values.Floats());
    if (values.size() != narrow.size() || csr.columns < 1) {
      return Status::InvalidArgument(
          fmt::format("'{}' has {} values for {} entries", nonzero_values.name(), values.size(), narrow.size()));
    }
    source.features = FeaturesOfSparseRows(attributes->name(), csr.columns, std::move(csr.offsets), std::move(narrow),
                                           std::move(values));
  } else if (archive->Find("attr_matrix.npy") != nullptr) {
    HONE_ASSIGN_OR_RETURN(NpyArray dense, NpyArray::InArchive(archive, "attr_matrix"));
    HONE_ASSIGN_OR_RETURN(source.features, FeaturesOfArray(std::move(dense)));
  }
  if (archive->Find("labels.npy") != nullptr) {
    HONE_ASSIGN_OR_RETURN(const NpyArray labels, NpyArray::InArchive(archive, "labels"));
    HONE_RETURN_IF_ERROR(ReadLabels(labels, labels_are, source));
  }
  constexpr std::string_view read_members[] = {"adj_indices",  "adj_indptr",  "adj_shape",
                                               "attr_indices", "attr_indptr", "attr_shape",
                                               "attr_data",    "attr_matrix", "labels"};
  NameUnreadMembers(*archive, read_members, source.unread);
  return source;
}

}  // namespace

Result<GraphSource> OpenArchive(const std::string& path, int split_index, std::optional<TargetKind> labels_are) {
  HONE_ASSIGN_OR_RETURN(ZipArchive opened, ZipArchive::Open(path));
  const auto archive = std::make_shared<const ZipArchive>(std::move(opened));
  if (archive->Find("edges.npy") != nullptr && archive->Find("node_features.npy") != nullptr) {
    return OpenHeterophilousArchive(archive, split_index, labels_are);
  }
  if (split_index >= 0) {
    return Status::InvalidArgument(
        fmt::format("--split-index {}: '{}' has no official splits (train_masks and its kin); "
                    "leave the option out",
                    split_index, path));
  }
  return OpenScipyArchive(archive, labels_are);
}

}  // namespace hone::gnn
