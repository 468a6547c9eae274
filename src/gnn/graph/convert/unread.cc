// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See unread.h.
#include "gnn/graph/convert/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace hone::gnn {
namespace {

namespace fs = std::filesystem;

// Appends the unread files of a folder and, recursively, of its subfolders.
void Collect(const fs::path& folder, const std::string& prefix, const std::set<std::string>& read_paths,
             std::vector<UnreadPart>& unread) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  std::sort(entries.begin(), entries.end());
  for (const fs::directory_entry& entry : entries) {
    const std::string path = entry.path().lexically_normal().string();
    const std::string name = prefix + entry.path().filename().string();
    if (read_paths.contains(path)) continue;
    if (!entry.is_directory(error) || entry.is_symlink(error)) {
      unread.push_back({name, MeaningOfUnread(name)});
      continue;
    }
    const auto below = read_paths.lower_bound(path + "/");
    if (below != read_paths.end() && below->starts_with(path + "/")) {
      Collect(entry.path(), name + "/", read_paths, unread);
    } else {
      unread.push_back({name + "/", MeaningOfUnread(name + "/")});
    }
  }
}

}  // namespace

std::string MeaningOfUnread(std::string_view name) {
  std::string lower = "_";  // a separator before the first word, as before every other word
  for (const char c : name)
    lower += std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  const auto has_word = [&](std::string_view begin) {
    return lower.find("_" + std::string(begin)) != std::string::npos;
  };
  if (has_word("num_")) return "numbers of nodes and edges are counted";
  if (has_word("edge_weight") || has_word("weight") || has_word("adj_data"))
    return "edge weights are not used: every edge counts the same";
  if (has_word("edge_index")) return "in a folder, edges are read from edges.npy";
  if (has_word("edge") && (has_word("feat") || has_word("attr"))) {
    return "no edge features are read under this name, so every edge counts the same; in a folder with edges.npy, "
           "edge_features.npy [E, F] is, and --edge-features names any other .npy";
  }
  if (has_word("edge")) return "features, types, times and labels of edges are not used: every edge counts the same";
  if (has_word("mask") || has_word("split") || has_word("train") || has_word("val") || has_word("test") ||
      has_word("idx")) {
    return "no split is read under this name; in a folder with edges.npy, train_mask.npy, val_mask.npy and "
           "test_mask.npy "
           "(boolean) or split.npy (0 train, 1 valid, 2 test, -1 none) are";
  }
  if (has_word("year") || has_word("time")) return "times are not used";
  if (has_word("feat") || has_word("attr") || lower == "_x_npy") {
    return "no features are read under this name; in a folder with edges.npy, features.npy [N, F] is";
  }
  if (has_word("label") || has_word("target") || lower == "_y_npy") {
    return "no labels are read under this name; in a folder with edges.npy, labels.npy [N] or [N, C] is";
  }
  if (has_word("name") || has_word("mapping"))
    return "names of nodes are not used: nodes are numbers; in a folder with labels.npy, classes.txt names a class on "
           "each line";
  return "it is no part that a graph is made of";
}

std::vector<UnreadPart> UnreadFiles(const std::string& folder, std::span<const std::string> read_paths) {
  std::set<std::string> paths;
  for (const std::string& path : read_paths) paths.insert(fs::path(path).lexically_normal().string());
  std::vector<UnreadPart> unread;
  Collect(fs::path(folder), "", paths, unread);
  return unread;
}

void NameUnreadMembers(const ZipArchive& archive, std::span<const std::string_view> read_members,
                       std::vector<UnreadPart>& unread) {
  const std::string file = fs::path(archive.path()).filename().string();
  for (const ZipMember& member : archive.members()) {
    std::string_view name = member.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    if (std::find(read_members.begin(), read_members.end(), name) != read_members.end()) continue;
    unread.push_back({fmt::format("{}:{}", file, name), MeaningOfUnread(name)});
  }
}

}  // namespace hone::gnn
