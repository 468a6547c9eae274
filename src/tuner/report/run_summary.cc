// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/run_summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text/json_text.h"
#include "base/text/markup.h"
#include "tuner/report/charts.h"
#include "tuner/report/page.h"
#include "tuner/report/run_text.h"
#include "tuner/report/spend.h"
#include "tuner/report/terminal_rows.h"
#include "tuner/run/log/cost_text.h"
#include "tuner/run/log/events.h"
#include "tuner/run/log/fold.h"
#include "tuner/run/log/gain.h"
#include "tuner/run/log/run_standing.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOracleNote =
    "* the task has no seed: the speedup is over its oracle made into a kernel, which is slow, or over its PyTorch module in eager mode.";

// Returns a model's name for comparisons: "planner=mailbox:mail/a" becomes "planner=mailbox".
std::string ComparedModel(const std::string& model) {
  constexpr std::string_view kMailbox = "mailbox:";
  std::string text;
  for (size_t start = 0; start <= model.size();) {
    const size_t end = std::min(model.find('\n', start), model.size());
    std::string_view one = std::string_view(model).substr(start, end - start);
    if (const size_t at = one.find(kMailbox); at == 0 || (at != std::string_view::npos && one[at - 1] == '=')) {
      one = one.substr(0, at + kMailbox.size() - 1);
    }
    text += fmt::format("{}{}", start == 0 ? "" : "\n", one);
    start = end + 1;
  }
  return text;
}

// Returns for each run of a comparison the name of the row to which it belongs.
std::vector<std::string> RowNames(const std::vector<RunSummary>& runs) {
  std::map<std::string, std::set<std::string>> models;
  for (const RunSummary& summary : runs) models[summary.info.strategy].insert(ComparedModel(summary.info.model));
  std::vector<std::string> names;
  for (const RunSummary& summary : runs) {
    names.push_back(models[summary.info.strategy].size() > 1
                        ? summary.info.strategy + ", " + ComparedModel(summary.info.model)
                        : summary.info.strategy);
  }
  return names;
}

// Returns the rows' names without the folders of commands: "sample, exec:python propose.py". Rows whose short names
// would be equal keep their long ones.
std::vector<std::string> ShortNames(const std::vector<StrategyRow>& rows) {
  std::vector<std::string> names;
  for (const StrategyRow& row : rows) {
    std::string name = row.name;
    if (name.find("exec:") != std::string::npos) {
      for (size_t slash; (slash = name.find('/')) != std::string::npos;) {
        const size_t start = name.find_last_of(" :=", slash);
        const size_t from = start == std::string::npos ? 0 : start + 1;
        name.erase(from, slash - from + 1);
      }
    }
    names.push_back(name);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) names[i] = rows[i].name;
    }
  }
  return names;
}

// Takes speedup, interval and device from the final evaluation.
void TakeFinal(RunSummary& summary, const Evaluation& e) {
  summary.judged_by = e.device;
  if (e.verdict != Verdict::kOk) return;
  summary.proven = true;
  summary.speedup = e.geomean_speedup.value_or(1.0);
  const std::optional<Interval> gain = GeomeanGain(e.cases);
  if (gain && !e.modelled) summary.interval = gain;
  summary.faster = e.modelled ? *summary.speedup > 1 : gain && gain->low > 1;
}

