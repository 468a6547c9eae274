// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "tuner/agents/reply.h"
#include "tuner/report/charts.h"
#include "tuner/report/diff.h"
#include "tuner/report/run_text.h"

namespace hone {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1a1c20; --soft: #5b616b; --line: #d9dce1; --paper: #ffffff; --panel: #f5f6f8;
  --accent: #0b6bcb; --good: #18794e; --bad: #c62a2f; --addbg: #e3f5ea; --delbg: #fdeaea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #9aa3af; --line: #343a43; --paper: #15181c;
  --panel: #1e2228; --accent: #6cb1ff; --good: #5fd39a; --bad: #ff8d8d; --addbg: #143523; --delbg: #40191c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
.badge { display: inline-block; padding: 0 0.5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: 0.85rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: var(--panel); padding: 0.75rem; border-radius: 0.4rem; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; }
pre span { display: block; min-height: 1.45em; } pre .add { background: var(--addbg); } pre .del { background: var(--delbg); }
svg { width: 100%; height: auto; background: var(--panel); border-radius: 0.4rem; }
details summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0; } dt { color: var(--soft); } dd { margin: 0; }
)css";

std::string Paragraphs(const std::string& text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    // The table of shapes follows as a chart.
    if (!line.empty() && !line.starts_with("  ")) out += "<p>" + EscapeHtml(line) + "</p>\n";
    at = end + 1;
  }
  return out;
}

std::string ShapeTable(const Evaluation& e) {
  std::string rows;
  for (const CaseResult& c : e.cases) {
    if (!c.time_us) continue;
    rows += fmt::format(
        "<tr><td>{}</td><td class=number>{:.2f}</td><td class=number>{}</td><td class=number>{}</td><td "
        "class=number>{}</td>"
        "<td class=number>{}</td><td>{}</td></tr>\n",
        EscapeHtml(DimsText(c.dims)), c.time_us->median, c.baseline_us ? fmt::format("{:.2f}", *c.baseline_us) : "–",
        c.speedup ? EscapeHtml(SpeedupText(*c.speedup, e.modelled)) : "–",
        c.floor_us ? fmt::format("{:.2f}", *c.floor_us) : "–",
        c.floor_fraction ? fmt::format("{:.0f} %", 100 * *c.floor_fraction) : "–",
        EscapeHtml(c.timing.status + (c.timing.decision.empty() ? "" : ", " + c.timing.decision)));
  }
  const char* unit = e.modelled ? "modelled us" : "us";
  return fmt::format(
      "<div class=scroll><table><tr><th>shape</th><th class=number>time, {0}</th><th class=number>seed, {0}</th>"
      "<th class=number>speedup</th><th class=number>floor, {0}</th><th class=number>of the floor's "
      "speed</th><th>timing</th></tr>\n{1}</table></div>\n",
      unit, rows);
}

std::string AttemptTable(const RunView& view) {
  std::string rows;
  for (const RunNode& n : view.nodes) {
    std::string verdict = n.state == NodeState::kUnusable ? n.problem
                          : n.evaluation                  ? std::string(VerdictName(n.evaluation->verdict))
                                                          : "waiting";
    const bool ok = n.evaluation && n.evaluation->verdict == Verdict::kOk;
    std::string why = n.detail;
    if (n.evaluation && !ok) why = n.evaluation->detail;
    if (why.size() > 400) why = why.substr(0, 400) + "…";
    std::string idea = EscapeHtml(n.idea);
    if (!n.reasoning.empty())
      idea = fmt::format("<details><summary>{}</summary>{}</details>", idea, EscapeHtml(n.reasoning));
    rows += fmt::format(
        "<tr><td class=number>{}</td><td class=number>{}</td><td>{}</td><td class={}>{}</td><td "
        "class=number>{}</td><td>{}</td><td>{}</td></tr>\n",
        n.id, n.parent < 0 ? "" : std::to_string(n.parent), idea, ok ? "good" : "bad", EscapeHtml(verdict),
        n.gain ? fmt::format("{:.3f}x", n.gain->median) : "", n.kept ? "kept" : "", EscapeHtml(why));
  }
  return "<div class=scroll><table><tr><th class=number>node</th><th "
         "class=number>from</th><th>idea</th><th>verdict</th>"
         "<th class=number>against the best before</th><th></th><th>why</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string DiffBlock(std::string_view before, std::string_view after) {
  std::string out = "<pre>";
  for (const DiffLine& line : DiffLines(before, after)) {
    const char* kind = line.mark == '+' ? " class=add" : line.mark == '-' ? " class=del" : "";
    out += fmt::format("<span{}>{}{}</span>", kind, line.mark, EscapeHtml(line.text));
  }
  return out + "</pre>\n";
}

