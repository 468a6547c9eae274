// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/board_files.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "base/files/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostLicenceBytes = 1 << 20;
constexpr int kLicenceFoldersUp = 6;

// Returns the absolute path of the folder that `path`, or the task.yml in it, names.
fs::path FolderOf(const std::string& path) {
  std::error_code ignored;
  const fs::path given = fs::absolute(path, ignored).lexically_normal();
  if (given.filename() == "task.yml") return given.parent_path();
  return given.filename().empty() ? given.parent_path() : given;  // the path "problem/" has an empty file name
}

// Returns the first line with words, without marks of headings and comments, at most 120 bytes.
std::string FirstLine(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t\r#*=-"), end = line.find_last_not_of(" \t\r#*=-");
    if (begin != std::string::npos) return line.substr(begin, std::min<size_t>(end - begin + 1, 120));
  }
  return "";
}

}  // namespace

bool IsBoardFolder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(FolderOf(path) / "task.yml", ignored) &&
         (fs::is_directory(path, ignored) || fs::path(path).filename() == "task.yml");
}

Result<BoardFiles> FindBoardFiles(const std::string& path) {
  const fs::path folder = FolderOf(path);
  BoardFiles found;
  found.name = folder.filename().string();
  found.folder = folder.string();
  std::error_code ignored;
  fs::path above = folder;
  for (int i = 0; i < kLicenceFoldersUp && found.licence_text.empty(); ++i) {
    for (const char* name : {"LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"}) {
      if (!fs::is_regular_file(above / name, ignored)) continue;
      Result<std::string> text = ReadFile((above / name).string(), kMostLicenceBytes);
      if (!text.ok())
        return Status::InvalidArgument(text.status().message() + ": make it readable, for it says what may be done with the problem");
      found.licence_text = std::move(*text);
      found.licence = FirstLine(found.licence_text);
      break;
    }
    if (!above.has_parent_path() || above.parent_path() == above) break;
    above = above.parent_path();
  }
  return found;
}

}  // namespace hone
