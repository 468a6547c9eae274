// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/tree_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/markup.h"
#include "tuner/report/run_text.h"
#include "tuner/report/terminal_rows.h"

namespace hone {
namespace {

constexpr double kLane = 16, kRow = 26;  // pixels; kRow is the height of a row of text in page.cc

struct Place {
  int lane = 0, row = 0;
};

// Returns each node's lane and row. `on_path`: whether a node is on the way to the best.
std::vector<Place> PlaceNodes(const RunView& view, const std::vector<bool>& on_path) {
  const size_t count = view.nodes.size();
  std::vector<std::vector<size_t>> children(count);
  std::vector<size_t> descendants(count, 0);
  for (size_t id = count; id-- > 1;) {  // visits children before their parent, whose number is lower
    const int64_t parent = view.nodes[id].parent;
    if (parent < 0 || parent >= static_cast<int64_t>(id)) continue;
    children[static_cast<size_t>(parent)].push_back(id);
    descendants[static_cast<size_t>(parent)] += descendants[id] + 1;
  }
  std::vector<Place> places(count);
  std::vector<size_t> waiting{0};  // a stack instead of recursion: a chain may have thousands of nodes
  int row = 0;
  while (!waiting.empty()) {
    const size_t node = waiting.back();
    waiting.pop_back();
    places[node].row = row++;
    std::vector<size_t>& own = children[node];  // newest first
    if (own.empty()) continue;
    const auto main = std::max_element(own.begin(), own.end(), [&](size_t a, size_t b) {
      return on_path[a] != on_path[b] ? on_path[b] : descendants[a] < descendants[b];
    });
    std::rotate(own.begin(), main, main + 1);
    for (size_t i = 0; i < own.size(); ++i) {
      places[own[i]].lane = places[node].lane + (i == 0 ? 0 : 1);
      waiting.push_back(own[i]);
    }
  }
  return places;
}

// Returns a node's row of text.
std::string NodeRow(const RunNode& n, bool best) {
  const bool ok = n.evaluation && n.evaluation->verdict == Verdict::kOk;
  std::string outcome;
  if (n.id == 0) {
    outcome = "the start";
  } else if (ok) {
    if (n.gain) outcome = fmt::format("{:.3f}× over {}", n.gain->median, std::max<int64_t>(n.incumbent, 0));
  } else {
    const std::string word = !n.done()      ? "waiting"
                             : n.evaluation ? std::string(VerdictName(n.evaluation->verdict))
                                            : n.problem;
    outcome = fmt::format("<span class={}>{}</span>", n.done() && !FoundNothing(n) ? "bad" : "soft", EscapeMarkup(word));
  }
  return fmt::format(
      "<a class='row{}' href='#node-{}'><span class=id>{}</span><span class=idea>{}</span><span class='over "
      "number'>{}</span><span "
      "class=step>{}</span></a>\n",
      best ? " best" : "", n.id, n.id, EscapeMarkup(ClippedLine(n.idea, 200)),
      n.speedup ? fmt::format("{:.3f}×", *n.speedup) : "", outcome);
}

}  // namespace

std::string TreeChart(const RunView& view) {
  const size_t count = view.nodes.size();
  if (count < 2) return "";
  std::vector<bool> on_path(count, false);
  for (int64_t n = view.best; n >= 0 && n < static_cast<int64_t>(count); n = view.node(n).parent) {
    if (on_path[static_cast<size_t>(n)]) break;
    on_path[static_cast<size_t>(n)] = true;
  }
  const std::vector<Place> places = PlaceNodes(view, on_path);
  const auto x = [&](size_t n) { return 10 + kLane * places[n].lane; };
  const auto y = [&](size_t n) { return kRow / 2 + kRow * places[n].row; };
  int lanes = 0;
  std::vector<int64_t> order(count);
  for (size_t n = 0; n < count; ++n) {
    lanes = std::max(lanes, places[n].lane);
    order[static_cast<size_t>(places[n].row)] = static_cast<int64_t>(n);
  }
  std::string svg = fmt::format(
      "<svg width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' role=img aria-label='tree of {2} nodes, the "
      "best is node "
      "{3}'>",
      20 + kLane * lanes, kRow * static_cast<double>(count), count, view.best);
  for (const bool best : {false, true}) {
    std::string path;
    for (const RunNode& n : view.nodes) {
      if (n.parent < 0 || n.parent >= n.id || on_path[static_cast<size_t>(n.id)] != best) continue;
      const auto id = static_cast<size_t>(n.id), from = static_cast<size_t>(n.parent);
      path += fmt::format("M{:.0f} {:.0f}V{:.0f}", x(from), y(from), y(id));
      if (x(id) != x(from)) path += fmt::format("H{:.0f}", x(id));
    }
    if (!path.empty())
      svg += fmt::format("<path d='{}' fill=none stroke='{}' stroke-width='{}'/>", path,
                         best ? "var(--accent)" : "var(--soft)", best ? 2.5 : 1);
  }
  for (const RunNode& n : view.nodes) {
    const auto id = static_cast<size_t>(n.id);
    const bool ok = n.evaluation && n.evaluation->verdict == Verdict::kOk;
    if (ok || n.id == 0) {
      svg += fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='5' fill='{}' stroke='var(--accent)' stroke-width='1.5'/>",
                         x(id), y(id), n.kept || n.id == 0 ? "var(--accent)" : "var(--panel)");
    } else if (!n.done() || FoundNothing(n)) {
      svg +=
          fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='4' fill='var(--panel)' stroke='var(--soft)'/>", x(id), y(id));
    } else {
      svg += fmt::format(
          "<rect x='{0:.0f}' y='{1:.0f}' width='9' height='9' fill='var(--panel)' stroke='none'/><path class=x "
          "d='M{0:.0f} {1:.0f}l8 8m0-8l-8 8'/>",
          x(id) - 4, y(id) - 4);
    }
  }
  std::string rows;
  for (const int64_t id : order) rows += NodeRow(view.node(id), id == view.best);
  const std::string modelled_note = view.info.modelled ? ", modelled" : "";
  return fmt::format(
      "<figure><div class=tree tabindex=0><div class='row top'><span class=id>node</span><span "
      "class=idea>idea</span><span class='over "
      "number'>over {0}</span><span class=step>over the best then</span></div><div class=lanes>{1}</svg><div "
      "class=rows>\n{2}</div></div></div>"
      "<figcaption>Each node hangs below the version that it was made from; the thick line leads to the best. A filled "
      "mark "
      "was kept, a ring was right but not kept, and a × failed. \"Over the best then\" is the speedup as it was "
      "timed{3}; "
      "\"over {0}\" multiplies these gains along the kept steps{3}.</figcaption></figure>\n",
      EscapeMarkup(StartName(view)), svg, rows, modelled_note);
}

}  // namespace hone
