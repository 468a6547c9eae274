// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone tune TASK CANDIDATE.cu: tries every binding of the candidate's tunables, prints the table, and writes a
// candidate whose plan chooses the winner shape by shape. The written file is judged once more before it is praised.
#include "tuner/sweep/tune.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/random.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/report/run_text.h"

namespace hone {
namespace {

struct TuneFlags {
  DeviceFlags device;
  std::string task, candidate, baseline, out;
  int64_t points = 64;
  int parallel = 2, trials = 1, quads = 0;
};

std::string CountText(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

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

// Why bindings failed, each reason once, with the first binding that met it.
std::string WhyNot(const TuneResult& result) {
  std::string text;
  std::set<std::string> told;
  for (const TunePoint& p : result.points) {
    if (p.evaluation.verdict == Verdict::kOk || !told.insert(p.evaluation.detail).second) continue;
    const std::string binding = BindingKey(p.binding);
    text += fmt::format("{}{}:\n{}", VerdictName(p.evaluation.verdict), binding.empty() ? "" : " with " + binding,
                        Indented(p.evaluation.detail));
    if (told.size() == 3) break;
  }
  return text;
}

nlohmann::json PointsJson(const TuneResult& result) {
  nlohmann::json points = nlohmann::json::array();
  for (const TunePoint& p : result.points) {
    nlohmann::json binding = nlohmann::json::object();
    for (const auto& [name, value] : p.binding) binding[name] = value;
    points.push_back({{"binding", binding}, {"evaluation", nlohmann::json::parse(EvaluationToJson(p.evaluation, -1))}});
  }
  return points;
}

Status Run(CommandContext& context, const TuneFlags& flags) {
  HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, flags.task));
  HONE_RETURN_IF_ERROR(CheckOutput(flags.out));
  HONE_ASSIGN_OR_RETURN(std::string source, ReadSource(flags.candidate));
  HONE_ASSIGN_OR_RETURN(Candidate candidate, ParseCandidate(source, flags.candidate, task));
  TuneOptions options;
  // Against the task's seed, or, where there is none, against the candidate's own first choices.
  if (!flags.baseline.empty()) {
    HONE_ASSIGN_OR_RETURN(options.incumbent_source, ReadSource(flags.baseline));
    options.incumbent_name = flags.baseline;
  } else if (task.seed_source.empty()) {
    options.incumbent_source = source;
    options.incumbent_name = flags.candidate;
  }
  options.max_points = flags.points;
  options.parallel = flags.parallel;
  options.correctness_trials = flags.trials;
  options.max_quads = flags.quads;
  options.drop_unreachable = true;
  if (flags.device.device.rfind("spool:", 0) != 0) options.seed = SystemSeed();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  const bool talk = !flags.device.json;
  const size_t total = SweepOrder(candidate.plan, flags.points).size();
  size_t done = 0;
  options.on_point = [&](const Binding& binding, const Evaluation& evaluation) {
    ++done;
    if (talk) {
      Print("{:>4} of {}  {:<34} {:<16} {}\n", done, total, BindingKey(binding), VerdictName(evaluation.verdict),
            evaluation.geomean_speedup ? fmt::format("{:.3f}x", *evaluation.geomean_speedup) : "");
      std::fflush(stdout);
    }
    return Status::Ok();
  };
  if (SweepOrder(candidate.plan, 2).size() == 1 && talk) Print("{} has no tunables with a choice.\n", flags.candidate);
  Result<TuneResult> swept = Status::Internal("not run");
  bool stopped = false;
  {
    SignalStop signals;
    options.stop = signals.token();
    swept = TuneCandidate(*evaluator, task, candidate, options);
    stopped = signals.token().stop_requested();
  }
  HONE_RETURN_IF_ERROR(swept.status());
  const TuneResult& result = *swept;

