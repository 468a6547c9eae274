// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/strategy_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "tuner/run/log/cost_text.h"
#include "tuner/run/log/gain.h"
#include "tuner/run/log/run_standing.h"

namespace hone {
namespace {

// Returns a line that names the tasks without a seed whose speedups are over `baseline`: those that start from a PyTorch module, or
// those that do not. "" if there are none.
std::string SeedlessNote(const std::vector<std::string>& tasks, const std::vector<RunOutcome>& outcomes, bool from_module,
                         std::string_view baseline) {
  std::string seedless;
  for (const std::string& task : tasks) {
    const bool is_seedless = std::any_of(outcomes.begin(), outcomes.end(), [&](const RunOutcome& outcome) {
      return outcome.task == task && outcome.from_oracle && outcome.from_module == from_module;
    });
    if (is_seedless) seedless += (seedless.empty() ? "" : ", ") + task;
  }
  return seedless.empty() ? "" : fmt::format("Without a seed ({}): speedups are over {}.\n", seedless, baseline);
}

}  // namespace

RunOutcome OutcomeOf(const RunView& view) {
  RunOutcome outcome;
  static_cast<RunTotals&>(outcome) = TotalsOf(view);
  outcome.run = view.info.id;
  outcome.task = view.info.task;
  outcome.strategy = view.options.strategy;
  outcome.model = view.options.model;
  outcome.device = view.info.device;
  outcome.ended = view.ended;
  outcome.over = IsOver(view);
  outcome.waiting = IsWaiting(view);
  outcome.modelled = view.info.modelled;
  for (const Memo& memo : view.memos) outcome.repaired += memo.kind == "problem";
  for (const RunNode& node : view.nodes) {
    outcome.unusable += node.origin == "reply" && node.state == NodeState::kUnusable && node.problem != "no_more_ideas";
    outcome.compile_errors += node.evaluation && node.evaluation->verdict == Verdict::kCompileError;
    outcome.success = outcome.success ||
                      (node.id > 0 && node.evaluation && node.evaluation->verdict == Verdict::kOk && !node.rejected);
  }
  if (view.best == 0) return outcome;  // the seed is still the best: speedup 1
  if (view.final_result && view.final_result->node == view.best &&
      view.final_result->evaluation.verdict == Verdict::kOk) {
    if (const std::optional<Interval> gain = GeomeanGain(view.final_result->evaluation.cases)) {
      outcome.paired = true;
      outcome.speedup = gain->median;
      outcome.faster = gain->low > 1;
      return outcome;
    }
  }
  outcome.speedup = view.node(view.best).speedup.value_or(1);
  outcome.faster = outcome.speedup > 1;
  return outcome;
}

std::vector<StrategySummary> SummarizeByStrategy(const std::vector<RunOutcome>& outcomes) {
  std::vector<StrategySummary> rows;
  std::vector<std::vector<double>> speedups;  // for each row, those of its runs that do not wait
  for (const RunOutcome& outcome : outcomes) {
    size_t i = 0;
    while (i < rows.size() && rows[i].strategy != outcome.strategy) ++i;
    if (i == rows.size()) {
      rows.push_back({});
      rows.back().strategy = outcome.strategy;
      speedups.emplace_back();
    }
    StrategySummary& row = rows[i];
    ++row.runs;
    row.waiting += outcome.waiting;
    row.unfinished += !outcome.over && !outcome.waiting;
    // The shares are counts until the loop below divides them.
    row.faster_share += !outcome.waiting && outcome.faster;
    row.success_share += !outcome.waiting && outcome.success;
    row.cost_usd += outcome.cost_usd;
    row.unpriced += outcome.unpriced;
    row.structure += outcome.structure;
    row.repairs += outcome.repairs;
    row.seconds += outcome.seconds;
    row.attempts += outcome.attempts;
    row.tokens += outcome.tokens;
    row.modelled = row.modelled || outcome.modelled;
    if (!outcome.waiting) speedups[i].push_back(outcome.speedup);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (speedups[i].empty()) continue;
    const auto count = static_cast<double>(speedups[i].size());
    rows[i].faster_share /= count;
    rows[i].success_share /= count;
    double sum = 0;
    for (const double s : speedups[i]) sum += std::log(s);
    rows[i].geomean = std::exp(sum / count);
    std::sort(speedups[i].begin(), speedups[i].end());
    const size_t middle = speedups[i].size() / 2;
    rows[i].median =
        speedups[i].size() % 2 == 1 ? speedups[i][middle] : (speedups[i][middle - 1] + speedups[i][middle]) / 2;
  }
  return rows;
}

std::string SummaryTable(const std::vector<StrategySummary>& rows) {
  std::string text = fmt::format("{:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:>12} {:>9}\n", "strategy",
                                 "geomean", "median", "faster", "right", "repaired", "broken", "runs", "attempts", "tokens", "cost");
  bool modelled = false;
  int64_t runs = 0, waiting = 0, unfinished = 0;
  for (const StrategySummary& row : rows) {
    modelled = modelled || row.modelled;
    runs += row.runs;
    waiting += row.waiting;
    unfinished += row.unfinished;
    const bool has_results = row.waiting < row.runs;
    const auto speedup = [&](double x) { return has_results ? fmt::format("{:.3f}x", x) : std::string("waiting"); };
    const auto percent = [&](double x) { return has_results ? fmt::format("{:.0f} %", 100 * x) : std::string("-"); };
    text += fmt::format(
        "{:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6.1f} % {:>6} {:>9} {:>12} {:>9}\n", row.strategy,
        speedup(row.geomean), speedup(row.median), percent(row.faster_share), percent(row.success_share),
        row.repairs.failures == 0 ? std::string("-") : fmt::format("{}/{}", row.repairs.repaired, row.repairs.failures),
        100 * row.structure.rate(),
        row.waiting > 0 ? fmt::format("{}/{}", row.runs - row.waiting, row.runs) : std::to_string(row.runs),
        row.attempts, row.tokens, CostText(row.cost_usd, row.unpriced));
  }
  if (waiting > 0) {
    text += fmt::format(
        "{} of {} runs wait: no version of their attempts was judged yet, and geomean, median, faster and right leave them out.\n",
        waiting, runs);
  }
  if (unfinished > 0) {
    text += fmt::format("{} of {} runs are not over: they count with what they have so far.\n", unfinished, runs);
  }
  text += "right: runs with a right version of their own; repaired: failed versions from which a right one was made.\n";
  text += "broken: the share of replies whose edit could not be put in place or broke the file's structure.\n";
  if (modelled) text += "Times are modelled, not measured.\n";
  return text;
}

std::string OutcomesTable(const std::vector<RunOutcome>& outcomes) {
  std::vector<std::string> strategies, tasks;
  std::map<std::pair<std::string, std::string>, const RunOutcome*> cells;
  const auto add_name = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const RunOutcome& outcome : outcomes) {
    add_name(strategies, outcome.strategy);
    add_name(tasks, outcome.task);
    cells[{outcome.task, outcome.strategy}] = &outcome;
  }
  std::string text = fmt::format("{:<22}", "task");
  for (const std::string& strategy : strategies) text += fmt::format(" {:>12}", strategy);
  text += "\n";
  for (const std::string& task : tasks) {
    text += fmt::format("{:<22}", task);
    for (const std::string& strategy : strategies) {
      const auto cell = cells.find({task, strategy});
      text += fmt::format(" {:>12}", cell == cells.end()     ? "-"
                                     : cell->second->waiting ? "waiting"
                                     : cell->second->success
                                         ? fmt::format("{:.3f}x{}{}", cell->second->speedup,
                                                       cell->second->paired ? "" : "~", cell->second->over ? "" : "+")
                                     : cell->second->ended == "floor_reached" ? "at floor"
                                     : cell->second->over                     ? "nothing"
                                                                              : "nothing+");
    }
    text += "\n";
  }
  if (std::any_of(outcomes.begin(), outcomes.end(),
                  [](const RunOutcome& outcome) { return outcome.success && !outcome.paired; })) {
    text += "~ the chain of kept steps, multiplied (1 where nothing was kept); not paired with the seed at the end.\n";
  }
  if (std::any_of(outcomes.begin(), outcomes.end(),
                  [](const RunOutcome& outcome) { return !outcome.over && !outcome.waiting; })) {
    text += "+ the run is not over: this is what it has so far.\n";
  }
  text += SeedlessNote(tasks, outcomes, /*from_module=*/true, "the PyTorch module in eager mode");
  text += SeedlessNote(tasks, outcomes, /*from_module=*/false, "the oracle made into a kernel, which is slow");
  return text;
}