// Summarizes an ended run from its events, without computing its view, and parses only the evaluations that are needed.
// nullopt: that is not possible.
std::optional<RunSummary> FromEvents(const RunInfo& info, const std::vector<Event>& events) {
  RunSummary summary;
  summary.info = info;
  summary.state = info.state;
  std::map<int64_t, std::string> ideas;
  const Event* final_event = nullptr;
  std::set<int64_t> of_sweeps;  // nodes that are not attempts
  // A process that was killed has left no end event. It is taken to have run until its last event, as in RunFold.
  double before = 0, start = 0;
  for (const Event& e : events) {
    if (e.kind == EventKind::kStarted || e.kind == EventKind::kResumed) {
      before = summary.seconds;
      start = e.time;
    }
    summary.seconds = before + std::max(0.0, e.time - start);
    if (e.kind == EventKind::kFinal) final_event = &e;
    if (!e.evaluation.empty() && e.kind != EventKind::kProfile) ++summary.evaluations;
    if (e.kind == EventKind::kStarted) {
      const std::optional<RunStarted> started = DecodeAs<RunStarted>(e);
      summary.from_oracle = started && started->from_oracle;
      summary.from_module = started && started->from_module;
    }
    if (e.kind == EventKind::kEvaluation && e.node > 0 && of_sweeps.count(e.node) == 0 &&
        e.evaluation.find("\"verdict\":\"ok\"") != std::string::npos)
      ++summary.right;
    if (e.kind == EventKind::kProposal) {
      const std::optional<NodeProposed> proposed = DecodeAs<NodeProposed>(e);
      if (!proposed) return std::nullopt;
      const bool swept = proposed->origin == "sweep";
      if (swept) of_sweeps.insert(e.node);
      if (!swept && !proposed->exhausted) ++summary.attempts;
      ideas[e.node] = proposed->idea.value_or("");
    }
  }
  // Without a final evaluation, the result is an estimate, which needs the whole view.
  if (final_event == nullptr) return std::nullopt;
  const Result<Evaluation> evaluation = EvaluationFromJson(final_event->evaluation);
  if (!evaluation.ok() || evaluation->verdict != Verdict::kOk) return std::nullopt;
  TakeFinal(summary, *evaluation);
  summary.best_idea = final_event->node == 0 ? "" : ideas[final_event->node];
  for (const Exchange& e : ReadExchanges(events)) {
    ++summary.requests;
    summary.tokens += e.input_tokens + e.output_tokens;
    summary.cost_usd += e.cost_usd;
    summary.unpriced += !e.cost_known;
  }
  return summary;
}

std::string SpeedupCell(const RunSummary& summary) {
  if (summary.waiting) return "waiting";
  if (!summary.speedup) return "–";
  return fmt::format("{:.3f}x{}{}", *summary.speedup, summary.proven ? "" : "~", summary.from_oracle ? "*" : "");
}

}  // namespace

RunSummary Summarize(const RunView& view) {
  RunSummary summary;
  static_cast<RunTotals&>(summary) = TotalsOf(view);
  summary.info = view.info;
  summary.state = view.ended.empty() ? "open" : view.ended;
  summary.right = Tally(view).right;
  summary.waiting = IsWaiting(view);
  if (view.nodes.empty() || view.seed_broken || summary.waiting) return summary;
  summary.best_idea = view.best == 0 ? "" : view.node(view.best).idea;
  summary.speedup = view.best == 0 ? 1.0 : view.node(view.best).speedup.value_or(1.0);
  if (view.best != 0 && view.final_result && view.final_result->node == view.best)
    TakeFinal(summary, view.final_result->evaluation);
  if (view.best == 0 && !view.ended.empty()) summary.proven = true;  // the best is the seed, whose speedup is 1
  return summary;
}

Result<std::vector<RunSummary>> SummarizeRuns(RunStore& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<RunInfo> infos, store.Runs());
  std::vector<RunSummary> runs;
  for (const RunInfo& info : infos) {
    RunSummary unknown;
    unknown.info = info;
    unknown.state = info.state;
    unknown.known = false;
    const Result<std::vector<Event>> events = store.Events(info.id);
    if (!events.ok()) {
      runs.push_back(unknown);
      continue;
    }
    if (std::optional<RunSummary> quick = FromEvents(info, *events)) {
      runs.push_back(std::move(*quick));
      continue;
    }
    RunFold fold(info);
    Status status;
    for (const Event& event : *events) {
      status = fold.Apply(event);
      if (!status.ok()) break;
    }
    if (!status.ok()) {
      runs.push_back(unknown);
      continue;
    }
    RunSummary summary = Summarize(fold.view());
    summary.info = info;
    runs.push_back(std::move(summary));
  }
  return runs;
}

