// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hone {
namespace {

struct Line {
  std::string_view text;      // without white space at the end
  size_t begin = 0, end = 0;  // newline included
};

std::vector<Line> SplitLines(std::string_view text) {
  std::vector<Line> lines;
  for (size_t at = 0; at < text.size();) {
    size_t newline = text.find('\n', at);
    const size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    std::string_view line = text.substr(at, (newline == std::string_view::npos ? text.size() : newline) - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    lines.push_back({line, at, end});
    at = end;
  }
  return lines;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

std::string Excerpt(std::string_view line) { return std::string(line.substr(0, 100)) + (line.size() > 100 ? "…" : ""); }

// What to tell somebody whose search text is not there: the first line that differs at the place that fits best.
std::string NearMiss(const std::vector<Line>& source, const std::vector<Line>& search) {
  size_t best_at = 0, best_same = 0;
  for (size_t at = 0; at < source.size(); ++at) {
    size_t same = 0;
    for (size_t i = 0; i < search.size() && at + i < source.size(); ++i) {
      same += Trimmed(source[at + i].text) == Trimmed(search[i].text);
    }
    if (same > best_same) {
      best_same = same;
      best_at = at;
    }
  }
  if (best_same == 0) return "none of its lines stands in the source";
  for (size_t i = 0; i < search.size(); ++i) {
    if (best_at + i >= source.size()) return "it goes on beyond the end of the source";
    if (source[best_at + i].text == search[i].text) continue;
    if (Trimmed(source[best_at + i].text) == Trimmed(search[i].text)) {
      return fmt::format("'{}' is indented differently in the source", Excerpt(Trimmed(search[i].text)));
    }
    return fmt::format("where it has '{}' the source has '{}'", Excerpt(search[i].text),
                       Excerpt(source[best_at + i].text));
  }
  return "it differs from the source";
}

}  // namespace

EditResult ApplySearchReplace(std::string_view source, const std::vector<SearchReplace>& blocks) {
  const std::vector<Line> lines = SplitLines(source);
  struct Change {
    size_t begin, end;
    const SearchReplace* block;
  };
  std::vector<Change> changes;
  for (size_t b = 0; b < blocks.size(); ++b) {
    std::vector<Line> search = SplitLines(blocks[b].search);
    // Blank lines around a search text are the writer's layout.
    while (!search.empty() && search.front().text.empty()) search.erase(search.begin());
    while (!search.empty() && search.back().text.empty()) search.pop_back();
    if (search.empty()) {
      return {"", "search_empty",
              fmt::format("the search text of edit {} is empty: copy the lines to be replaced", b + 1)};
    }
    std::vector<size_t> found;
    for (size_t at = 0; at + search.size() <= lines.size(); ++at) {
      bool same = true;
      for (size_t i = 0; i < search.size() && same; ++i) same = lines[at + i].text == search[i].text;
      if (same) found.push_back(at);
    }
    if (found.empty()) {
      return {"", "search_not_found",
              fmt::format("the search text of edit {} is not in the source: {}", b + 1, NearMiss(lines, search))};
    }
    if (found.size() > 1) {
      return {"", "search_not_unique",
              fmt::format("the search text of edit {} stands {} times in the source: take more lines around it", b + 1,
                          found.size())};
    }
    changes.push_back({lines[found[0]].begin, lines[found[0] + search.size() - 1].end, &blocks[b]});
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
