// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tuner/agents/reply.h"
#include "tuner/report/charts.h"
#include "tuner/report/highlight.h"
#include "tuner/report/page.h"
#include "tuner/report/run_text.h"
#include "tuner/report/spend.h"
#include "tuner/store/cost_text.h"
#include "tuner/store/device_facts.h"
#include "tuner/store/structure_rate.h"

namespace hone {
namespace {

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
        "<tr><td data-name=shape>{}</td><td class=number data-name='time'>{:.2f}</td><td class=number "
        "data-name='seed'>{}</td><td class=number data-name=speedup>{}</td>"
        "<td class=number data-name='floor'>{}</td><td class=number data-name=\"of the floor's speed\">{}</td><td "
        "data-name=timing>{}</td></tr>\n",
        EscapeHtml(DimsText(c.dims)), c.time_us->median, c.baseline_us ? fmt::format("{:.2f}", *c.baseline_us) : "–",
        c.speedup ? EscapeHtml(SpeedupText(*c.speedup, e.modelled)) : "–",
        c.floor_us ? fmt::format("{:.2f}", *c.floor_us) : "–",
        c.floor_fraction ? fmt::format("{:.0f} %", 100 * *c.floor_fraction) : "–",
        EscapeHtml(c.timing.status + (c.timing.decision.empty() ? "" : ", " + c.timing.decision)));
  }
  const char* unit = e.modelled ? "modelled µs" : "µs";
  return fmt::format(
      "<details><summary>The same in numbers, {0}</summary><div class=scroll><table class=stack><tr><th>shape</th><th "
      "class=number>time, {0}</th><th class=number>seed, {0}</th>"
      "<th class=number>speedup</th><th class=number>floor, {0}</th><th class=number>of the floor's "
      "speed</th><th>timing</th></tr>\n{1}</table></div></details>\n",
      unit, rows);
}

// Beside libraries, where they were timed.
std::string LibraryTable(const Evaluation& e) {
  std::string rows;
  for (const CaseResult& c : e.cases) {
    for (const LibraryResult& library : c.libraries) {
      rows += fmt::format(
          "<tr><td data-name=shape>{}</td><td data-name=library>{}</td><td class=number data-name=time>{}</td><td class=number "
          "data-name=speedup>{}</td><td data-name=how>{}</td></tr>\n",
          EscapeHtml(DimsText(c.dims)), EscapeHtml(library.name), library.time_us ? fmt::format("{:.2f}", *library.time_us) : "–",
          library.speedup ? EscapeHtml(SpeedupText(*library.speedup, false)) : "–", EscapeHtml(library.detail));
    }
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<details><summary>Beside libraries</summary><div class=scroll><table class=stack><tr><th>shape</th><th>library</th>"
      "<th class=number>its time, µs</th><th class=number>the best's speedup over it</th><th>how</th></tr>\n{}</table></div></details>\n",
      rows);
}

std::string Clipped(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "…";
}