std::string SummaryToJson(const std::vector<StrategySummary>& rows, const std::vector<RunOutcome>& outcomes) {
  nlohmann::json json = {{"strategies", nlohmann::json::array()}, {"runs", nlohmann::json::array()}};
  for (const StrategySummary& r : rows) {
    // null while all of the strategy's runs wait
    const auto number_or_null = [&](double x) { return r.waiting < r.runs ? nlohmann::json(x) : nlohmann::json(); };
    json["strategies"].push_back({{"strategy", r.strategy},
                                  {"geomean", number_or_null(r.geomean)},
                                  {"median", number_or_null(r.median)},
                                  {"faster_share", number_or_null(r.faster_share)},
                                  {"success_share", number_or_null(r.success_share)},
                                  {"runs", r.runs},
                                  {"waiting", r.waiting},
                                  {"unfinished", r.unfinished},
                                  {"attempts", r.attempts},
                                  {"tokens", r.tokens},
                                  {"cost_usd", r.cost_usd},
                                  {"cost_known", r.unpriced == 0},
                                  {"structural_error_rate", r.structure.rate()},
                                  {"judged", r.repairs.judged},
                                  {"right", r.repairs.right},
                                  {"failures", r.repairs.failures},
                                  {"failures_repaired", r.repairs.repaired},
                                  {"seconds", r.seconds},
                                  {"modelled", r.modelled}});
  }
  for (const RunOutcome& outcome : outcomes) {
    json["runs"].push_back({{"run", outcome.run},
                            {"task", outcome.task},
                            {"strategy", outcome.strategy},
                            {"model", outcome.model},
                            {"device", outcome.device},
                            {"ended", outcome.ended},
                            {"over", outcome.over},
                            {"waiting", outcome.waiting},
                            {"modelled", outcome.modelled},
                            {"success", outcome.success},
                            {"faster", outcome.faster},
                            {"paired", outcome.paired},
                            {"baseline", outcome.from_module ? "module" : outcome.from_oracle ? "oracle" : "seed"},
                            {"speedup", outcome.waiting ? nlohmann::json() : nlohmann::json(outcome.speedup)},
                            {"attempts", outcome.attempts},
                            {"requests", outcome.requests},
                            {"evaluations", outcome.evaluations},
                            {"tokens", outcome.tokens},
                            {"repaired", outcome.repaired},
                            {"unusable", outcome.unusable},
                            {"compile_errors", outcome.compile_errors},
                            {"cost_usd", outcome.cost_usd},
                            {"cost_known", outcome.unpriced == 0},
                            {"code_replies", outcome.structure.replies},
                            {"edits_not_applied", outcome.structure.not_applied},
                            {"structural_compile_errors", outcome.structure.broken},
                            {"judged", outcome.repairs.judged},
                            {"right", outcome.repairs.right},
                            {"failures", outcome.repairs.failures},
                            {"failures_repaired", outcome.repairs.repaired},
                            {"seconds", outcome.seconds}});
  }
  return DumpJson(json, 2);
}

}  // namespace hone
