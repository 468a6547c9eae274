// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/lines.h"

#include "base/text/utf8.h"

namespace hone {

std::vector<SourceLine> SplitLines(std::string_view source) {
  std::vector<SourceLine> lines;
  for (size_t at = 0; at < source.size();) {
    const size_t newline = source.find('\n', at);
    const size_t end = newline == std::string_view::npos ? source.size() : newline + 1;
    std::string_view line = source.substr(at, (newline == std::string_view::npos ? source.size() : newline) - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    lines.push_back({line, at, end});
    at = end;
  }
  return lines;
}

std::string_view WithoutIndent(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

std::string LineExcerpt(std::string_view line) { return ClipText(line, 100); }

}  // namespace hone
