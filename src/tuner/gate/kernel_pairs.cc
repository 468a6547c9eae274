// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/kernel_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace hone {
namespace {

constexpr double kRenamed = 0.5;  // least share of lines in common of a renamed kernel

std::string FolderOfPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct Found {
  std::string folder;  // folder of the kernel's task, in the kernel's own tree
  std::string text;
};
using Kernels = std::map<std::string, Found>;  // keyed by path

Result<Kernels> KernelsIn(const SourceTree& tree) {
  const std::vector<std::string> folders = TaskFolders(tree);
  Kernels kernels;
  for (const std::string& path : tree.Files()) {
    if (!path.ends_with(".cu") || FileName(path) == "oracle.cu") continue;
    if (!std::binary_search(folders.begin(), folders.end(), FolderOfPath(path))) continue;
    HONE_ASSIGN_OR_RETURN(std::string text, tree.Read(path));
    if (text.find("/*hone") != std::string::npos) kernels[path] = {FolderOfPath(path), std::move(text)};
  }
  return kernels;
}

// Returns the text of a file that head changed or added; nullopt if the base has the same, or if head's cannot be read,
// such as one of many megabytes, because no verdict depends on it. `added` as of UnjudgedFile.
std::optional<std::string> ChangedText(const TreePair& trees, const std::string& path, bool& added) {
  const std::vector<std::string>& before = trees.base->Files();
  added = !std::binary_search(before.begin(), before.end(), path);
  const std::string name = trees.head->ContentName(path);
  if (!added && !name.empty() && name == trees.base->ContentName(path)) return std::nullopt;
  Result<std::string> text = trees.head->Read(path);
  if (!text.ok()) return std::nullopt;
  if (const Result<std::string> base_text = trees.base->Read(path); base_text.ok() && *base_text == *text)
    return std::nullopt;
  return *std::move(text);
}

// Adds a kernel that the user named to the trees that have it.
Status AddPlace(const TreePair& trees, const TaskPairs& tasks, const KernelPlace& place, Kernels& before,
                Kernels& after) {
  // Pairs of the task's folders in the base and in head; either may be kNoTask.
  std::vector<std::pair<std::string, std::string>> matching;
  const auto called = [&](const std::string& folder) { return folder == place.task || FileName(folder) == place.task; };
  for (const auto& [folder, base] : tasks.base_of) {
    if (called(folder) || (base != kNoTask && called(base))) matching.emplace_back(base, folder);
  }
  for (const std::string& folder : tasks.gone) {
    if (called(folder)) matching.emplace_back(folder, std::string(kNoTask));
  }
  if (matching.size() != 1) {
    return Status::InvalidArgument(
        fmt::format("--kernel {}={}: {} folders with a task.toml are called {}; name it by its path", place.task,
                    place.path, matching.size(), place.task));
  }
  const auto& [base_folder, head_folder] = matching[0];
  Result<std::string> was = trees.base->Read(place.path), is = trees.head->Read(place.path);
  if (!was.ok() && !is.ok())
    return Status::InvalidArgument(fmt::format("--kernel {}={}: neither side has this file", place.task, place.path));
  if (was.ok()) before[place.path] = {base_folder, std::move(*was)};
  if (is.ok()) after[place.path] = {head_folder, std::move(*is)};
  return Status::Ok();
}

}  // namespace

double LinesInCommon(const std::string& a, const std::string& b) {
  std::map<std::string, std::pair<int, int>> counted;
  const auto count = [&](const std::string& text, int std::pair<int, int>::*side) {
    int lines = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      size_t first = at, last = end;
      while (first < last && (text[first] == ' ' || text[first] == '\t')) ++first;
      while (last > first && (text[last - 1] == ' ' || text[last - 1] == '\r')) --last;
      if (last > first) {
        ++(counted[text.substr(first, last - first)].*side);
        ++lines;
      }
      at = end + 1;
    }
    return lines;
  };
  const int most = std::max(count(a, &std::pair<int, int>::first), count(b, &std::pair<int, int>::second));
  int common = 0;
  for (const auto& [line, times] : counted) common += std::min(times.first, times.second);
  return most == 0 ? 0 : static_cast<double>(common) / most;
}