// Everything about one attempt, folded away.
std::string NodeBlock(const RunView& view, const RunNode& n, const std::string& diff) {
  const bool ok = n.evaluation && n.evaluation->verdict == Verdict::kOk;
  const std::string verdict = n.state == NodeState::kUnusable ? n.problem
                              : n.evaluation                  ? std::string(VerdictName(n.evaluation->verdict))
                                                              : "waiting";
  std::string out = fmt::format(
      "<details class=node id=node-{0}><summary><span class=id>{0}</span><span class=idea>{1}</span><span "
      "class='verdict {2}'>{3}</span>"
      "<span class='gain number'>{4}</span><span class=fate>{5}</span></summary><div class=inside>\n",
      n.id, EscapeHtml(Clipped(n.idea, 160)),
      ok                                   ? "good"
      : n.evaluation || !n.problem.empty() ? "bad"
                                           : "soft",
      EscapeHtml(verdict), n.gain ? fmt::format("{:.3f}×", n.gain->median) : "",
      n.rejected ? "rejected"
      : n.kept   ? "kept"
                 : "");
  if (n.parent >= 0) {
    std::string roles;
    for (const Turn& t : n.turns) roles += (roles.empty() ? "" : ", ") + t.role;
    out += fmt::format("<p class=soft>{} from <a href='#node-{}'>node {}</a>{}{}</p>\n",
                       EscapeHtml(n.purpose.empty() ? n.origin : n.purpose), n.parent, n.parent,
                       roles.empty() ? "" : "; asked: " + EscapeHtml(roles),
                       n.gain ? fmt::format("; {} over node {}", EscapeHtml(SpeedupText(*n.gain, view.info.modelled)),
                                            std::max<int64_t>(n.incumbent, 0))
                              : "");
  }
  if (!n.detail.empty()) out += "<p>" + EscapeHtml(Clipped(n.detail, 600)) + "</p>\n";
  if (n.evaluation && !ok) {
    out += "<pre class=text>" + EscapeHtml(Clipped(n.evaluation->detail, 900)) + "</pre>\n";
    if (n.evaluation->mismatch)
      out += "<p>First wrong: " + EscapeHtml(MismatchText(*n.evaluation->mismatch)) + "</p>\n";
  }
  for (const Memo& memo : view.memos) {
    if (memo.node != n.id || n.id == 0 || memo.kind == "problem") continue;
    out += fmt::format("<p class=soft>{}</p><pre class=text>{}</pre>\n", EscapeHtml(memo.kind),
                       EscapeHtml(Clipped(memo.text.empty() ? memo.idea : memo.text, 1200)));
  }
  if (!n.reasoning.empty()) out += "<pre class=text>" + EscapeHtml(Clipped(n.reasoning, 1200)) + "</pre>\n";
  if (ok && !n.evaluation->resources.empty())
    out += "<p class=soft>" + EscapeHtml(ResourcesText(*n.evaluation)) + "</p>\n";
  return out + diff + "</div></details>\n";
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

namespace {

// Compulsory bytes and operations of every timed shape of the seed and the best; nothing where the task or the device
// cannot be read any more: a report is not worth failing for a chart.
std::string Roofline(RunStore& store, const RunView& view, const std::vector<Event>& events) {
  Result<std::string> toml = store.Source(view.task_toml_hash);
  if (!toml.ok() || events.empty()) return "";
  const Result<Task> task = ParseTask(*toml, "task.toml");
  const nlohmann::json started = nlohmann::json::parse(events.front().payload, nullptr, false);
  if (!task.ok() || !started.is_object() || !started.contains("facts")) return "";
  DeviceFacts facts = DeviceFactsFromJson(started["facts"], {});
  if (facts.name.empty()) facts.name = view.info.device;
  std::vector<RooflinePoint> points;
  const auto add = [&](const std::string& label, const Evaluation& e, bool baseline) {
    for (const CaseResult& c : e.cases) {
      const double us = baseline ? c.baseline_us.value_or(0) : c.time_us ? c.time_us->median : 0;
      const Result<double> bytes = CompulsoryBytes(*task, c.dims), flops = Flops(*task, c.dims);
      if (us <= 0 || !bytes.ok() || !flops.ok() || *bytes <= 0) continue;
      points.push_back({label, c.dims, us * 1e-6, *bytes, *flops, label != "best"});
    }
  };
  if (view.final_result && view.final_result->evaluation.verdict == Verdict::kOk && view.best != 0) {
    add(StartName(view), view.final_result->evaluation, true);
    add("best", view.final_result->evaluation, false);
  } else {
    if (view.node(0).evaluation) add(StartName(view), *view.node(0).evaluation, false);
    if (view.best != 0 && view.node(view.best).evaluation) add("best", *view.node(view.best).evaluation, false);
  }
  const std::string chart = RooflineChart(points, facts, view.info.modelled);
  return chart.empty() ? "" : "<h2 id=roofline>Against the device's limits</h2>\n" + chart;
}

std::string Tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=tile><b>{}</b><span>{}</span></div>\n", EscapeHtml(value), EscapeHtml(name));
}

}  // namespace

