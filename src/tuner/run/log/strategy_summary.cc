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

RunOutcome OutcomeOf(const RunView& view) {
  RunOutcome o;
  o.run = view.info.id;
  o.task = view.info.task;
  o.strategy = view.options.strategy;
  o.model = view.options.model;
  o.device = view.info.device;
  o.ended = view.ended;
  o.over = IsOver(view);
  o.waiting = IsWaiting(view);
  o.modelled = view.info.modelled;
  o.attempts = view.attempts;
  o.requests = view.requests;
  o.evaluations = view.evaluations;
  o.tokens = view.usage.input + view.usage.output;
  o.cost_usd = view.cost_usd;
  o.unpriced = view.unpriced_replies;
  o.structure = CountStructure(view);
  o.repairs = CountRepairs(view);
  o.from_oracle = view.from_oracle;
  o.seconds = view.seconds;
  for (const Memo& memo : view.memos) o.repaired += memo.kind == "problem";
  for (const RunNode& node : view.nodes) {
    o.unusable += node.origin == "reply" && node.state == NodeState::kUnusable && node.problem != "no_more_ideas";
    o.compile_errors += node.evaluation && node.evaluation->verdict == Verdict::kCompileError;
    o.success = o.success || (node.id > 0 && node.evaluation && node.evaluation->verdict == Verdict::kOk && !node.rejected);
  }
  if (view.best == 0) return o;  // the seed is still the best: speedup 1
  if (view.final_result && view.final_result->node == view.best &&
      view.final_result->evaluation.verdict == Verdict::kOk) {
    if (const std::optional<Interval> gain = GeomeanGain(view.final_result->evaluation.cases)) {
      o.paired = true;
      o.speedup = gain->median;
      o.faster = gain->low > 1;
      return o;
    }
  }
  o.speedup = view.node(view.best).speedup.value_or(1);
  o.faster = o.speedup > 1;
  return o;
}

std::vector<StrategySummary> SummarizeByStrategy(const std::vector<RunOutcome>& outcomes) {
  std::vector<StrategySummary> rows;
  std::vector<std::vector<double>> speedups;  // for each row, those of its runs that do not wait
  for (const RunOutcome& o : outcomes) {
    size_t i = 0;
    while (i < rows.size() && rows[i].strategy != o.strategy) ++i;
    if (i == rows.size()) {
      rows.push_back({});
      rows.back().strategy = o.strategy;
      speedups.emplace_back();
    }
    StrategySummary& row = rows[i];
    ++row.runs;
    row.waiting += o.waiting;
    row.unfinished += !o.over && !o.waiting;
    // The shares are counts until the loop below divides them.
    row.faster_share += !o.waiting && o.faster;
    row.success_share += !o.waiting && o.success;
    row.cost_usd += o.cost_usd;
    row.unpriced += o.unpriced;
    row.structure += o.structure;
    row.repairs += o.repairs;
    row.seconds += o.seconds;
    row.attempts += o.attempts;
    row.tokens += o.tokens;
    row.modelled = row.modelled || o.modelled;
    if (!o.waiting) speedups[i].push_back(o.speedup);
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
    const size_t half = speedups[i].size() / 2;
    rows[i].median = speedups[i].size() % 2 == 1 ? speedups[i][half] : (speedups[i][half - 1] + speedups[i][half]) / 2;
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
    const bool known = row.waiting < row.runs;
    const auto speedup = [&](double x) { return known ? fmt::format("{:.3f}x", x) : std::string("waiting"); };
    const auto percent = [&](double x) { return known ? fmt::format("{:.0f} %", 100 * x) : std::string("-"); };
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
  for (const RunOutcome& o : outcomes) {
    add_name(strategies, o.strategy);
    add_name(tasks, o.task);
    cells[{o.task, o.strategy}] = &o;
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
  if (std::any_of(outcomes.begin(), outcomes.end(), [](const RunOutcome& o) { return o.success && !o.paired; })) {
    text += "~ the chain of kept steps, multiplied (1 where nothing was kept); not paired with the seed at the end.\n";
  }
  if (std::any_of(outcomes.begin(), outcomes.end(), [](const RunOutcome& o) { return !o.over && !o.waiting; })) {
    text += "+ the run is not over: this is what it has so far.\n";
  }
  std::string seedless;
  for (const std::string& task : tasks) {
    const bool is_seedless = std::any_of(outcomes.begin(), outcomes.end(),
                                 [&](const RunOutcome& o) { return o.task == task && o.from_oracle; });
    if (is_seedless) seedless += (seedless.empty() ? "" : ", ") + task;
  }
  if (!seedless.empty()) {
    text += fmt::format("Without a seed ({}): speedups are over the oracle made into a kernel, which is slow.\n", seedless);
  }
  return text;
}

std::string SummaryToJson(const std::vector<StrategySummary>& rows, const std::vector<RunOutcome>& outcomes) {
  nlohmann::json json = {{"strategies", nlohmann::json::array()}, {"runs", nlohmann::json::array()}};
  for (const StrategySummary& r : rows) {
    // null while all of the strategy's runs wait
    const auto known = [&](double x) { return r.waiting < r.runs ? nlohmann::json(x) : nlohmann::json(); };
    json["strategies"].push_back({{"strategy", r.strategy},
                                  {"geomean", known(r.geomean)},
                                  {"median", known(r.median)},
                                  {"faster_share", known(r.faster_share)},
                                  {"success_share", known(r.success_share)},
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
  for (const RunOutcome& o : outcomes) {
    json["runs"].push_back({{"run", o.run},
                            {"task", o.task},
                            {"strategy", o.strategy},
                            {"model", o.model},
                            {"device", o.device},
                            {"ended", o.ended},
                            {"over", o.over},
                            {"waiting", o.waiting},
                            {"modelled", o.modelled},
                            {"success", o.success},
                            {"faster", o.faster},
                            {"paired", o.paired},
                            {"baseline", o.from_oracle ? "oracle" : "seed"},
                            {"speedup", o.waiting ? nlohmann::json() : nlohmann::json(o.speedup)},
                            {"attempts", o.attempts},
                            {"requests", o.requests},
                            {"evaluations", o.evaluations},
                            {"tokens", o.tokens},
                            {"repaired", o.repaired},
                            {"unusable", o.unusable},
                            {"compile_errors", o.compile_errors},
                            {"cost_usd", o.cost_usd},
                            {"cost_known", o.unpriced == 0},
                            {"code_replies", o.structure.replies},
                            {"edits_not_applied", o.structure.not_applied},
                            {"structural_compile_errors", o.structure.broken},
                            {"judged", o.repairs.judged},
                            {"right", o.repairs.right},
                            {"failures", o.repairs.failures},
                            {"failures_repaired", o.repairs.repaired},
                            {"seconds", o.seconds}});
  }
  return DumpJson(json, 2);
}

}  // namespace hone