std::string RunsTable(const std::vector<RunSummary>& runs, int columns) {
  if (runs.empty()) return "No runs yet: `hone optimize TASK` makes one.\n";
  const bool narrow = columns != 0 && columns < 160;
  std::string text = narrow ? ""
                            : fmt::format("{:<22} {:<17} {:<18} {:<9} {:<16} {:<8} {:>8} {:>9} {:>9} {:>8}  {}\n",
                                          "run", "started (UTC)", "task", "strategy", "model", "device", "attempts",
                                          "best", "spent", "time", "state");
  bool modelled = false, estimated = false, from_oracle = false;
  for (const RunSummary& summary : runs) {
    modelled = modelled || summary.info.modelled;
    estimated = estimated || (summary.speedup && !summary.proven);
    from_oracle = from_oracle || (summary.speedup && summary.from_oracle);
    if (narrow) {
      text += FlowPieces({summary.info.id, summary.info.task, summary.info.strategy}, 0, columns);
      text += FlowPieces(
          {summary.speedup ? "best " + SpeedupCell(summary) : "",
           summary.known ? fmt::format("{} attempts", summary.attempts) : "",
           summary.cost_usd > 0 || summary.unpriced > 0 ? "cost " + CostText(summary.cost_usd, summary.unpriced) : "",
           "in " + DurationText(summary.seconds), summary.known ? summary.state : "cannot be read",
           "on " + summary.info.device,
           fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(summary.info.started))),
           summary.info.model},
          4, columns);
      continue;
    }
    text += fmt::format(
        "{:<22} {:%Y-%m-%d %H:%M}  {:<18} {:<9} {:<16} {:<8} {:>8} {:>9} {:>9} {:>8}  {}\n", summary.info.id,
        fmt::gmtime(static_cast<std::time_t>(summary.info.started)), ClippedLine(summary.info.task, 18),
        summary.info.strategy, ClippedLine(summary.info.model, 16), ClippedLine(summary.info.device, 8),
        summary.known ? std::to_string(summary.attempts) : "?", SpeedupCell(summary),
        summary.cost_usd > 0 || summary.unpriced > 0 ? CostText(summary.cost_usd, summary.unpriced) : "–",
        DurationText(summary.seconds),
        summary.known ? summary.state : "cannot be read: hone show " + summary.info.id + " says why");
  }
  if (estimated) text += "~ estimated along the chain of kept steps; not paired with what the run began with.\n";
  if (from_oracle) text += std::string(kOracleNote) + "\n";
  if (modelled) text += "Speedups on simulated devices (sim) are modelled, not measured.\n";
  return text;
}

std::string RunSummaryToJson(const std::vector<RunSummary>& runs, int indent) {
  Json list = Json::array();
  for (const RunSummary& summary : runs) {
    Json one = {{"run", summary.info.id},
                {"task", summary.info.task},
                {"device", summary.info.device},
                {"modelled", summary.info.modelled},
                {"strategy", summary.info.strategy},
                {"model", summary.info.model},
                {"started", summary.info.started},
                {"events", summary.info.events},
                {"state", summary.state},
                {"readable", summary.known},
                {"waiting", summary.waiting},
                {"attempts", summary.attempts},
                {"right", summary.right},
                {"evaluations", summary.evaluations},
                {"requests", summary.requests},
                {"tokens", summary.tokens},
                {"cost_usd", summary.cost_usd},
                {"cost_known", summary.unpriced == 0},
                {"seconds", summary.seconds},
                {"proven", summary.proven},
                {"baseline", summary.from_module ? "module" : summary.from_oracle ? "oracle" : "seed"},
                {"surely_faster", summary.faster},
                {"best_idea", summary.best_idea}};
    one["speedup"] = summary.speedup ? Json(*summary.speedup) : Json();
    if (summary.interval) one["ci95"] = {summary.interval->low, summary.interval->high};
    list.push_back(std::move(one));
  }
  return DumpJson(list, indent);
}

