// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/task_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files/file.h"
#include "base/text/nearest_word.h"
#include "base/text/utf8.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostSourceBytes = 64 << 20;  // limit on a source file, because a name such as /dev/zero has no end

}  // namespace

std::string WhereTasksAre(const std::vector<std::string>& roots) {
  std::string places;
  for (const fs::path root : roots) {
    places += (places.empty() ? "" : ", ") + (root.is_relative() ? root.string() : root.lexically_normal().string());
  }
  return fmt::format("no tasks were found in {}: go to the folder that holds tasks/, or name a task by its folder",
                     places);
}

Result<std::string> FindTaskDirectory(const std::vector<std::string>& roots, const std::string& name_or_directory) {
  std::error_code error;
  if (fs::exists(fs::path(name_or_directory) / "task.toml", error)) return name_or_directory;
  for (const fs::path root : roots) {
    const fs::path directory = root / name_or_directory;
    if (fs::exists(directory / "task.toml", error)) return fs::weakly_canonical(directory).string();
  }
  if (fs::is_regular_file(name_or_directory, error)) {
    const fs::path folder = fs::path(name_or_directory).parent_path();
    const bool of_task = fs::exists(folder / "task.toml", error);
    return Status::NotFound(
        fmt::format("'{}' is a file, and a task is wanted here: its name, or the folder that holds its task.toml{}",
                    name_or_directory,
                    of_task ? fmt::format(" (did you mean {}?)", folder.string()) : "; `hone tasks` lists the names"));
  }
  std::vector<std::string> task_names;
  for (const std::string& directory : TaskDirectories(roots))
    task_names.push_back(fs::path(directory).filename().string());
  return Status::NotFound(fmt::format(
      "no task named '{0}'{1} and no folder {0} with a task.toml; {2}", name_or_directory,
      DidYouMean(name_or_directory, task_names),
      task_names.empty()
          ? WhereTasksAre(roots)
          : fmt::format(
                "tasks found: {}. `hone tasks show NAME` describes one, `hone new NAME --from KERNEL.cu` makes one",
                fmt::join(task_names, ", "))));
}

Result<Task> FindTask(const std::vector<std::string>& roots, const std::string& name_or_directory) {
  HONE_ASSIGN_OR_RETURN(const std::string directory, FindTaskDirectory(roots, name_or_directory));
  return LoadTask(directory);
}

std::vector<std::string> TaskDirectories(const std::vector<std::string>& roots) {
  std::vector<std::string> task_folders;
  std::error_code error;
  for (const fs::path root : roots) {
    if (!fs::is_directory(root, error)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
      if (fs::exists(entry.path() / "task.toml", error))
        task_folders.push_back(fs::weakly_canonical(entry.path()).string());
    }
    if (!task_folders.empty()) break;  // the first root with tasks hides the others
  }
  std::sort(task_folders.begin(), task_folders.end());
  return task_folders;
}

Result<std::string> ReadSource(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return Status::InvalidArgument(fmt::format("'{}' is a folder: name a .cu file", path));
  }
  if (!fs::exists(path, error)) {
    std::vector<std::string> neighbors;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() != ".cu") continue;
      neighbors.push_back((fs::path(path).has_parent_path() ? entry->path() : entry->path().filename()).string());
    }
    const std::string meant = DidYouMean(path, neighbors);
    if (fs::path(path).extension() == ".py") {
      return Status::NotFound(fmt::format("there is no file '{}': name a Python file with a PyTorch module (torch.md in the documentation)", path));
    }
    return Status::NotFound(
        fmt::format("there is no file '{}'{}; name the .cu file of a kernel{}", path, meant,
                    meant.empty() ? ", such as the seed.cu that `hone tasks show TASK` names" : ""));
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMostSourceBytes));
  // Remove the byte order mark that some editors put first. The text is compiled after other text, where no compiler
  // accepts the mark.
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  HONE_RETURN_IF_ERROR(CheckUtf8(text, path));
  return text;
}

}  // namespace hone
