// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace hone {
namespace {

// Splits a text into its lines, without newlines.
std::vector<std::string_view> TextLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = TextLines(before), b = TextLines(after);
  // Lines that both texts share at their beginnings and ends need no search; n and m lines between them do.
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const size_t n = a.size() - head - tail, m = b.size() - head - tail;

  std::vector<DiffLine> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', a[i]});
  constexpr size_t kMostCells = 16'000'000;  // limit on the table below: 32 MB
  if (n * m <= kMostCells) {
    // longest[i][j] is the number of common lines of a[i..] and b[j..] between head and tail.
    std::vector<uint16_t> common_lines((n + 1) * (m + 1), 0);
    const auto at = [&](size_t i, size_t j) -> uint16_t& { return common_lines[i * (m + 1) + j]; };
    for (size_t i = n; i-- > 0;) {
      for (size_t j = m; j-- > 0;) {
        at(i, j) = a[head + i] == b[head + j] ? static_cast<uint16_t>(at(i + 1, j + 1) + 1)
                                              : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
    size_t i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[head + i] == b[head + j]) {
        out.push_back({' ', a[head + i]});
        ++i, ++j;
      } else if (j == m || (i < n && at(i + 1, j) >= at(i, j + 1))) {
        out.push_back({'-', a[head + i++]});
      } else {
        out.push_back({'+', b[head + j++]});
      }
    }
  } else {
    for (size_t i = 0; i < n; ++i) out.push_back({'-', a[head + i]});
    for (size_t j = 0; j < m; ++j) out.push_back({'+', b[head + j]});
  }
  for (size_t i = a.size() - tail; i < a.size(); ++i) out.push_back({' ', a[i]});
  return out;
}

std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name, int context) {
  const std::vector<DiffLine> lines = DiffLines(before, after);
  std::string out;
  const auto changed = [&](size_t i) { return lines[i].mark != ' '; };
  size_t a_line = 1, b_line = 1;
  size_t i = 0;
  const auto near = static_cast<size_t>(context);  // unchanged lines shown on either side of a change
  while (i < lines.size()) {
    // The next hunk reaches from `near` lines before a change to `near` lines after the last nearby change.
    size_t first = i;
    while (first < lines.size() && !changed(first)) ++first;
    if (first == lines.size()) break;
    const size_t begin = std::max(i, first > near ? first - near : 0);
    size_t end = first, quiet = 0;  // quiet: unchanged lines since the last change
    for (size_t k = first; k < lines.size() && quiet <= 2 * near; ++k) {
      quiet = changed(k) ? 0 : quiet + 1;
      if (quiet == 0) end = k + 1;
    }
    end = std::min(lines.size(), end + near);
    for (; i < begin; ++i) ++a_line, ++b_line;
    size_t a_count = 0, b_count = 0;
    for (size_t k = begin; k < end; ++k) {
      a_count += lines[k].mark != '+';
      b_count += lines[k].mark != '-';
    }
    if (out.empty()) out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
    out += fmt::format("@@ -{},{} +{},{} @@\n", a_line, a_count, b_line, b_count);
    for (; i < end; ++i) {
      out += fmt::format("{}{}\n", lines[i].mark, lines[i].text);
      a_line += lines[i].mark != '+';
      b_line += lines[i].mark != '-';
    }
  }
  return out;
}

}  // namespace hone
