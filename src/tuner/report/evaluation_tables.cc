// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/evaluation_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/markup.h"
#include "tuner/report/run_text.h"

namespace hone {
namespace {

// Returns a speedup for a table's cell, without "modelled", which the column's header says.
std::string SpeedupCell(const Interval& speedup, bool modelled) {
  if (modelled) return fmt::format("{:.3f}×", speedup.median);
  return fmt::format("{:.3f}× <small>[{:.3f}, {:.3f}]</small>", speedup.median, speedup.low, speedup.high);
}

}  // namespace

std::string ShapeTable(const Evaluation& e, const std::string& baseline) {
  std::string rows;
  for (const CaseResult& c : e.cases) {
    if (!c.time_us) continue;
    rows += fmt::format(
        "<tr><td data-name=shape>{}</td><td class=number data-name='time'>{:.2f}</td><td class=number "
        "data-name='{}'>{}</td><td class=number data-name=speedup>{}</td>"
        "<td class=number data-name='floor'>{}</td><td class=number data-name=\"of the floor's speed\">{}</td><td "
        "data-name=timing>{}</td></tr>\n",
        EscapeMarkup(DimsText(c.dims)), c.time_us->median, EscapeMarkup(baseline),
        c.baseline_us ? fmt::format("{:.2f}", *c.baseline_us) : "–",
        c.speedup ? SpeedupCell(*c.speedup, e.modelled) : "–", c.floor_us ? fmt::format("{:.2f}", *c.floor_us) : "–",
        c.floor_fraction ? fmt::format("{:.0f} %", 100 * *c.floor_fraction) : "–",
        EscapeMarkup(c.timing.status + (c.timing.decision.empty() ? "" : ", " + c.timing.decision)));
  }
  if (rows.empty()) return "";
  const char* unit = e.modelled ? "modelled µs" : "µs";
  return fmt::format(
      "<div class=scroll><table class=stack><tr><th>shape</th><th class=number>time, {0}</th><th class=number>{1}, "
      "{0}</th>"
      "<th class=number>speedup{3}</th><th class=number>floor, {0}</th><th class=number>of the floor's "
      "speed</th><th>timing</th></tr>\n{2}</table></div>\n",
      unit, EscapeMarkup(baseline), rows, e.modelled ? ", modelled" : "");
}

std::string LibraryTable(const Evaluation& e) {
  std::string rows;
  for (const CaseResult& c : e.cases) {
    for (const LibraryResult& library : c.libraries) {
      rows += fmt::format(
          "<tr><td data-name=shape>{}</td><td data-name=library>{}</td><td class=number data-name=time>{}</td><td "
          "class=number "
          "data-name=speedup>{}</td><td data-name=how>{}</td></tr>\n",
          EscapeMarkup(DimsText(c.dims)), EscapeMarkup(library.name),
          library.time_us ? fmt::format("{:.2f}", *library.time_us) : "–",
          library.speedup ? EscapeMarkup(SpeedupText(*library.speedup, /*modelled=*/false)) : "–",
          EscapeMarkup(library.detail));
    }
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<details><summary>Beside libraries</summary><div class=scroll><table "
      "class=stack><tr><th>shape</th><th>library</th>"
      "<th class=number>its time, µs</th><th class=number>the best's speedup over "
      "it</th><th>how</th></tr>\n{}</table></div></details>\n",
      rows);
}

std::string FindingsAndProfile(const Evaluation& e) {
  std::string items;
  for (const Finding& f : e.findings) {
    const bool profiled =
        e.profile && std::any_of(e.profile->findings.begin(), e.profile->findings.end(),
                                 [&](const ProfileFinding& p) { return p.kind == f.kind && p.location == f.location; });
    // A finding that the verdict's detail already contains is not repeated.
    if (profiled || e.detail.find(f.message) != std::string::npos) continue;
    const bool placed = f.location.empty() || f.message.ends_with("at " + f.location);
    const std::string item = fmt::format("<li><b>{}</b> {}{}</li>\n", EscapeMarkup(f.kind), EscapeMarkup(f.message),
                                         placed ? "" : " <small>at " + EscapeMarkup(f.location) + "</small>");
    if (items.find(item) == std::string::npos) items += item;
  }
  std::string out = items.empty() ? "" : "<ul class=findings>\n" + items + "</ul>\n";
  if (!e.profile) return out;
  const std::string text = DescribeProfile(*e.profile, "");
  if (text.empty()) return out;
  return out + fmt::format("<details><summary>Profile{}{}</summary><pre class=text>{}</pre></details>\n",
                           e.profile->source.empty() ? "" : ", counted by " + EscapeMarkup(e.profile->source),
                           e.profile->modelled ? ", times modelled" : "", EscapeMarkup(text));
}

}  // namespace hone