  std::string out;
  std::optional<Evaluation> judged;
  // What a sweep found is shown even where it cannot be written.
  Status written;
  const auto write = [&](const std::string& path, const std::string& text) {
    written = WriteFileAtomically(path, text);
    if (written.ok()) out = path;
  };
  if (!stopped && !result.source.empty()) {
    // The full protocol, for what is written is what will be used.
    EvaluationRequest request;
    request.source = result.source;
    request.name = "tuned.cu";
    request.incumbent_source = options.incumbent_source;
    request.incumbent_name = options.incumbent_name;
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, evaluator->Evaluate(task, request));
    judged = std::move(evaluation);
    if (judged->verdict == Verdict::kOk) {
      write(flags.out.empty() ? std::filesystem::path(flags.candidate).replace_extension(".tuned.cu").string() : flags.out,
            result.source);
    }
  }
  // Who names a file gets one: where nothing is better than the candidate as it is, that.
  if (!stopped && result.needs_no_change && !flags.out.empty()) write(flags.out, candidate.source);
  if (talk) {
    Print("\n{}\n{}.\n", PointTable(result), result.summary);
    if (result.left_out > 0) {
      Print("{} not tried{}.\n", CountText(result.left_out, "binding was", "bindings were"),
            stopped ? ": the sweep was stopped, and nothing is written" : ": raise --points for more");
    }
    if (!result.best) Print("\n{}", WhyNot(result));
    if (judged) Print("\n{}", DescribeEvaluation(*judged, context.columns));
    if (!out.empty())
      Print("Written: {}{}\n", out, result.needs_no_change ? ", the candidate as it is" : "");
    else if (judged && judged->verdict != Verdict::kOk)
      Print("The tuned file was not right, and is not written.\n");
  } else {
    nlohmann::json json = {{"task", task.name},           {"candidate", flags.candidate}, {"summary", result.summary},
                           {"left_out", result.left_out}, {"points", PointsJson(result)}, {"written", out},
                           {"stopped", stopped}};
    nlohmann::json winners = nlohmann::json::array();
    for (const auto& [dims, winner] : result.winners) winners.push_back({{"dims", dims}, {"point", winner}});
    json["winners"] = winners;
    if (result.best) json["best"] = *result.best;
    json["sandbox_warnings"] = evaluator->SandboxWarnings();
    if (judged) json["evaluation"] = nlohmann::json::parse(EvaluationToJson(*judged, -1));
    Print("{}\n", DumpJson(json, 2));
  }
  context.exit_status = !stopped && result.best && (!judged || judged->verdict == Verdict::kOk) ? 0 : 1;
  return written;
}

}  // namespace

void RegisterTuneCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = app.add_subcommand("tune", "sweep a candidate's tunables and write the winners, shape by shape");
  command->add_option("task", flags->task, "name of a task, or a folder with a task.toml")->required();
  command->add_option("candidate", flags->candidate, "the candidate's .cu file")->required();
  command->add_option("--baseline", flags->baseline, "time against this .cu file instead of the task's seed");
  command->add_option("--out", flags->out, "where the tuned candidate goes, changed or not; by default CANDIDATE.tuned.cu where it changes");
  command->add_option("--points", flags->points, "bindings tried at most")->check(kAboveZero)->capture_default_str();
  command->add_option("--parallel", flags->parallel, "evaluations in flight; their compiles overlap")
      ->check(kAboveZero)
      ->capture_default_str();
  AddTrialsOption(*command, flags->trials, "random input sets at each timed case, of each binding");
  // The protocol looks five times, at two groups each or more.
  const CLI::Validator enough([](std::string& text) {
    const bool none = text == "0";
    return none || CLI::Range(kLeastQuads, kMostQuads)(text).empty()
               ? std::string()
               : fmt::format("use 0 or {} to {}: an interval needs as many", kLeastQuads, kMostQuads);
  }, fmt::format("INT:{{0, {} - {}}}", kLeastQuads, kMostQuads));
  command->add_option("--quads", flags->quads, "timed groups at most, of each binding; 0: the protocol's own")
      ->check(enough)
      ->capture_default_str();
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