RunComparison CompareRuns(std::vector<RunSummary> runs) {
  RunComparison c;
  c.runs = std::move(runs);
  std::set<std::string> devices, tasks;
  for (const RunSummary& summary : c.runs) {
    // Runs through a spool are compared by the GPU behind it.
    devices.insert(summary.info.device.starts_with("spool:") && !summary.judged_by.empty() ? summary.judged_by
                                                                                           : summary.info.device);
    tasks.insert(summary.info.task);
  }
  std::map<std::string, std::vector<const RunSummary*>> groups;
  const std::vector<std::string> names = RowNames(c.runs);
  for (size_t i = 0; i < c.runs.size(); ++i) groups[names[i]].push_back(&c.runs[i]);
  std::set<int64_t> attempts;
  for (const auto& [name, members] : groups) {
    StrategyRow row;
    row.name = name;
    std::vector<double> speedups;
    std::set<std::string> own;
    for (const RunSummary* summary : members) {
      ++row.runs;
      row.waiting += summary->waiting;
      row.successes += summary->right > 0;
      row.faster += summary->faster;
      row.attempts += summary->attempts;
      row.right += summary->right;
      row.tokens += summary->tokens;
      row.cost_usd += summary->cost_usd;
      row.unpriced += summary->unpriced;
      row.structure += summary->structure;
      row.repairs += summary->repairs;
      row.seconds += summary->seconds;
      row.modelled = row.modelled || summary->info.modelled;
      if (summary->speedup) speedups.push_back(*summary->speedup);
      own.insert(summary->info.task);
      attempts.insert(summary->attempts);
    }
    if (!speedups.empty()) {
      double logs = 0;
      for (const double v : speedups) logs += std::log(v);
      row.geomean = std::exp(logs / static_cast<double>(speedups.size()));
      std::sort(speedups.begin(), speedups.end());
      const size_t middle = speedups.size() / 2;
      row.median = speedups.size() % 2 == 1 ? speedups[middle] : (speedups[middle - 1] + speedups[middle]) / 2;
    }
    if (own != tasks && groups.size() > 1) {
      std::string missing;
      for (const std::string& t : tasks) {
        if (own.count(t) == 0) missing += (missing.empty() ? "" : ", ") + t;
      }
      c.warnings.push_back(fmt::format("{} was not run on {}: its means are over other tasks", name, missing));
    }
    c.rows.push_back(row);
  }
  std::stable_sort(c.rows.begin(), c.rows.end(),
                   [](const StrategyRow& a, const StrategyRow& b) { return a.geomean > b.geomean; });
  if (devices.size() > 1)
    c.warnings.push_back(fmt::format("the runs come from different devices ({})", fmt::join(devices, ", ")));
  if (attempts.size() > 1) c.warnings.push_back("the runs had different numbers of attempts: compare cost as well");
  for (const RunSummary& summary : c.runs) {
    if (summary.speedup && !summary.proven)
      c.warnings.push_back(
          fmt::format("run {} has no final pairing with its seed: its speedup is an estimate", summary.info.id));
    if (summary.from_oracle) {
      c.warnings.push_back(fmt::format(
          "{} has no seed: the speedup of run {} is over {}", summary.info.task, summary.info.id,
          summary.from_module ? "the task's PyTorch module in eager mode" : "the task's oracle made into a kernel, which is slow"));
    }
    if (summary.waiting) {
      c.warnings.push_back(
          fmt::format("run {} waits ({}): no version of its attempts was judged yet, and it is left out of success, faster, "
                      "geomean and median",
                      summary.info.id, summary.state));
    } else if (summary.state == "open" || summary.state == "interrupted" || summary.state == "suspended")
      c.warnings.push_back(fmt::format("run {} is not finished ({})", summary.info.id, summary.state));
  }
  return c;
}

namespace {

int CountedRuns(const StrategyRow& row) { return row.runs - row.waiting; }

// Returns "66.7%", a share of the runs that do not wait; "-": all of them wait. `sign` follows the number.
std::string ShareCell(int count, const StrategyRow& row, std::string_view sign) {
  return CountedRuns(row) == 0 ? std::string("-") : fmt::format("{:.1f}{}", 100.0 * count / CountedRuns(row), sign);
}

// Returns "1.817x"; "waiting": all of the row's runs wait. `times` is the sign after the number.
std::string MeanCell(double speedup, const StrategyRow& row, std::string_view times) {
  return CountedRuns(row) == 0 ? std::string("waiting") : fmt::format("{:.3f}{}", speedup, times);
}

// Returns the number of runs, or "2/3" if two of them have a result and one waits.
std::string RunsCell(const StrategyRow& row) {
  return row.waiting == 0 ? std::to_string(row.runs) : fmt::format("{}/{}", CountedRuns(row), row.runs);
}

}  // namespace

std::string RepairedCell(const RepairCount& count) {
  return count.failures == 0 ? std::string("-") : fmt::format("{} of {}", count.repaired, count.failures);
}

