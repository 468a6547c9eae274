// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects a source's format, and finds the files of a folder that its reader did not read.
#include "gnn/graph/convert/graph_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "gnn/graph/container/container_reader.h"

namespace hone::gnn {
namespace {

Result<GraphSource> OpenGraphFile(const std::string& path, int split_index, std::optional<TargetKind> labels) {
  if (path.ends_with(".npz")) return OpenArchive(path, split_index, labels);
  if (split_index >= 0) {
    return Status::InvalidArgument(
        fmt::format("--split-index {}: '{}' holds edges alone; leave the option out", split_index, path));
  }
  if (path.ends_with(".npy")) {
    HONE_ASSIGN_OR_RETURN(NpyArray edges, NpyArray::InFile(path));
    GraphSource source;
    source.format = "edge array";
    HONE_ASSIGN_OR_RETURN(source.edges, EdgesOfArray(std::move(edges), /*prefer_two_rows=*/false));
    return source;
  }
  if (IsContainer(path)) {
    return Status::InvalidArgument(fmt::format("'{}' is a graph container already: use it as it is", path));
  }
  for (const char* ending :
       {".pt", ".pth", ".pkl", ".parquet", ".h5", ".hdf5", ".zip", ".tar", ".tar.gz", ".tgz", ".mat"}) {
    if (!path.ends_with(ending)) continue;
    return Status::InvalidArgument(fmt::format(
        "'{}': files that end in {} are not read. Save the graph's arrays with numpy.save into a folder: edges.npy [E, "
        "2], "
        "features.npy [N, F], labels.npy [N], train_mask.npy, val_mask.npy, test_mask.npy; then convert the folder",
        path, ending));
  }
  return OpenEdgeList(path);
}

// Lists the first few names in a folder, for a message.
std::string NamesIn(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    names.push_back(entry.path().filename().string());
  if (names.empty()) return "it is empty";
  std::sort(names.begin(), names.end());
  const size_t shown = std::min<size_t>(names.size(), 8);
  return fmt::format("it holds {}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

Result<GraphSource> OpenFolder(const std::string& path, int split_index, std::optional<TargetKind> labels) {
  std::error_code error;
  const auto without_index = [&]() -> Status {
    if (split_index < 0) return Status::Ok();
    return Status::InvalidArgument(fmt::format(
        "--split-index {}: '{}' has no masks of several official splits; leave the option out", split_index, path));
  };
  if (std::filesystem::is_directory(path + "/raw", error)) {
    HONE_RETURN_IF_ERROR(without_index());
    return OpenOgbFolder(path, labels);
  }
  if (FileExists(path + "/edges.npy")) return OpenNpyFolder(path, split_index, labels);
  std::vector<std::string> archives;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view ending = "_edges.csv";
    if (name.ends_with(ending)) {
      const std::string stem = name.substr(0, name.size() - ending.size());
      if (FileExists(path + "/" + stem + "_target.csv")) {
        HONE_RETURN_IF_ERROR(without_index());
        if (labels.value_or(TargetKind::kClasses) != TargetKind::kClasses) {
          return Status::InvalidArgument(
              fmt::format("--labels {}: '{}/{}_target.csv' names a class for each node; leave the option out",
                          TargetKindName(*labels), path, stem));
        }
        return OpenMusaeFolder(path, stem);
      }
    }
    if (name.ends_with(".npz")) archives.push_back(entry.path().string());
  }
  if (archives.size() == 1) {
    HONE_ASSIGN_OR_RETURN(GraphSource source, OpenArchive(archives[0], split_index, labels));
    source.read_paths.push_back(archives[0]);
    return source;
  }
  return Status::InvalidArgument(fmt::format(
      "'{}' holds no graph that is known: expected raw/ (OGB), edges.npy [E, 2], NAME_edges.csv with NAME_target.csv, "
      "or "
      "one .npz with adj_indptr or with edges and node_features; {}{}",
      path, NamesIn(path),
      FileExists(path + "/edge_index.npy")
          ? ". Rename edge_index.npy to edges.npy, x.npy to features.npy and y.npy to labels.npy"
          : "; tables of other forms are read from Python, by Graph.from_tables"));
}

}  // namespace

Result<GraphSource> OpenGraphSource(const std::string& path, int split_index, std::optional<TargetKind> labels) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return Status::NotFound(
        fmt::format("'{}' is not there; name an OGB folder, a folder with edges.npy, an .npz or an edge list "
                    "(docs/graphs.md has all kinds)",
                    path));
  if (!std::filesystem::is_directory(status)) return OpenGraphFile(path, split_index, labels);
  HONE_ASSIGN_OR_RETURN(GraphSource source, OpenFolder(path, split_index, labels));
  std::vector<UnreadPart> files = UnreadFiles(path, source.read_paths);
  source.unread.insert(source.unread.end(), std::make_move_iterator(files.begin()),
                       std::make_move_iterator(files.end()));
  return source;
}

}  // namespace hone::gnn
