// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/board_files.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBoardBytes = 1 << 20;
constexpr int kLicenceFoldersUp = 6;

fs::path FolderOf(const std::string& path) {
  std::error_code ignored;
  const fs::path given = fs::absolute(path, ignored).lexically_normal();
  if (given.filename() == "task.yml") return given.parent_path();
  return given.filename().empty() ? given.parent_path() : given;  // "problem/" ends in an empty name
}

Result<std::string> ReadBoardFile(const fs::path& path, const char* remedy) {
  Result<std::string> text = ReadFile(path.string(), kMostBoardBytes);
  if (text.ok()) return text;
  return Status::InvalidArgument(fmt::format("{} cannot be read ({}): {}", path.string(), text.status().message(), remedy));
}

// Returns the values of `source` in `text`: "source": "../utils.py", or source: reference.py.
std::vector<std::string> Sources(const std::string& text) {
  std::vector<std::string> found;
  constexpr std::string_view kWord = "source";
  for (size_t at = text.find(kWord); at != std::string::npos; at = text.find(kWord, at + 1)) {
    size_t next = at + kWord.size();
    const auto skip = [&](std::string_view signs) {
      while (next < text.size() && signs.find(text[next]) != std::string_view::npos) ++next;
    };
    skip("\"' ");
    if (next >= text.size() || text[next] != ':') continue;
    ++next;
    skip(" ");
    const char quote = next < text.size() && (text[next] == '"' || text[next] == '\'') ? text[next++] : '\0';
    const size_t end = quote != '\0' ? text.find(quote, next) : text.find_first_of(",} \r\n", next);
    if (end != std::string::npos && end > next) found.push_back(text.substr(next, end - next));
  }
  return found;
}

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

Result<BoardFiles> ReadBoardFiles(const std::string& path) {
  const fs::path folder = FolderOf(path);
  BoardFiles found;
  found.name = folder.filename().string();
  HONE_ASSIGN_OR_RETURN(found.task, ReadBoardFile(folder / "task.yml", "name a folder that holds a problem's task.yml"));
  std::error_code ignored;
  for (const std::string& source : Sources(found.task)) {
    const fs::path file = fs::path(source).is_absolute() ? fs::path() : (folder / source).lexically_normal();
    if (file.empty() || !fs::is_regular_file(file, ignored)) continue;  // describe.py says which file is missing
    HONE_ASSIGN_OR_RETURN(found.files[source], ReadBoardFile(file, "give a whole checkout of the problem's repository"));
  }
  fs::path above = folder;
  for (int i = 0; i < kLicenceFoldersUp && found.licence_text.empty(); ++i) {
    for (const char* name : {"LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"}) {
      if (!fs::is_regular_file(above / name, ignored)) continue;
      HONE_ASSIGN_OR_RETURN(found.licence_text, ReadBoardFile(above / name, "make it readable: it says what may be done with the problem"));
      found.licence = FirstLine(found.licence_text);
      break;
    }
    if (!above.has_parent_path() || above.parent_path() == above) break;
    above = above.parent_path();
  }
  return found;
}

}  // namespace hone
