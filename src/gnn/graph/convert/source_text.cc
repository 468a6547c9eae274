// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads graph sources made of text: CSV and SNAP edge lists, OGB folders, and the layout of facebook_large.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/utf8.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/convert/text_lines.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

Result<TextLines> OpenLines(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenMaybeGzip(path));
  return TextLines(std::move(stream));
}

// Reads two ids per line; further fields (weights, times) are counted and skipped. A first line that is not numeric is
// a heading.
class TextEdgeReader final : public EdgeReader {
 public:
  explicit TextEdgeReader(TextLines lines) : lines_(std::move(lines)) {}
  Result<size_t> Next(std::span<int64_t> sources, std::span<int64_t> destinations) override {
    line_numbers_.clear();
    std::string_view line;
    while (line_numbers_.size() < sources.size()) {
      HONE_ASSIGN_OR_RETURN(const bool has_line, lines_.Next(line));
      if (!has_line) break;
      std::string_view unparsed = line, first, second;
      const size_t i = line_numbers_.size();
      if (TakeField(unparsed, first) && TakeField(unparsed, second) && ParseInteger(first, sources[i]) &&
          ParseInteger(second, destinations[i])) {
        line_numbers_.push_back(lines_.line_number());
        lines_with_further_fields_ += unparsed.empty() ? 0 : 1;
        past_heading_ = true;
        continue;
      }
      if (IsComment(line)) continue;
      if (std::any_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\r'; })) {
        return Status::InvalidArgument(
            fmt::format("{} holds control characters: an edge list is text, two node ids a line", lines_.Place()));
      }
      if (!past_heading_) {
        past_heading_ = true;
        continue;
      }
      return Status::InvalidArgument(
          fmt::format("{}: '{}' is no edge; write two node ids, whole numbers from 0, separated by a comma, tab or "
                      "blank (from Python, "
                      "Graph.from_tables takes ids of any kind)",
                      lines_.Place(), line.substr(0, 80)));
    }
    return line_numbers_.size();
  }
  std::string Place(size_t i) const override { return fmt::format("'{}' line {}", lines_.name(), line_numbers_[i]); }
  std::optional<UnreadPart> Unread() const override {
    if (lines_with_further_fields_ == 0) return std::nullopt;
    return UnreadPart{
        fmt::format("{}, columns from the third on", std::filesystem::path(lines_.name()).filename().string()),
        fmt::format("{} edges have one; weights, types and times of edges are not used: every edge counts the same",
                    lines_with_further_fields_)};
  }

 private:
  TextLines lines_;
  bool past_heading_ = false;
  int64_t lines_with_further_fields_ = 0;
  std::vector<int64_t> line_numbers_;
};

// The edges of a text file. Their number is not known before a pass (-1).
class TextEdges final : public EdgeSource {
 public:
  explicit TextEdges(std::string path) : path_(std::move(path)) {}
  int64_t num_edges() const override { return -1; }
  Result<std::unique_ptr<EdgeReader>> Open() const override {
    HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(path_));
    return std::unique_ptr<EdgeReader>(std::make_unique<TextEdgeReader>(std::move(lines)));
  }

 private:
  std::string path_;
};

// Reads one row of features per line, as many numbers in each as in the first.
class TextFeatureReader final : public FeatureReader {
 public:
  TextFeatureReader(TextLines lines, int64_t width) : lines_(std::move(lines)), width_(static_cast<size_t>(width)) {}
  Status Next(std::span<float> rows) override {
    std::string_view line, field;
    for (size_t at = 0; at < rows.size(); at += width_) {
      HONE_ASSIGN_OR_RETURN(const bool has_line, lines_.Next(line));
      if (!has_line) {
        return Status::InvalidArgument(
            fmt::format("'{}' ends after {} rows, and the graph has more nodes; every node needs a row of features",
                        lines_.name(), lines_.line_number()));
      }
      std::string_view unparsed = line;
      for (size_t f = 0; f < width_; ++f) {
        if (!TakeField(unparsed, field) || !ParseFloat(field, rows[at + f])) {
          return Status::InvalidArgument(fmt::format("{}: field {} of {} is no number", lines_.Place(), f + 1, width_));
        }
      }
      if (TakeField(unparsed, field)) {
        return Status::InvalidArgument(
            fmt::format("{}: more than the {} fields of the first line", lines_.Place(), width_));
      }
    }
    return Status::Ok();
  }

 private:
  TextLines lines_;
  size_t width_;
};

class TextFeatures final : public FeatureSource {
 public:
  TextFeatures(std::string path, int64_t width) : path_(std::move(path)), width_(width) {}
  const std::string& name() const override { return path_; }
  int64_t rows() const override { return -1; }
  int64_t width() const override { return width_; }
  Result<std::unique_ptr<FeatureReader>> Open() const override {
    HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(path_));
    return std::unique_ptr<FeatureReader>(std::make_unique<TextFeatureReader>(std::move(lines), width_));
  }

 private:
  std::string path_;
  int64_t width_;
};

