// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/text/markup.h"
#include "tuner/report/charts.h"
#include "tuner/report/evaluation_tables.h"
#include "tuner/report/highlight.h"
#include "tuner/report/node_sections.h"
#include "tuner/report/page.h"
#include "tuner/report/run_text.h"
#include "tuner/report/spend.h"
#include "tuner/report/terminal_rows.h"
#include "tuner/report/tree_chart.h"
#include "tuner/run/log/cost_text.h"
#include "tuner/run/log/events.h"
#include "tuner/run/log/grounding.h"
#include "tuner/run/log/repairs.h"
#include "tuner/run/log/structure_rate.h"

namespace hone {
namespace {

// Returns each line of the text that is not empty as a paragraph.
std::string ParagraphsHtml(const std::string& text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!line.empty()) out += "<p>" + EscapeMarkup(line) + "</p>\n";
    at = end + 1;
  }
  return out;
}

// Returns the roofline chart of node 0 and the best version at every timed shape. Returns an empty text if the task or
// the device's facts cannot be read any more, because a report must not fail for a chart.
std::string RooflineOfRun(RunStore& store, const RunView& view, const std::vector<Event>& events) {
  Result<std::string> toml = store.Source(view.task_toml_hash);
  if (!toml.ok() || events.empty()) return "";
  const Result<Task> task = ParseTask(*toml, "task.toml");
  const std::optional<RunStarted> started = DecodeAs<RunStarted>(events.front());
  if (!task.ok() || !started || !started->facts) return "";
  DeviceFacts facts = *started->facts;
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
    add(StartName(view), view.final_result->evaluation, /*baseline=*/true);
    add("best", view.final_result->evaluation, /*baseline=*/false);
  } else {
    if (view.node(0).evaluation) add(StartName(view), *view.node(0).evaluation, /*baseline=*/false);
    if (view.best != 0 && view.node(view.best).evaluation)
      add("best", *view.node(view.best).evaluation, /*baseline=*/false);
  }
  const std::string chart = RooflineChart(points, facts, view.info.modelled);
  return chart.empty() ? "" : "<h2 id=roofline>Against the device's limits</h2>\n" + chart;
}

// Returns one of the page's figures: a value above its name.
std::string FigureTile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=tile><b>{}</b><span>{}</span></div>\n", EscapeMarkup(value), EscapeMarkup(name));
}

// Returns the run's four most important figures, which the rest of the page does not repeat.
std::string KeyFigures(const RunView& view) {
  const char* modelled_note = view.info.modelled ? ", modelled" : "";
  const RunTally tally = Tally(view);
  std::string out = "<div class=tiles>\n";
  if (view.best != 0 && view.final_result && view.final_result->evaluation.verdict == Verdict::kOk) {
    out += FigureTile(fmt::format("{:.3f}×", view.final_result->evaluation.geomean_speedup.value_or(1.0)),
                fmt::format("as fast as {}{}: node {}, {}", StartName(view), modelled_note, view.best,
                            ShapesText(view.final_result->evaluation)));
  } else {
    out += FigureTile(fmt::format("{:.3f}×", view.node(view.best).speedup.value_or(1.0)),
                fmt::format("estimated, over {}{}", StartName(view), modelled_note));
  }
  out += FigureTile(fmt::format("{} / {} / {}", view.attempts, tally.right, tally.kept),
              fmt::format("attempts / right / kept{}", tally.swept_bindings == 0 ? "" : "; " + SweepsText(tally)));
  out += FigureTile(DurationText(view.seconds),
              fmt::format("{} for {} evaluation{}", view.seconds < 3600 ? "minutes:seconds" : "hours:minutes:seconds",
                          view.evaluations, view.evaluations == 1 ? "" : "s"));
  const std::string tokens = TokensText(view.usage.input + view.usage.output);
  const std::string requests = fmt::format("{} request{}", view.requests, view.requests == 1 ? "" : "s");
  // If some replies have no price, the tokens are shown in place of the cost.
  if (view.unpriced_replies > 0) {
    out += FigureTile(tokens, fmt::format("tokens in {}; {}", requests,
                                    view.cost_usd > 0 ? "cost " + CostText(view.cost_usd, view.unpriced_replies)
                                                      : "their cost is not known"));
  } else if (AsksNoModel(view)) {
    out += FigureTile(std::to_string(view.requests),
                fmt::format("mechanical rewrite{}; no model was asked", view.requests == 1 ? "" : "s"));
  } else {
    out += FigureTile(CostText(view.cost_usd, 0), fmt::format("{}, {} tokens", requests, tokens));
  }
  return out + "</div>\n";
}

}  // namespace

