// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tuner/agents/lines.h"
#include "tuner/agents/regions.h"

namespace hone {
namespace {

constexpr std::string_view kMark = "// [span ";

// Holds a line that is not blank, and its number, counted from 1.
struct Line {
  std::string_view text;
  int64_t number = 0;
};

// Returns whether the span marks no lines and is only a place where lines may be added.
bool IsInsertion(const PlanSpan& span) { return span.last < span.first; }

// Returns the lines that are not blank.
std::vector<Line> LinesWithText(std::string_view text) {
  std::vector<Line> lines;
  int64_t number = 0;
  for (const SourceLine& line : SplitLines(text)) {
    ++number;
    if (!line.text.empty()) lines.push_back({line.text, number});
  }
  return lines;
}

// Returns the number, from 1, of the line at `offset`.
int64_t NumberOfLine(std::string_view text, size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
}

// Returns the span of a whole region.
PlanSpan SpanOf(std::string_view source, const Region& region) {
  return {region.name, NumberOfLine(source, region.begin),
          NumberOfLine(source, std::max(region.end, region.begin + 1) - 1), true};
}

// Returns whether `line`, as SplitLines gives it, is a mark.
bool IsMark(std::string_view line) {
  line = WithoutIndent(line);
  if (!line.starts_with(kMark) || !(line.ends_with(" begins]") || line.ends_with(" ends]"))) return false;
  line.remove_prefix(kMark.size());
  const std::string_view number = line.substr(0, line.find(' '));
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns how many lines of `wanted` occur in `lines` from `at` on, consecutively.
size_t CountCommonLines(const std::vector<Line>& wanted, const std::vector<Line>& lines, size_t at) {
  size_t common_lines = 0;
  while (common_lines < wanted.size() && at + common_lines < lines.size() &&
         lines[at + common_lines].text == wanted[common_lines].text)
    ++common_lines;
  return common_lines;
}

}  // namespace

std::vector<PlanSpan> JoinSpans(std::vector<PlanSpan> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const PlanSpan& a, const PlanSpan& b) {
    if (a.first != b.first) return a.first < b.first;
    return IsInsertion(a) != IsInsertion(b) ? IsInsertion(a) : a.last > b.last;
  });
  std::vector<PlanSpan> joined;
  for (PlanSpan& span : spans) {
    if (IsInsertion(span) && !joined.empty() && span.first <= std::max(joined.back().first, joined.back().last))
      continue;
    if (joined.empty() || span.first > joined.back().last) {
      joined.push_back(std::move(span));
    } else if (span.last > joined.back().last) {
      joined.back().last = span.last;
      joined.back().whole = false;
    }
  }
  return joined;
}

std::optional<PlanSpan> RegionSpan(std::string_view source, std::string_view region, bool add_prelude) {
  const std::vector<Region> regions = SplitRegions(source);
  for (const Region& r : regions) {
    if (r.name == region) return SpanOf(source, r);
  }
  if (!add_prelude || region != "prelude" || regions.empty() || regions.front().kind != "plan") return std::nullopt;
  const int64_t plan_ends = SpanOf(source, regions.front()).last;
  return PlanSpan{"prelude", plan_ends + 1, plan_ends, true};
}

std::string MarkSpans(std::string_view source, const std::vector<PlanSpan>& spans) {
  std::string out;
  int64_t number = 0;  // lines written so far
  size_t next_span = 0;  // the span that begins or ends next
  // Writes the line that says that span `next_span` begins or ends.
  const auto put_mark = [&](const char* what) {
    if (!out.empty() && out.back() != '\n') out += '\n';
    out += fmt::format("{}{} {}]\n", kMark, next_span + 1, what);
  };
  // Begins the spans that begin behind line `number`; an empty one ends there too.
  const auto begin_spans = [&] {
    for (; next_span < spans.size() && spans[next_span].first == number + 1; ++next_span) {
      put_mark("begins");
      if (!IsInsertion(spans[next_span])) return;
      put_mark("ends");
    }
  };
  begin_spans();
  for (const SourceLine& line : SplitLines(source)) {
    ++number;
    out += source.substr(line.begin, line.end - line.begin);
    if (next_span < spans.size() && spans[next_span].first <= number && spans[next_span].last == number) {
      put_mark("ends");
      ++next_span;
    }
    begin_spans();
  }
  return out;
}

std::string WithoutMarks(std::string_view text) {
  std::string out;
  for (const SourceLine& line : SplitLines(text)) {
    if (!IsMark(line.text)) out += text.substr(line.begin, line.end - line.begin);
  }
  return out;
}

std::string SpanList(const std::vector<PlanSpan>& spans) {
  std::string text;
  for (size_t i = 0; i < spans.size(); ++i) {
    const char* what = IsInsertion(spans[i]) ? "is the place for a new region"
                       : spans[i].whole      ? "is the region"
                                             : "lies in";
    text += fmt::format("{}span {} {} `{}`", i == 0 ? "" : ", ", i + 1, what, spans[i].region);
  }
  return text;
}

std::string OutsideSpans(std::string_view before, const std::vector<PlanSpan>& spans, std::string_view after) {
  // The lines outside, as the runs before, between and behind the spans.
  std::vector<std::vector<Line>> outside(spans.size() + 1);
  for (const Line& line : LinesWithText(before)) {
    size_t past = 0;  // spans that begin at or before the line
    bool inside = false;
    for (; past < spans.size() && spans[past].first <= line.number; ++past) inside = line.number <= spans[past].last;
    if (!inside) outside[past].push_back(line);
  }
  std::vector<Line> lines = LinesWithText(after);

  const auto fault = [&](const Line& line) {
    std::string region;
    for (const Region& r : SplitRegions(before)) {
      const PlanSpan span = SpanOf(before, r);
      if (span.first <= line.number && line.number <= span.last) region = r.name;
    }
    return fmt::format(
        "the line '{}' of region '{}' lies outside of what the plan marks and does not stand there as it was, "
        "or lines were added beside it",
        LineExcerpt(WithoutIndent(line.text)), region);
  };
  // The first run must begin the file and the last one end it; each of the others follows somewhere.
  const std::vector<Line>& head = outside.front();
  const std::vector<Line>& tail = outside.back();
  if (const size_t common_lines = CountCommonLines(head, lines, 0); common_lines < head.size())
    return fault(head[common_lines]);
  if (spans.empty()) return lines.size() == head.size() ? "" : "the plan marks nothing";
  size_t end = lines.size();
  for (size_t i = tail.size(); i-- > 0; --end) {
    if (end <= head.size() || lines[end - 1].text != tail[i].text) return fault(tail[i]);
  }
  lines.resize(end);
  // Each run between is sought behind the one before it; the longest match tells which line is missing.
  size_t at = head.size();
  for (size_t run = 1; run + 1 < outside.size(); ++run) {
    const std::vector<Line>& quoted_lines = outside[run];
    size_t best = 0, place = at;
    for (size_t from = at; from < lines.size() && best < quoted_lines.size(); ++from) {
      if (const size_t common_lines = CountCommonLines(quoted_lines, lines, from); common_lines > best) {
        best = common_lines;
        place = from;
      }
    }
    if (best < quoted_lines.size()) return fault(quoted_lines[best]);
    at = place + quoted_lines.size();
  }
  return "";
}

}  // namespace hone