// Returns PATH.csv.gz or PATH.csv; empty if neither exists.
std::string CsvAt(const std::string& path) {
  for (const char* ending : {".csv.gz", ".csv"}) {
    if (FileExists(path + ending)) return path + ending;
  }
  return {};
}

// Reads one whole number per line.
Result<std::vector<int64_t>> ReadIntegerLines(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(path));
  std::vector<int64_t> values;
  std::string_view line;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_line, lines.Next(line));
    if (!has_line) return values;
    std::string_view unparsed = line, field;
    if (!TakeField(unparsed, field)) continue;
    int64_t value = 0;
    if (!ParseInteger(field, value)) {
      return Status::InvalidArgument(fmt::format("{}: '{}' is no whole number", lines.Place(), line.substr(0, 80)));
    }
    values.push_back(value);
  }
}

// Reads the labels of a node from each line: one, or several with commas between them. OGB writes an unknown label as
// nan or as an empty line.
Result<NodeTargets> ReadLabelLines(const std::string& path, std::optional<TargetKind> kind) {
  HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(path));
  std::vector<float> values;
  int64_t width = 0;
  std::string_view line;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_line, lines.Next(line));
    if (!has_line) return TargetsOfRows(std::move(values), std::max<int64_t>(width, 1), path, kind);
    const size_t first_value = values.size();
    std::string_view unparsed = line, field;
    while (TakeField(unparsed, field)) {
      float value = 0;
      if (!ParseFloat(field, value)) {
        return Status::InvalidArgument(fmt::format("{}: '{}' is no label", lines.Place(), line.substr(0, 80)));
      }
      values.push_back(value);
    }
    if (values.size() == first_value) {
      values.resize(first_value + static_cast<size_t>(std::max<int64_t>(width, 1)),
                    std::numeric_limits<float>::quiet_NaN());
    }
    const auto labels_of_line = static_cast<int64_t>(values.size() - first_value);
    if (labels_of_line > kMostTargets || (width > 0 && labels_of_line != width)) {
      return Status::InvalidArgument(
          fmt::format("{}: {} labels, where the lines before have {} and {} are the most; "
                      "give every node as many labels, nan where one is not known",
                      lines.Place(), labels_of_line, width, kMostTargets));
    }
    width = labels_of_line;
  }
}

// Reads the split in the only folder below split/. An OGB dataset has one splitting scheme.
Status ReadOgbSplits(const std::string& path, GraphSource& source) {
  std::error_code error;
  std::vector<std::string> schemes;
  for (const auto& entry : std::filesystem::directory_iterator(path + "/split", error)) {
    if (entry.is_directory()) schemes.push_back(entry.path().string());
  }
  std::sort(schemes.begin(), schemes.end());
  if (schemes.empty()) return Status::Ok();
  if (schemes.size() > 1)
    source.notes.push_back(fmt::format("of {} split schemes, '{}' was taken", schemes.size(), schemes[0]));
  source.splits_meaning = fmt::format("from {}", std::filesystem::path(schemes[0]).lexically_relative(path).string());
  constexpr const char* names[] = {"train", "valid", "test"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string file = CsvAt(schemes[0] + "/" + names[i]);
    if (file.empty()) {
      return Status::NotFound(
          fmt::format("'{}' has no {}.csv.gz; remove the folder to have splits made by seed", schemes[0], names[i]));
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, ReadIntegerLines(file));
    source.splits_name[i] = file;
    source.read_paths.push_back(file);
    for (size_t line = 0; line < ids.size(); ++line) {
      if (ids[line] < 0 || ids[line] > INT32_MAX) {
        return Status::InvalidArgument(fmt::format("'{}' line {}: {} is no node id", file, line + 1, ids[line]));
      }
      source.splits[i].push_back(static_cast<NodeId>(ids[line]));
    }
  }
  source.has_splits = true;
  return Status::Ok();
}