std::string ComparisonText(const RunComparison& c) {
  size_t width = 10;
  const std::vector<std::string> shown = ShortNames(c.rows);
  for (const std::string& name : shown) width = std::max(width, name.size());
  std::string text =
      fmt::format("{:<{}} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>10} {:>9} {:>8}\n", "strategy", width,
                  "runs", "success", "faster", "geomean", "median", "attempts", "repaired", "broken", "tokens", "cost", "time");
  bool modelled = false;
  for (size_t i = 0; i < c.rows.size(); ++i) {
    const StrategyRow& r = c.rows[i];
    modelled = modelled || r.modelled;
    text +=
        fmt::format("{:<{}} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7.1f}% {:>10} {:>9} {:>8}\n", shown[i], width,
                    RunsCell(r), ShareCell(r.successes, r, "%"), ShareCell(r.faster, r, "%"), MeanCell(r.geomean, r, "x"),
                    MeanCell(r.median, r, "x"), r.attempts, RepairedCell(r.repairs), 100 * r.structure.rate(),
                    TokensText(r.tokens), CostText(r.cost_usd, r.unpriced), DurationText(r.seconds));
  }
  // Collects one line per task, with one column per row of the table above.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> cells;
  const std::vector<std::string> names = RowNames(c.runs);
  for (size_t i = 0; i < c.runs.size(); ++i) cells[c.runs[i].info.task][names[i]].push_back(SpeedupCell(c.runs[i]));
  text += fmt::format("\n{:<24}", "task");
  for (const std::string& name : shown) text += fmt::format(" {:>14}", ClippedLine(name, 14));
  text += "\n";
  for (const auto& [task, row] : cells) {
    text += fmt::format("{:<24}", ClippedLine(task, 24));
    for (const StrategyRow& r : c.rows) {
      const auto found = row.find(r.name);
      text += fmt::format(" {:>14}", found == row.end() ? "" : fmt::format("{}", fmt::join(found->second, " ")));
    }
    text += "\n";
  }
  text +=
      "\nsuccess: a right candidate was found; faster: surely faster than what the run began with, the seed (*: the task has "
      "none, and its oracle's kernel stands in for it); a run that kept nothing counts as "
      "1; repaired: versions that were not right and from which a right one was made; broken: the share of replies whose edit could not be put in place or broke the file's structure.\n";
  if (modelled) text += "Speedups on simulated devices are modelled, not measured.\n";
  for (const std::string& w : c.warnings) text += "note: " + w + "\n";
  return text;
}

std::string ComparisonToJson(const RunComparison& c, int indent) {
  Json rows = Json::array();
  for (const StrategyRow& r : c.rows) {
    const auto number_or_null = [&](double x) { return CountedRuns(r) > 0 ? Json(x) : Json(); };
    rows.push_back({{"name", r.name},
                    {"runs", r.runs},
                    {"waiting", r.waiting},
                    {"success", number_or_null(static_cast<double>(r.successes) / CountedRuns(r))},
                    {"faster", number_or_null(static_cast<double>(r.faster) / CountedRuns(r))},
                    {"geomean", number_or_null(r.geomean)},
                    {"median", number_or_null(r.median)},
                    {"attempts", r.attempts},
                    {"right", r.right},
                    {"tokens", r.tokens},
                    {"cost_usd", r.cost_usd},
                    {"cost_known", r.unpriced == 0},
                    {"repairs",
                     {{"judged", r.repairs.judged},
                      {"right", r.repairs.right},
                      {"failures", r.repairs.failures},
                      {"repaired", r.repairs.repaired}}},
                    {"structure",
                     {{"replies", r.structure.replies},
                      {"not_applied", r.structure.not_applied},
                      {"broken", r.structure.broken},
                      {"rate", r.structure.rate()}}},
                    {"seconds", r.seconds},
                    {"modelled", r.modelled}});
  }
  const Json json = {{"strategies", rows}, {"runs", ReadJsonText(RunSummaryToJson(c.runs, -1))}, {"notes", c.warnings}};
  return DumpJson(json, indent);
}