Result<std::vector<KernelPair>> FindChangedKernels(const TreePair& trees, const TaskPairs& tasks,
                                                   const std::vector<KernelPlace>& places) {
  HONE_ASSIGN_OR_RETURN(Kernels before, KernelsIn(*trees.base));
  HONE_ASSIGN_OR_RETURN(Kernels after, KernelsIn(*trees.head));
  for (const KernelPlace& place : places) HONE_RETURN_IF_ERROR(AddPlace(trees, tasks, place, before, after));
  const auto base_of = [&](const std::string& folder) {
    const auto found = tasks.base_of.find(folder);
    return found == tasks.base_of.end() ? std::string(kNoTask) : found->second;
  };

  std::vector<KernelPair> pairs, added;
  for (auto& [path, kernel] : after) {
    KernelPair pair{.path = path,
                    .was = "",
                    .task_folder = kernel.folder,
                    .base_folder = base_of(kernel.folder),
                    .before = {},
                    .after = std::move(kernel.text)};
    // If head moved the task's folder, a kernel in it has the same file name in the base's folder.
    const bool inside = FolderOfPath(path) == kernel.folder && pair.base_folder != kNoTask;
    const std::string old_path =
        inside ? (pair.base_folder.empty() ? FileName(path) : pair.base_folder + "/" + FileName(path)) : path;
    const auto was = before.find(old_path);
    if (was == before.end()) {
      added.push_back(std::move(pair));
      continue;
    }
    pair.before = std::move(was->second.text);
    if (old_path != path) pair.was = old_path;
    before.erase(was);
    if (pair.before != pair.after || !pair.was.empty()) pairs.push_back(std::move(pair));
  }
  // The kernels that are left were renamed, added or removed. Pair renamed ones, the most similar first.
  std::vector<std::tuple<double, size_t, std::string>> similar;
  for (size_t i = 0; i < added.size(); ++i) {
    for (const auto& [path, kernel] : before) {
      if (added[i].base_folder != kernel.folder) continue;
      const double share = added[i].after == kernel.text ? 2 : LinesInCommon(*added[i].after, kernel.text);
      if (share >= kRenamed) similar.emplace_back(-share, i, path);
    }
  }
  std::sort(similar.begin(), similar.end());
  for (const auto& [share, i, path] : similar) {
    const auto was = before.find(path);
    if (was == before.end() || added[i].before) continue;
    added[i].before = std::move(was->second.text);
    added[i].was = path;
    before.erase(was);
  }
  for (KernelPair& pair : added) pairs.push_back(std::move(pair));
  for (auto& [path, kernel] : before) {
    pairs.push_back({.path = path,
                     .was = "",
                     .task_folder = kernel.folder,
                     .base_folder = kernel.folder,
                     .before = std::move(kernel.text),
                     .after = {}});
  }
  std::sort(pairs.begin(), pairs.end(), [](const KernelPair& a, const KernelPair& b) { return a.path < b.path; });
  return pairs;
}

std::vector<UnjudgedFile> FindUnjudgedFiles(const TreePair& trees, const std::vector<KernelPlace>& places) {
  const std::vector<std::string> folders = TaskFolders(*trees.head);
  std::vector<UnjudgedFile> files;
  for (const std::string& path : trees.head->Files()) {
    if (!path.ends_with(".cu")) continue;
    if (std::any_of(places.begin(), places.end(), [&](const KernelPlace& place) { return place.path == path; }))
      continue;
    const std::string folder = FolderOfPath(path);
    const bool in_task = std::binary_search(folders.begin(), folders.end(), folder);
    if (in_task && FileName(path) == "oracle.cu") continue;
    UnjudgedFile file{.path = path, .task_folder = in_task ? folder : std::string(kNoTask)};
    const std::optional<std::string> text = ChangedText(trees, path, file.added);
    if (!text || text->find("__global__") == std::string::npos) continue;
    if (in_task && text->find("/*hone") != std::string::npos) continue;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace hone