// Parses {"node id": [feature index, …], …} as a stream, so that the parsed document is never in memory.
class FeatureListHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<std::pair<int64_t, int32_t>> entries;  // node, feature
  int64_t max_node = -1;
  int32_t max_feature = -1;
  std::string problem;

  // The parser's events. Returning false ends the parse; `problem` then says why. Depth 1 is inside the object, depth 2
  // inside a node's list.
  bool key(string_t& text) override {
    if (depth_ != 1 || !ParseInteger(text, node_) || node_ < 0 || node_ > INT32_MAX) {
      return Fail(fmt::format("key '{}' is no node id", text.substr(0, 40)));
    }
    max_node = std::max(max_node, node_);
    return true;
  }
  bool number_integer(number_integer_t value) override { return AddFeature(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return AddFeature(value > INT32_MAX ? int64_t{-1} : static_cast<int64_t>(value));
  }
  bool start_object(std::size_t) override {
    return ++depth_ == 1 || Fail("objects inside the object are not expected");
  }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ == 2 || Fail("each node has one list of feature indices"); }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return Fail("null is no feature index"); }
  bool boolean(bool) override { return Fail("a truth value is no feature index"); }
  bool number_float(number_float_t, const string_t&) override { return Fail("a fraction is no feature index"); }
  bool string(string_t&) override { return Fail("a string is no feature index"); }
  bool binary(binary_t&) override { return Fail("binary data is no feature index"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return Fail(fmt::format("no JSON at byte {}", position));
  }

 private:
  bool AddFeature(int64_t value) {
    if (depth_ != 2 || value < 0 || value >= (1 << 24))
      return Fail(fmt::format("{} is no feature index of node {}", value, node_));
    entries.emplace_back(node_, static_cast<int32_t>(value));
    max_feature = std::max(max_feature, static_cast<int32_t>(value));
    return true;
  }
  bool Fail(std::string why) {
    if (problem.empty()) problem = std::move(why);
    return false;
  }
  int depth_ = 0;
  int64_t node_ = -1;
};

}  // namespace

Result<std::unique_ptr<FeatureSource>> FeaturesOfJsonLists(std::string_view text, const std::string& name,
                                                           int64_t num_nodes) {
  FeatureListHandler handler;
  const bool parsed = nlohmann::json::sax_parse(text, &handler);
  if (!parsed || handler.max_feature < 0) {
    return Status::InvalidArgument(fmt::format("'{}' is no list of features by node: {}", name,
                                               handler.problem.empty() ? "it names no feature" : handler.problem));
  }
  if (handler.max_node >= num_nodes) {
    return Status::InvalidArgument(
        fmt::format("'{}' names node {}, and the graph has nodes 0 to {} only", name, handler.max_node, num_nodes - 1));
  }
  std::vector<int64_t> offsets(static_cast<size_t>(num_nodes) + 1);
  for (const auto& [node, feature] : handler.entries) ++offsets[static_cast<size_t>(node) + 1];
  for (size_t v = 0; v < static_cast<size_t>(num_nodes); ++v) offsets[v + 1] += offsets[v];
  std::vector<int64_t> next_place(offsets.begin(), offsets.end() - 1);
  std::vector<int32_t> indices(handler.entries.size());
  for (const auto& [node, feature] : handler.entries) {
    indices[static_cast<size_t>(next_place[static_cast<size_t>(node)]++)] = feature;
  }
  return FeaturesOfSparseRows(name, handler.max_feature + 1, std::move(offsets), std::move(indices), {});
}

Result<std::unique_ptr<EdgeSource>> EdgesOfText(const std::string& path) {
  return std::unique_ptr<EdgeSource>(std::make_unique<TextEdges>(path));
}

Result<GraphSource> OpenEdgeList(const std::string& path) {
  GraphSource source;
  source.format = "edge list";
  HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfText(path));
  return source;
}

