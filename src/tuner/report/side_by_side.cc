// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/markup.h"
#include "tuner/agents/diff.h"
#include "tuner/report/highlight.h"

namespace hone {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);  // no line

// A row of the table: line indices; kNone for an empty side.
struct Row {
  size_t before = kNone, after = kNone;
  bool changed = false;
};

// Returns the rows of the table for the lines of a difference.
std::vector<Row> PairLines(const std::vector<DiffLine>& lines) {
  std::vector<Row> rows;
  size_t i = 0, j = 0;
  for (size_t k = 0; k < lines.size();) {
    if (lines[k].mark == ' ') {
      rows.push_back({i++, j++, false});
      ++k;
      continue;
    }
    // In a series of changed lines, the n-th removed line is beside the n-th added line, whatever their order.
    const size_t begin = rows.size();
    size_t removed = 0, added = 0;
    for (; k < lines.size() && lines[k].mark != ' '; ++k) {
      size_t& side = lines[k].mark == '-' ? removed : added;
      if (begin + side == rows.size()) rows.push_back({kNone, kNone, true});
      Row& row = rows[begin + side];
      (lines[k].mark == '-' ? row.before : row.after) = lines[k].mark == '-' ? i++ : j++;
      ++side;
    }
  }
  return rows;
}

// Returns one side of a row as HTML: the line's number and its text. `changed`: an attribute of the text's cell, which
// marks a changed line; or "".
std::string SideCells(const std::vector<std::string>& lines, size_t line, const char* changed) {
  if (line == kNone) return "<td class=n></td><td class=none></td>";
  return fmt::format("<td class=n data-n='{}'></td><td{}>{}</td>", line + 1, changed, lines[line]);
}

}  // namespace

std::string SideBySide(std::string_view before, std::string_view after, std::string_view before_name,
                       std::string_view after_name, int context) {
  if (before == after) return "<p class=soft>The two sources are equal.</p>\n";
  const std::vector<std::string> a = HighlightCuda(before), b = HighlightCuda(after);
  const std::vector<Row> rows = PairLines(DiffLines(before, after));
  std::vector<bool> shown(rows.size(), context < 0);
  for (size_t i = 0; context >= 0 && i < rows.size(); ++i) {
    if (!rows[i].changed) continue;
    const auto near = static_cast<size_t>(context);
    for (size_t k = i > near ? i - near : 0; k < std::min(rows.size(), i + near + 1); ++k) shown[k] = true;
  }
  std::string out = fmt::format(
      "<div class=scroll tabindex=0><table "
      "class=sides><thead><tr><th></th><th>{}</th><th></th><th>{}</th></tr></thead><tbody>\n",
      EscapeMarkup(before_name), EscapeMarkup(after_name));
  bool skipped = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!shown[i]) {
      if (!skipped) out += "<tr class=gap><td class=n></td><td>⋯</td><td class=n></td><td>⋯</td></tr>\n";
      skipped = true;
      continue;
    }
    skipped = false;
    out += "<tr>" + SideCells(a, rows[i].before, rows[i].changed ? " class=del" : "") +
           SideCells(b, rows[i].after, rows[i].changed ? " class=add" : "") + "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace hone
