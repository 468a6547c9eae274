// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/tune_and_judge.h"

#include <fmt/format.h>

#include <set>

#include "base/clock.h"
#include "base/numbers/random.h"
#include "base/text/json_text.h"
#include "hone/tuner/run_store.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/workbench/evaluation_text.h"

namespace hone {
namespace {

nlohmann::json PointsJson(const TuneResult& result) {
  nlohmann::json points = nlohmann::json::array();
  for (const TunePoint& p : result.points) {
    nlohmann::json binding = nlohmann::json::object();
    for (const auto& [name, value] : p.binding) binding[name] = value;
    points.push_back({{"binding", binding}, {"evaluation", ReadJsonText(EvaluationToJson(p.evaluation, -1))}});
  }
  return points;
}

// Returns the key of this sweep in the database: everything on which its measurements depend.
TuningEntry EntryOf(const Task& task, const SweepRequest& request, const TuneOptions& options, const DeviceFacts& facts) {
  TuningEntry entry;
  entry.task = task.name;
  entry.task_text = TaskText(task);
  entry.candidate = request.source;
  entry.candidate_name = request.name;
  entry.incumbent = options.incumbent_source.empty() ? task.seed_source : options.incumbent_source;
  entry.incumbent_name = options.incumbent_source.empty() ? "the task's seed" : options.incumbent_name;
  entry.device = facts.name;
  entry.driver = facts.driver;
  entry.sm_count = facts.sm_count;
  entry.modelled = facts.modelled;
  entry.judge = facts.modelled ? fmt::format("hone {}", request.build) : fmt::format("gates {}", kGatesVersion);
  return entry;
}

}  // namespace

std::string PointTable(const TuneResult& result) {
  std::string text;
  bool header = false;
  for (size_t i = 0; i < result.points.size(); ++i) {
    const TunePoint& p = result.points[i];
    if (!header) {
      text += fmt::format("{:<34} {:<16} {:>9}", "binding", "verdict", "speedup");
      for (const auto& [dims, winner] : result.winners) text += fmt::format("  {:>24}", DimsText(dims));
      text += "\n";
      header = true;
    }
    text += fmt::format("{:<34} {:<16} {:>9}", BindingKey(p.binding), VerdictName(p.evaluation.verdict),
                        p.gain ? fmt::format("{:.3f}x", p.gain->median) : "");
    for (const auto& [dims, winner] : result.winners) {
      std::string cell;
      for (const CaseResult& c : p.evaluation.cases) {
        if (c.dims == dims && c.speedup) cell = fmt::format("{:.3f}x{}", c.speedup->median, winner == i ? " *" : "  ");
      }
      text += fmt::format("  {:>24}", cell);
    }
    if (result.best == i) text += "  best";
    text += "\n";
  }
  return text;
}

std::string WhyNot(const TuneResult& result) {
  std::string text;
  std::set<std::string> reported;
  for (const TunePoint& p : result.points) {
    if (p.evaluation.verdict == Verdict::kOk || !reported.insert(p.evaluation.detail).second) continue;
    const std::string binding = BindingKey(p.binding);
    text += fmt::format("{}{}:\n{}", VerdictName(p.evaluation.verdict), binding.empty() ? "" : " with " + binding,
                        Indented(p.evaluation.detail));
    if (reported.size() == 3) break;
  }
  return text;
}

Result<SweptCandidate> TuneAndJudge(Evaluator& evaluator, const Task& task, const SweepRequest& request) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(request.source, request.name, task));
  TuneOptions options;
  options.incumbent_source = request.baseline;
  options.incumbent_name = request.baseline_name;
  // Points are timed against the task's seed, or if there is none, against the candidate with its first choices.
  if (request.baseline.empty() && task.seed_source.empty()) {
    options.incumbent_source = request.source;
    options.incumbent_name = request.name;
  }
  options.max_points = request.points;
  options.parallel = request.parallel;
  options.correctness_trials = request.trials;
  options.max_quads = request.quads;
  options.drop_unreachable = true;
  if (!request.spooled) options.seed = SystemSeed();
  options.stop = request.stop;
  SweptCandidate swept;
  TuningEntry entry;
  // The driver of a device on another machine is not known before that device has judged something.
  if (request.database != nullptr && !evaluator.facts().driver.empty()) {
    entry = EntryOf(task, request, options, evaluator.facts());
    swept.entry = entry.Id();
    if (!request.again) {
      HONE_ASSIGN_OR_RETURN(const std::vector<MeasuredPoint> measured, request.database->Points(swept.entry));
      options.known = KnownPoints(measured, request.trials, request.quads);
    }
  }
  const std::vector<Binding> order = SweepOrder(candidate.plan, request.points);
  for (const Binding& binding : order) swept.known += options.known.contains(BindingKey(binding));
  const size_t total = order.size() - static_cast<size_t>(swept.known);
  const std::string sitting = MakeRunId(UnixSeconds(), SystemSeed());
  size_t done = 0;
  options.on_point = [&](const Binding& binding, const Evaluation& evaluation) {
    ++done;
    if (!swept.entry.empty() && swept.not_kept.ok()) {
      swept.not_kept = request.database->Add(entry, {sitting, UnixSeconds(), request.trials, request.quads, binding, evaluation});
    }
    if (request.on_point) request.on_point(done, total, binding, evaluation);
    return Status::Ok();
  };
  HONE_ASSIGN_OR_RETURN(swept.result, TuneCandidate(evaluator, task, candidate, options));
  swept.stopped = request.stop.stop_requested();
  if (swept.stopped || swept.result.source.empty()) return swept;
  EvaluationRequest full;
  full.source = swept.result.source;
  full.name = "tuned.cu";
  full.incumbent_source = options.incumbent_source;
  full.incumbent_name = options.incumbent_name;
  HONE_ASSIGN_OR_RETURN(swept.judged, evaluator.Evaluate(task, full));
  if (swept.judged->verdict == Verdict::kOk) swept.tuned = swept.result.source;
  return swept;
}

nlohmann::json SweptJson(const Task& task, const std::string& candidate, const SweptCandidate& swept,
                         const std::string& written, const std::vector<std::string>& sandbox_warnings) {
  const TuneResult& result = swept.result;
  nlohmann::json json = {{"task", task.name},           {"candidate", candidate},       {"summary", result.summary},
                         {"left_out", result.left_out}, {"points", PointsJson(result)}, {"written", written},
                         {"stopped", swept.stopped}, {"known", swept.known}, {"entry", swept.entry}};
  nlohmann::json winners = nlohmann::json::array();
  for (const auto& [dims, winner] : result.winners) winners.push_back({{"dims", dims}, {"point", winner}});
  json["winners"] = winners;
  if (result.best) json["best"] = *result.best;
  json["sandbox_warnings"] = sandbox_warnings;
  if (swept.judged) json["evaluation"] = ReadJsonText(EvaluationToJson(*swept.judged, -1));
  return json;
}

}  // namespace hone