Result<GraphSource> OpenOgbFolder(const std::string& path, std::optional<TargetKind> labels_are) {
  GraphSource source;
  source.format = "OGB folder";
  const std::string raw = path + "/raw";
  HONE_RETURN_IF_ERROR(ReadOgbSplits(path, source));
  if (FileExists(raw + "/data.npz")) {
    HONE_ASSIGN_OR_RETURN(ZipArchive opened, ZipArchive::Open(source.read_paths.emplace_back(raw + "/data.npz")));
    const auto archive = std::make_shared<const ZipArchive>(std::move(opened));
    HONE_ASSIGN_OR_RETURN(NpyArray edges, NpyArray::InArchive(archive, "edge_index"));
    HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfArray(std::move(edges), /*prefer_two_rows=*/true));
    Result<NpyArray> features = NpyArray::InArchive(archive, "node_feat");
    if (features.ok()) {
      HONE_ASSIGN_OR_RETURN(source.features, FeaturesOfArray(std::move(features).value()));
    } else if (features.status().code() != StatusCode::kNotFound) {
      return features.status();
    }
    constexpr std::string_view read_members[] = {"edge_index", "node_feat"};
    NameUnreadMembers(*archive, read_members, source.unread);
    if (FileExists(raw + "/node-label.npz")) {
      HONE_ASSIGN_OR_RETURN(ZipArchive labels_opened,
                            ZipArchive::Open(source.read_paths.emplace_back(raw + "/node-label.npz")));
      HONE_ASSIGN_OR_RETURN(
          const NpyArray labels,
          NpyArray::InArchive(std::make_shared<const ZipArchive>(std::move(labels_opened)), "node_label"));
      HONE_RETURN_IF_ERROR(ReadLabels(labels, labels_are, source));
    }
    return source;
  }
  const std::string edge_path = CsvAt(raw + "/edge"), node_count_path = CsvAt(raw + "/num-node-list");
  if (edge_path.empty() || node_count_path.empty()) {
    return Status::NotFound(fmt::format("'{}' has neither data.npz nor edge.csv.gz with num-node-list.csv.gz", raw));
  }
  HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfText(edge_path));
  HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> node_counts, ReadIntegerLines(node_count_path));
  if (node_counts.size() != 1) {
    return Status::InvalidArgument(
        fmt::format("'{}' lists {} graphs; one graph with node labels is read", node_count_path, node_counts.size()));
  }
  source.num_nodes = node_counts[0];
  source.nodes_stated_by = node_count_path;
  source.read_paths.insert(source.read_paths.end(), {edge_path, node_count_path});
  if (const std::string feature_path = CsvAt(raw + "/node-feat"); !feature_path.empty()) {
    HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(feature_path));
    std::string_view line, field;
    HONE_ASSIGN_OR_RETURN(const bool has_line, lines.Next(line));
    int64_t width = 0;
    while (has_line && TakeField(line, field)) ++width;
    if (width == 0) return Status::InvalidArgument(fmt::format("'{}' begins with an empty line", feature_path));
    source.features = std::make_unique<TextFeatures>(feature_path, width);
    source.read_paths.push_back(feature_path);
  }
  if (const std::string label_path = CsvAt(raw + "/node-label"); !label_path.empty()) {
    HONE_ASSIGN_OR_RETURN(NodeTargets targets, ReadLabelLines(label_path, labels_are));
    TakeTargets(std::move(targets), label_path, source);
    source.read_paths.push_back(label_path);
  }
  return source;
}

Result<GraphSource> OpenMusaeFolder(const std::string& path, const std::string& stem) {
  GraphSource source;
  source.format = "folder of edges, targets and feature lists";
  HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfText(source.read_paths.emplace_back(path + "/" + stem + "_edges.csv")));

  // The columns are id, …, class. The last column has the class's name; classes are numbered in alphabetical order.
  const std::string target_path = source.read_paths.emplace_back(path + "/" + stem + "_target.csv");
  HONE_ASSIGN_OR_RETURN(TextLines lines, OpenLines(target_path));
  std::string_view line;
  std::vector<std::pair<int64_t, std::string>> rows;
  std::map<std::string, int32_t> classes;
  int64_t max_id = -1;
  for (bool heading = true;; heading = false) {
    HONE_ASSIGN_OR_RETURN(const bool has_line, lines.Next(line));
    if (!has_line) break;
    if (line.empty()) continue;
    std::vector<std::string> fields = CsvFields(line);
    if (heading && fields.size() > 2) {
      source.unread.push_back(
          {fmt::format("{}_target.csv, columns between the first and the last ({})", stem,
                       fmt::join(std::span(fields).subspan(1, fields.size() - 2), ", ")),
           fmt::format("the first column is the node, and the last one ({}) its class", fields.back())});
    }
    if (heading) continue;
    int64_t id = 0;
    if (fields.size() < 2 || !ParseInteger(fields[0], id) || id < 0 || id > INT32_MAX) {
      return Status::InvalidArgument(fmt::format("{}: expected a node id first and a class last", lines.Place()));
    }
    max_id = std::max(max_id, id);
    classes.emplace(fields.back(), 0);
    rows.emplace_back(id, std::move(fields.back()));
  }
  if (static_cast<int64_t>(rows.size()) < (max_id + 1) / 2) {
    return Status::InvalidArgument(fmt::format("'{}' has {} rows and names node {}: ids should run from 0 without gaps",
                                               target_path, rows.size(), max_id));
  }
  int32_t next_class = 0;
  for (auto& [name, number] : classes) {
    number = next_class++;
    source.class_names.push_back(name.empty() ? "(no name)" : RepairUtf8(name));
  }
  source.class_names_file = target_path;
  source.labels.assign(static_cast<size_t>(max_id + 1), kNoLabel);
  for (const auto& [id, name] : rows) source.labels[static_cast<size_t>(id)] = classes[name];
  source.labels_name = target_path;
  source.num_nodes = max_id + 1;
  source.nodes_stated_by = target_path;

  if (const std::string feature_path = path + "/" + stem + "_features.json"; FileExists(feature_path)) {
    HONE_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(source.read_paths.emplace_back(feature_path), int64_t{4} << 30));
    HONE_ASSIGN_OR_RETURN(source.features, FeaturesOfJsonLists(text, feature_path, source.num_nodes));
  }
  return source;
}

}  // namespace hone::gnn
