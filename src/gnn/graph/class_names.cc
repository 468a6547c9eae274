// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/graph/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/files/file.h"
#include "base/text/utf8.h"

namespace hone::gnn {

std::string ClassNamesText(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Result<std::vector<std::string>> ParseClassNames(std::string_view text, int64_t most) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.size(), text.find('\n'));
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return Status::InvalidArgument(fmt::format("line {} names no class", names.size() + 1));
    if (static_cast<int64_t>(names.size()) == most) {
      return Status::InvalidArgument(fmt::format("there are names of more than {} classes", most));
    }
    names.push_back(RepairUtf8(line));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return names;
}

Result<std::vector<std::string>> ReadClassNames(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostClassNameBytes));
  Result<std::vector<std::string>> names = ParseClassNames(text, INT32_MAX);
  if (!names.ok()) {
    return Status::InvalidArgument(
        fmt::format("'{}': {}; write the name of class 0 on the first line, of class 1 on the second, and so on", path,
                    names.status().message()));
  }
  std::map<std::string, size_t> lines;
  for (size_t i = 0; i < names->size(); ++i) {
    const auto [first, is_new] = lines.emplace((*names)[i], i + 1);
    if (!is_new) {
      return Status::InvalidArgument(
          fmt::format("'{}': lines {} and {} both name class '{}'", path, first->second, i + 1, (*names)[i]));
    }
  }
  return names;
}

}  // namespace hone::gnn