std::string ComparisonHtml(const RunComparison& c) {
  double high = 1;
  bool modelled = false;
  for (const StrategyRow& r : c.rows) {
    high = std::max(high, r.geomean * 1.02);
    modelled = modelled || r.modelled;
  }
  std::string body = fmt::format("<h1>{} runs compared</h1>\n", c.runs.size());
  if (modelled)
    body +=
        "<p><span class=badge>modelled</span> Some of these ran on a simulated device: their speedups are modelled, "
        "none is measured.</p>\n";
  for (const std::string& w : c.warnings) body += "<p class=soft>Note: " + EscapeMarkup(w) + ".</p>\n";
  body += fmt::format(
      "<h2>Geometric mean of the speedups</h2>\n<figure><div class=bars style='--one:{:.2f}%'>\n",
      100 / high);
  for (const StrategyRow& r : c.rows) {
    if (CountedRuns(r) == 0) continue;
    body += fmt::format(
        "<div class=bar><span class=name>{}</span><span class=value>{:.3f}× <small>median {:.3f}×</small></span><span "
        "class=track><span class='fill{}' style='width:{:.2f}%'></span></span></div>\n",
        EscapeMarkup(r.name), r.geomean, r.median, BarClass(r.geomean, r.geomean), 100 * r.geomean / high);
  }
  const bool from_oracle =
      std::any_of(c.runs.begin(), c.runs.end(), [](const RunSummary& summary) { return summary.from_oracle; });
  const char* start = from_oracle ? "what each run began with: the seed, or the oracle’s kernel where a task has none" : "the seed";
  body += fmt::format(
      "</div><figcaption>The upright line is 1×, {}. A run that kept nothing counts as "
      "1×.</figcaption></figure>\n", start);
  body +=
      "<h2>Strategies</h2>\n<div class=scroll><table class=stack><tr><th>strategy</th><th class=number>runs</th><th "
      "class=number>success</th><th class=number>faster</th><th class=number>geomean</th>"
      "<th class=number>median</th><th class=number>attempts</th><th class=number>repaired</th><th class=number>broken</th><th class=number>tokens</th><th "
      "class=number>cost</th><th class=number>time</th></tr>\n";
  for (const StrategyRow& r : c.rows) {
    body += fmt::format(
        "<tr><td class=long><b>{}</b></td><td class=number data-name=runs>{}</td><td class=number "
        "data-name=success>{}"
        "</td><td class=number data-name=faster>{}</td>"
        "<td class=number data-name=geomean>{}</td><td class=number data-name=median>{}</td><td class=number "
        "data-name=attempts>{}</td><td class=number data-name=repaired>{}</td><td class=number data-name=broken>{:.1f} "
        "%</td><td class=number "
        "data-name=tokens>{}</td>"
        "<td class=number data-name=cost>{}</td><td class=number data-name=time>{}</td></tr>\n",
        EscapeMarkup(r.name), RunsCell(r), ShareCell(r.successes, r, " %"), ShareCell(r.faster, r, " %"),
        MeanCell(r.geomean, r, "×"), MeanCell(r.median, r, "×"), r.attempts, RepairedCell(r.repairs),
        100 * r.structure.rate(), TokensText(r.tokens), CostText(r.cost_usd, r.unpriced), DurationText(r.seconds));
  }
  body +=
      "</table></div>\n<h2>Runs</h2>\n<div class=scroll><table "
      "class=stack><tr><th>task</th><th>strategy</th><th>model</th><th class=number>speedup</th><th "
      "class=number>attempts</th><th class=number>right</th>"
      "<th class=number>cost</th><th>best idea</th></tr>\n";
  for (const RunSummary& summary : c.runs) {
    body += fmt::format(
        "<tr><td><b>{}</b><br><small>{}</small></td><td data-name=strategy>{}</td><td class=long "
        "data-name=model>{}</td><td class=number "
        "data-name=speedup>{}{}</td><td class=number data-name=attempts>{}</td>"
        "<td class=number data-name=right>{}</td><td class=number data-name=cost>{}</td><td class=idea "
        "data-name=idea>{}</td></tr>\n",
        EscapeMarkup(summary.info.task), EscapeMarkup(summary.info.id), EscapeMarkup(summary.info.strategy),
        EscapeMarkup(ComparedModel(summary.info.model)), SpeedupCell(summary),
        summary.interval
            ? fmt::format(" <small>[{:.3f}, {:.3f}]</small>", summary.interval->low, summary.interval->high)
            : "",
        summary.attempts, summary.right, CostText(summary.cost_usd, summary.unpriced), EscapeMarkup(summary.best_idea));
  }
  body +=
      "</table></div>\n<p class=soft>Success: at least one right candidate was found. Faster: surely, the lower end of "
      "the 95 % interval above 1. ~: estimated, not paired with what the run began with. *: over the oracle’s kernel, for a task without a seed. "
      "Repaired: versions that were not right and from which a right one was made. Broken: replies whose edit could not be put in place or broke the structure of the file.</p>\n";
  return HtmlPage("Hone: runs compared", body);
}

}  // namespace hone
