// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/agents/lines.h"

namespace hone {
namespace {

// Returns a hint about search text that was not found: the first line that differs at the best match.
std::string NearMiss(const std::vector<SourceLine>& source, const std::vector<SourceLine>& search) {
  // Find the place in the source where most lines agree, apart from indentation.
  size_t best_at = 0, best_same = 0;
  for (size_t at = 0; at < source.size(); ++at) {
    size_t common_prefix = 0;
    for (size_t i = 0; i < search.size() && at + i < source.size(); ++i) {
      common_prefix += WithoutIndent(source[at + i].text) == WithoutIndent(search[i].text);
    }
    if (common_prefix > best_same) {
      best_same = common_prefix;
      best_at = at;
    }
  }
  if (best_same == 0) return "none of its lines stands in the source";
  for (size_t i = 0; i < search.size(); ++i) {
    if (best_at + i >= source.size()) return "it goes on beyond the end of the source";
    if (source[best_at + i].text == search[i].text) continue;
    if (WithoutIndent(source[best_at + i].text) == WithoutIndent(search[i].text)) {
      return fmt::format("'{}' is indented differently in the source", LineExcerpt(WithoutIndent(search[i].text)));
    }
    return fmt::format("where it has '{}' the source has '{}'", LineExcerpt(search[i].text),
                       LineExcerpt(source[best_at + i].text));
  }
  return "it differs from the source";
}

}  // namespace

LinesFound FindLines(std::string_view source, std::string_view text) {
  const std::vector<SourceLine> lines = SplitLines(source);
  std::vector<SourceLine> search = SplitLines(text);
  // Blank lines around a search text are layout.
  while (!search.empty() && search.front().text.empty()) search.erase(search.begin());
  while (!search.empty() && search.back().text.empty()) search.pop_back();
  LinesFound lines_found;
  if (search.empty()) return lines_found;
  for (size_t at = 0; at + search.size() <= lines.size(); ++at) {
    bool lines_match = true;
    for (size_t i = 0; i < search.size() && lines_match; ++i) lines_match = lines[at + i].text == search[i].text;
    if (!lines_match || ++lines_found.times > 1) continue;
    lines_found.begin = lines[at].begin;
    lines_found.end = lines[at + search.size() - 1].end;
  }
  if (lines_found.times == 0) lines_found.near = NearMiss(lines, search);
  return lines_found;
}

EditResult ApplySearchReplace(std::string_view source, const std::vector<SearchReplace>& blocks) {
  // The bytes of the source that one block replaces.
  struct Change {
    size_t begin, end;
    const SearchReplace* block;
  };
  std::vector<Change> changes;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].search.find_first_not_of(" \t\r\n") == std::string::npos) {
      return {"", "search_empty",
              fmt::format("the search text of edit {} is empty: copy the lines to be replaced", b + 1)};
    }
    const LinesFound lines_found = FindLines(source, blocks[b].search);
    if (lines_found.times == 0) {
      return {"", "search_not_found",
              fmt::format("the search text of edit {} is not in the source: {}", b + 1, lines_found.near)};
    }
    if (lines_found.times > 1) {
      return {"", "search_not_unique",
              fmt::format("the search text of edit {} stands {} times in the source: take more lines around it", b + 1,
                          lines_found.times)};
    }
    changes.push_back({lines_found.begin, lines_found.end, &blocks[b]});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.begin < b.begin; });
  std::string out;
  size_t at = 0;
  for (const Change& change : changes) {
    if (change.begin < at) return {"", "edits_overlap", "two edits change the same lines: join them into one"};
    out += source.substr(at, change.begin - at);
    out += change.block->replace;
    if (!change.block->replace.empty() && change.block->replace.back() != '\n') out += '\n';
    at = change.end;
  }
  out += source.substr(at);
  return {std::move(out), "", ""};
}

}  // namespace hone