std::string SweepTable(const RunView& view) {
  std::string rows;
  for (const SweepPoint& p : view.sweep) {
    rows += fmt::format("<tr><td class=number>{}</td><td>{}</td><td>{}</td><td class=number>{}</td></tr>\n", p.node,
                        EscapeHtml(BindingKey(p.binding)), VerdictName(p.evaluation.verdict),
                        p.evaluation.geomean_speedup ? fmt::format("{:.3f}x", *p.evaluation.geomean_speedup) : "");
  }
  if (rows.empty()) return "";
  return "<h2>Sweeps of tunables</h2>\n<div class=scroll><table><tr><th "
         "class=number>node</th><th>binding</th><th>verdict</th>"
         "<th class=number>against the best then</th></tr>\n" +
         rows + "</table></div>\n";
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x80) {
          // Control characters have no place in HTML.
          out += c >= 0x20 || c == '\n' || c == '\t' ? text[i] : ' ';
          break;
        }
        const size_t length = (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
        if (length == 0 || !IsUtf8(text.substr(i, length)) || i + length > text.size()) {
          out += "\xef\xbf\xbd";
          break;
        }
        out += text.substr(i, length);
        i += length - 1;
      }
    }
  }
  return out;
}

Result<std::string> HtmlReport(RunStore& store, const RunView& view) {
  HONE_ASSIGN_OR_RETURN(std::string seed, store.Source(view.seed_hash));
  const bool modelled = view.info.modelled;
  std::string body;
  body += fmt::format("<h1>{} on {}</h1>\n", EscapeHtml(view.info.task), EscapeHtml(view.info.device));
  if (modelled) {
    body +=
        "<p><span class=badge>modelled</span> This device is simulated: every time and speedup below is modelled, none "
        "is measured. Results were checked by execution.</p>\n";
  }
  body += Paragraphs(ResultText(view));
  body += "<h2>Speedup over attempts</h2>\n" + AttemptChart(view);
  if (view.final_result && !view.final_result->evaluation.cases.empty()) {
    const Evaluation& e = view.final_result->evaluation;
    body += fmt::format("<h2>Every shape, {}</h2>\n", modelled ? "modelled" : "with 95 % intervals");
    body += SpeedupBars(e) + ShapeTable(e);
  } else if (view.node(view.best).evaluation) {
    body += fmt::format("<h2>The {}'s times{}</h2>\n", view.best == 0 ? "seed" : "best", modelled ? ", modelled" : "");
    body += ShapeTable(*view.node(view.best).evaluation);
  }
  body += "<h2>Attempts</h2>\n" + AttemptTable(view) + SweepTable(view);
  if (view.best != 0) {
    HONE_ASSIGN_OR_RETURN(std::string winner, store.Source(view.node(view.best).source_hash));
    body += fmt::format(
        "<h2>The winning kernel</h2>\n<p class=soft>Node {}, with its difference to the seed. SHA-256 {}</p>\n",
        view.best, view.node(view.best).source_hash);
    body += DiffBlock(seed, winner);
    body += fmt::format("<details><summary>The whole file</summary><pre>{}</pre></details>\n", EscapeHtml(winner));
  }
  body += "<h2>The run</h2>\n<dl>";
  const auto fact = [&](const char* name, const std::string& value) {
    body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, EscapeHtml(value));
  };
  fact("run", view.info.id);
  fact("started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(view.info.started))));
  fact("ended", view.ended.empty() ? "still open" : view.ended);
  fact("strategy", view.options.strategy);
  fact("model", view.options.model);
  fact("time", fmt::format("{} in {} sitting(s)", DurationText(view.seconds), view.sittings));
  fact("evaluations", std::to_string(view.evaluations));
  fact("requests", fmt::format("{}, {} asked again", view.requests, view.asked_again));
  fact("tokens",
       fmt::format("{} in, {} out{}", view.usage.input, view.usage.output, view.usage.estimated ? " (estimated)" : ""));
  fact("cost", fmt::format("${:.2f}", view.cost_usd));
  fact("kept above", fmt::format("{:.1f} % surely faster", 100 * view.options.keep_above));
  body += "</dl>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<title>{} – {}</title>\n<style>{}</style></head>\n<body>\n{}</body></html>\n",
      EscapeHtml(view.info.task), EscapeHtml(view.info.id), kStyle, body);
}

}  // namespace hone