Result<std::string> HtmlReportBody(RunStore& store, const RunView& view, const NodeLinks& links) {
  if (view.nodes.empty()) return Status::InvalidArgument(fmt::format("run {} has no events yet", view.info.id));
  HONE_ASSIGN_OR_RETURN(std::string seed, store.Source(view.seed_hash));
  HONE_ASSIGN_OR_RETURN(const std::vector<Event> events, store.Events(view.info.id));
  const std::vector<Exchange> exchanges = ReadExchanges(events);
  const bool modelled = view.info.modelled;
  std::string body;
  body += fmt::format("<h1>{} on {}</h1>\n", EscapeMarkup(view.info.task), EscapeMarkup(JudgedOn(view)));
  if (modelled) {
    body +=
        "<p><span class=badge>modelled</span> This device is simulated: every time and speedup below is modelled, none "
        "is measured. Results were checked by execution.</p>\n";
  }
  body += KeyFigures(view) + ParagraphsHtml(BaselineText(view) + OutcomeText(view) + FormText(view));
  if (view.asked_again > 0)
    body +=
        fmt::format("<p>{} request{} had to be asked again.</p>\n", view.asked_again, view.asked_again == 1 ? "" : "s");
  body +=
      "<nav aria-label='sections'><a href='#nodes-chart'>node by node</a><a href='#shapes'>shapes</a><a "
      "href='#tree'>tree</a><a href='#attempts'>attempts</a>";
  if (!view.sweep.empty()) body += "<a href='#sweeps'>sweeps</a>";
  body += "<a href='#kernel'>kernel</a><a href='#run'>the run</a></nav>\n";
  body += "<h2 id=nodes-chart>Speedup, node by node</h2>\n" + AttemptChart(view);
  body += fmt::format("<h2 id=shapes>Every shape{}</h2>\n", modelled ? ", modelled" : "");
  if (view.final_result && !view.final_result->evaluation.cases.empty()) {
    const Evaluation& e = view.final_result->evaluation;
    body += SpeedupBars(e, StartName(view));
    if (const std::string table = ShapeTable(e, StartName(view)); !table.empty())
      body += "<details><summary>The same in numbers</summary>" + table + "</details>\n";
    body += LibraryTable(e);
  } else if (view.node(view.best).evaluation) {
    body +=
        fmt::format("<p class=soft>Times of {}.</p>\n",
                    view.best == 0 ? EscapeMarkup(StartName(view))
                                   : "the best so far; it has not been paired with " + EscapeMarkup(StartName(view)));
    const RunNode& best = view.node(view.best);
    body += ShapeTable(*best.evaluation,
                       best.id == 0 ? StartName(view) : fmt::format("node {}", std::max<int64_t>(best.incumbent, 0)));
  }
  body += RooflineOfRun(store, view, events);
  if (const std::string tree = TreeChart(view); !tree.empty()) body += "<h2 id=tree>The tree</h2>\n" + tree;

  body += "<h2 id=attempts>Attempts</h2>\n" + NodeSection(store, view, links) + SweepSection(view);
  if (!view.cases.empty()) {
    std::string rows;
    for (const ProposedCase& c : view.cases) {
      std::string drawn = DimsText(c.dims);
      for (const auto& [name, values] : c.values) drawn += fmt::format(", {} {}", name, values);
      rows += fmt::format("<tr><td data-name=case>{}</td><td data-name=state>{}</td><td data-name=why>{}</td></tr>\n",
                          EscapeMarkup(drawn), EscapeMarkup(c.state),
                          EscapeMarkup(ClippedLine(c.detail.empty() ? c.reason : c.detail, 300)));
    }
    body += "<h2>Cases the tester proposed</h2>\n<table class=stack><tr><th>case</th><th></th><th>why</th></tr>\n" +
            rows + "</table>\n";
  }
  body += "<h2 id=kernel>The winning kernel</h2>\n";
  if (view.best != 0) {
    HONE_ASSIGN_OR_RETURN(std::string winner, store.Source(view.node(view.best).source_hash));
    body += fmt::format("<p class=soft>Node {}, with its difference to {}. SHA-256 <small>{}</small></p>\n", view.best,
                        EscapeMarkup(StartName(view)), view.node(view.best).source_hash.hex());
    body += HighlightedDiff(seed, winner);
    body += "<details><summary>The file alone</summary>" + HighlightedSource(winner) + "</details>\n";
  } else {
    body += fmt::format("<p>{}. This is the start:</p>\n", EscapeMarkup(FoundNothingText(view)));
    body += "<details><summary>" + std::string(view.from_module ? "The module" : view.from_oracle ? "The oracle&#39;s kernel" : "The seed") +
            "</summary>" + HighlightedSource(seed) + "</details>\n";
  }
  body += "<h2 id=run>The run</h2>\n";
  body += CostBars(SharesByRole(exchanges));
  body += "<dl>";
  const auto fact = [&](const char* name, const std::string& value) {
    body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, EscapeMarkup(value));
  };
  fact("run", view.info.id);
  fact("started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(view.info.started))));
  fact("ended", view.ended.empty() ? "still open" : fmt::format("{}: {}", view.ended, ReasonText(view)));
  fact("strategy", view.options.strategy);
  fact("model", view.options.model);
  fact("device", view.info.device);
  fact("time", fmt::format("{} in {} sitting(s)", DurationText(view.seconds), view.sittings));
  fact("evaluations", std::to_string(view.evaluations));
  if (!AsksNoModel(view)) {
    fact("requests", fmt::format("{}, {} asked again", view.requests, view.asked_again));
    fact("tokens", fmt::format("{} in, {} out{}", view.usage.input, view.usage.output,
                               view.usage.estimated ? " (estimated)" : ""));
    fact("cost", CostText(view.cost_usd, view.unpriced_replies) +
                     (view.unpriced_replies == 0 ? ""
                                                 : fmt::format("; what {} of {} replies cost is not known",
                                                               view.unpriced_replies, view.replies)));
  }
  fact("replies that could not be used", StructureText(CountStructure(view)) +
                                   ": edits that could not be put in place, or that broke the file's structure");
  if (const GroundingCount grounding = CountGrounding(view); grounding.any())
    fact("held to plans", GroundingText(grounding));
  const RepairCount repairs = CountRepairs(view);
  if (const std::string text = RepairText(repairs); !text.empty()) fact("right and repaired", text);
  if (const std::string text = RefusedText(repairs); !text.empty()) fact("replies refused and told why", text);
  fact("kept above", fmt::format("{:.1f} % surely faster", 100 * view.options.keep_above));
  body += "</dl>\n";
  if (!view.remarks.empty()) {
    body += fmt::format("<details><summary>{} note{} on requests</summary><pre class=text>{}</pre></details>\n",
                        view.remarks.size(), view.remarks.size() == 1 ? "" : "s", EscapeMarkup(RemarksText(view, 200)));
  }
  return body;
}

Result<std::string> HtmlReport(RunStore& store, const RunView& view) {
  HONE_ASSIGN_OR_RETURN(const std::string body, HtmlReportBody(store, view));
  return HtmlPage(view.info.task + " – " + view.info.id, body);
}

}  // namespace hone