Result<std::string> HtmlReport(RunStore& store, const RunView& view) {
  if (view.nodes.empty()) return Status::InvalidArgument(fmt::format("run {} has no events yet", view.info.id));
  HONE_ASSIGN_OR_RETURN(std::string seed, store.Source(view.seed_hash));
  HONE_ASSIGN_OR_RETURN(const std::vector<Event> events, store.Events(view.info.id));
  const std::vector<Exchange> exchanges = ReadExchanges(events);
  const bool modelled = view.info.modelled;
  std::string body;
  body += fmt::format("<h1>{} on {}</h1>\n", EscapeHtml(view.info.task), EscapeHtml(JudgedOn(view)));
  if (modelled) {
    body +=
        "<p><span class=badge>modelled</span> This device is simulated: every time and speedup below is modelled, none "
        "is measured. Results were checked by execution.</p>\n";
  }
  int right = 0, kept = 0;
  for (const RunNode& n : view.nodes) {
    right += n.id != 0 && n.evaluation && n.evaluation->verdict == Verdict::kOk;
    kept += n.kept;
  }
  const bool proven = view.best != 0 && view.final_result && view.final_result->evaluation.verdict == Verdict::kOk;
  const double speedup =
      proven ? view.final_result->evaluation.geomean_speedup.value_or(1.0) : view.node(view.best).speedup.value_or(1.0);
  body += "<div class=tiles>\n";
  body += Tile(
      fmt::format("{:.3f}×", speedup),
      fmt::format("{}{}", proven ? "as fast as " + StartName(view) : "estimated, over " + StartName(view), modelled ? ", modelled" : ""));
  body += Tile(fmt::format("{} / {} / {}", view.attempts, right, kept), "attempts / right / kept");
  body += Tile(DurationText(view.seconds),
               fmt::format("{} evaluation{}", view.evaluations, view.evaluations == 1 ? "" : "s"));
  body += Tile(CostText(view.cost_usd, view.unpriced_replies),
               fmt::format("{} requests, {} tokens", view.requests, TokensText(view.usage.input + view.usage.output)));
  body += "</div>\n" + Paragraphs(ResultText(view));
  body +=
      "<nav aria-label='sections'><a href='#attempts-chart'>over time</a><a href='#shapes'>shapes</a><a "
      "href='#tree'>tree</a><a href='#attempts'>attempts</a>"
      "<a href='#kernel'>kernel</a><a href='#run'>the run</a></nav>\n";
  body += "<h2 id=attempts-chart>Speedup over attempts</h2>\n" + AttemptChart(view);
  body += fmt::format("<h2 id=shapes>Every shape{}</h2>\n", modelled ? ", modelled" : "");
  if (view.final_result && !view.final_result->evaluation.cases.empty()) {
    body += SpeedupBars(view.final_result->evaluation, StartName(view)) + ShapeTable(view.final_result->evaluation) +
            LibraryTable(view.final_result->evaluation);
  } else if (view.node(view.best).evaluation) {
    body += fmt::format("<p class=soft>Times of {}.</p>\n",
                        view.best == 0 ? EscapeHtml(StartName(view))
                                       : "the best so far; it has not been paired with " + EscapeHtml(StartName(view)));
    body += ShapeTable(*view.node(view.best).evaluation);
  }
  body += Roofline(store, view, events);
  if (const std::string tree = TreeChart(view); !tree.empty()) body += "<h2 id=tree>The tree</h2>\n" + tree;

  // Differences to the parent for what was kept, as long as they do not swell the page.
  body +=
      "<h2 id=attempts>Attempts</h2>\n<div class=head "
      "aria-hidden=true><span>node</span><span>idea</span><span>verdict</span><span "
      "class=number>gain</span><span></span></div>\n";
  size_t diff_bytes = 0;
  constexpr size_t kMostDiffBytes = 1'200'000;
  for (const RunNode& n : view.nodes) {
    std::string diff;
    if (n.kept && n.parent >= 0 && diff_bytes < kMostDiffBytes && !view.node(n.parent).source_hash.empty()) {
      Result<std::string> before = store.Source(view.node(n.parent).source_hash), after = store.Source(n.source_hash);
      if (before.ok() && after.ok()) diff = HighlightedDiff(*before, *after, 3);
      diff_bytes += diff.size();
    }
    body += NodeBlock(view, n, diff);
  }
  body += SweepTable(view);
  if (!view.cases.empty()) {
    std::string rows;
    for (const ProposedCase& c : view.cases) {
      rows += fmt::format("<tr><td data-name=case>{}</td><td data-name=state>{}</td><td data-name=why>{}</td></tr>\n",
                          EscapeHtml(DimsText(c.dims)), EscapeHtml(c.state),
                          EscapeHtml(Clipped(c.detail.empty() ? c.reason : c.detail, 300)));
    }
    body += "<h2>Cases the tester proposed</h2>\n<table class=stack><tr><th>case</th><th></th><th>why</th></tr>\n" +
            rows + "</table>\n";
  }
  body += "<h2 id=kernel>The winning kernel</h2>\n";
  if (view.best != 0) {
    HONE_ASSIGN_OR_RETURN(std::string winner, store.Source(view.node(view.best).source_hash));
    body += fmt::format("<p class=soft>Node {}, with its difference to {}. SHA-256 <small>{}</small></p>\n",
                        view.best, EscapeHtml(StartName(view)), view.node(view.best).source_hash);
    body += HighlightedDiff(seed, winner);
    std::string whole = "<pre class=code tabindex=0>";
    for (const std::string& line : HighlightCuda(winner)) whole += "<span>" + line + "</span>";
    body += "<details><summary>The file alone</summary>" + whole + "</pre></details>\n";
  } else {
    body += fmt::format("<p>Nothing was found that is surely faster than {}; this is it.</p>\n", EscapeHtml(StartName(view)));
    std::string whole = "<pre class=code tabindex=0>";
    for (const std::string& line : HighlightCuda(seed)) whole += "<span>" + line + "</span>";
    body += "<details><summary>" + std::string(view.from_oracle ? "The oracle&#39;s kernel" : "The seed") + "</summary>" + whole + "</pre></details>\n";
  }
  body += "<h2 id=run>The run</h2>\n";
  body += CostBars(SharesByRole(exchanges));
  body += "<dl>";
  const auto fact = [&](const char* name, const std::string& value) {
    body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, EscapeHtml(value));
  };
  fact("run", view.info.id);
  fact("started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(view.info.started))));
  fact("ended", view.ended.empty() ? "still open" : fmt::format("{}: {}", view.ended, ReasonText(view)));
  fact("strategy", view.options.strategy);
  fact("model", view.options.model);
  fact("device", view.info.device);
  fact("time", fmt::format("{} in {} sitting(s)", DurationText(view.seconds), view.sittings));
  fact("evaluations", std::to_string(view.evaluations));
  fact("requests", fmt::format("{}, {} asked again", view.requests, view.asked_again));
  fact("tokens",
       fmt::format("{} in, {} out{}", view.usage.input, view.usage.output, view.usage.estimated ? " (estimated)" : ""));
  fact("cost", CostText(view.cost_usd, view.unpriced_replies) +
                   (view.unpriced_replies == 0
                        ? ""
                        : fmt::format("; what {} of {} replies cost is not known", view.unpriced_replies, view.replies)));
  fact("replies lost to form", StructureText(CountStructure(view)) +
                                   ": edits that could not be put in place, or that broke the file's structure");
  fact("kept above", fmt::format("{:.1f} % surely faster", 100 * view.options.keep_above));
  body += "</dl>\n";
  if (!view.remarks.empty()) {
    body += fmt::format("<details><summary>{} note{} on requests</summary><pre class=text>{}</pre></details>\n",
                        view.remarks.size(), view.remarks.size() == 1 ? "" : "s", EscapeHtml(RemarksText(view, 200)));
  }
  return HtmlPage(view.info.task + " – " + view.info.id, body);
}

}  // namespace hone
