// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone tune TASK CANDIDATE.cu tries every binding of the candidate's tunables, prints the table, and writes a candidate
// whose plan chooses the winner shape by shape. The written file is judged once more before its speedup is reported.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/workbench/tune_and_judge.h"
#include "tuner/workbench/winner_file.h"

namespace hone {
namespace {

struct TuneFlags {
  DeviceFlags device;
  std::string task, candidate, baseline, out, database;
  bool again = false;
  int64_t points = 64;
  int parallel = 2, trials = 1, quads = 0;
};

std::string CountText(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

Status Run(CommandContext& context, const TuneFlags& flags) {
  HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, flags.task));
  HONE_RETURN_IF_ERROR(CheckOutput(flags.out));
  SweepRequest request;
  HONE_ASSIGN_OR_RETURN(request.source, ReadCandidateOfTask(task, flags.candidate));
  request.name = flags.candidate;
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(request.source, request.name, task));
  if (!flags.baseline.empty()) {
    HONE_ASSIGN_OR_RETURN(request.baseline, ReadCandidateOfTask(task, flags.baseline));
    request.baseline_name = flags.baseline;
  }
  request.points = flags.points;
  request.parallel = flags.parallel;
  request.trials = flags.trials;
  request.quads = flags.quads;
  request.spooled = flags.device.device.rfind("spool:", 0) == 0;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  const bool talk = !flags.device.json;
  request.again = flags.again;
  request.build = SweepBuild();
  std::unique_ptr<TuningDatabase> database;
  if (Result<std::unique_ptr<TuningDatabase>> opened =
          TuningDatabase::Open(flags.database.empty() ? TuningDatabasePath(context) : flags.database);
      opened.ok()) {
    database = std::move(*opened);
    request.database = database.get();
  } else if (!flags.database.empty()) {
    return opened.status();
  } else {
    PrintError("hone: warning: what is measured is not kept: {}\n", opened.status().message());
  }
  request.on_point = [&](size_t done, size_t total, const Binding& binding, const Evaluation& evaluation) {
    if (!talk) return;
    Print("{:>4} of {}  {:<34} {:<16} {}\n", done, total, BindingKey(binding), VerdictName(evaluation.verdict),
          evaluation.geomean_speedup ? fmt::format("{:.3f}x", *evaluation.geomean_speedup) : "");
    std::fflush(stdout);
  };
  if (SweepOrder(candidate.plan, 2).size() == 1 && talk) Print("{} has no tunables with a choice.\n", flags.candidate);
  Result<SweptCandidate> swept = Status::Internal("not run");
  {
    SignalStop signals;
    request.stop = signals.token();
    swept = TuneAndJudge(*evaluator, task, request);
  }
  HONE_RETURN_IF_ERROR(swept.status());
  const TuneResult& result = swept->result;

  std::string out;
  // The table is printed even if the file cannot be written.
  Status write_status;
  const auto write = [&](const std::string& path, const std::string& text) {
    write_status = WriteFileAtomically(path, text);
    if (write_status.ok()) out = path;
  };
  const std::string target =
      flags.out.empty() ? std::filesystem::path(flags.candidate).replace_extension(".tuned.cu").string() : flags.out;
  if (swept->judged) swept->judged->candidate = target;  // the judged text is the file that is written
  const bool sidecar = IsWinnerPath(target);
  if (sidecar && !swept->stopped && result.best && (swept->tuned || result.needs_no_change)) {
    const std::string against = !flags.baseline.empty()    ? flags.baseline
                                : task.seed_source.empty() ? flags.candidate + " with its first choices"
                                                           : "the task's seed";
    write(target,
          DumpJson(WinnerJson(task, target, flags.candidate, against, evaluator->facts(), *swept, request.source), 2) +
              "\n");
  }
  if (swept->tuned && !sidecar) write(target, *swept->tuned);
  // A user who names an output file gets one: if nothing is better, it holds the unchanged candidate.
  if (!swept->stopped && result.needs_no_change && !flags.out.empty() && !sidecar) write(flags.out, candidate.source);
  if (talk) {
    Print("\n{}\n{}.\n", PointTable(result), result.summary);
    if (swept->known > 0)
      Print("{} measured before, by the tuning database; --again measures {} again.\n",
            CountText(swept->known, "binding was", "bindings were"), swept->known == 1 ? "it" : "them");
    if (result.left_out > 0) {
      Print("{} not tried{}.\n", CountText(result.left_out, "binding was", "bindings were"),
            swept->stopped ? ": the sweep was stopped, and nothing is written" : ": raise --points for more");
    }
    if (!result.best) Print("\n{}", WhyNot(result));
    if (swept->judged) Print("\n{}", DescribeEvaluation(*swept->judged, context.columns));
    if (!out.empty())
      Print("Written: {}{}\n", out, result.needs_no_change && !sidecar ? ", the candidate as it is" : "");
    else if (swept->judged && !swept->tuned)
      Print("The tuned file was not right, and is not written.\n");
  } else {
    Print("{}\n", DumpJson(SweptJson(task, flags.candidate, *swept, out, evaluator->SandboxWarnings()), 2));
  }
  context.exit_status = !swept->stopped && result.best && (!swept->judged || swept->tuned) ? 0 : 1;
  if (!swept->not_kept.ok()) PrintError("hone: warning: points were not kept: {}\n", swept->not_kept.message());
  if (talk && !swept->entry.empty() && swept->not_kept.ok())
    Print("Kept as {}: `hone db show {}` explains the choice.\n", swept->entry, swept->entry);
  return write_status;
}

}  // namespace

void RegisterTuneCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = app.add_subcommand(
      "tune", "try values of a kernel's tunables, and write a .cu file with the fastest ones for each shape");
  command->add_option("task", flags->task, "name of a task, or a folder with a task.toml")->required();
  command->add_option("candidate", flags->candidate, "the candidate's .cu file")->required();
  command->add_option("--baseline", flags->baseline, "time against this kernel instead of the task's own (its seed)");
  command->add_option(
      "--out", flags->out,
      "write the tuned kernel to this file in any case; without --out, to CANDIDATE.tuned.cu, and only if "
      "other values than the candidate's own are faster. A name that ends in .json gets a small file of "
      "the winners alone, which other commands take in place of a .cu file");
  command
      ->add_option("--points", flags->points,
                   "how many bindings (choices of a value for each tunable) are tried at most")
      ->check(kAboveZero)
      ->capture_default_str();
  command
      ->add_option("--parallel", flags->parallel, "how many bindings are under way at a time; their compiles overlap")
      ->check(kAboveZero)
      ->capture_default_str();
  AddTrialsOption(*command, flags->trials,
                  "how many sets of random inputs each binding is checked with for each timed shape (case)");
  // The timing protocol analyses its data five times, each time with at least two more groups.
  const CLI::Validator enough(
      [](std::string& text) {
        const bool none = text == "0";
        return none || CLI::Range(kLeastQuads, kMostQuads)(text).empty()
                   ? std::string()
                   : fmt::format("use 0 or {} to {}: an interval needs as many", kLeastQuads, kMostQuads);
      },
      fmt::format("INT:{{0, {} - {}}}", kLeastQuads, kMostQuads));
  command
      ->add_option("--quads", flags->quads,
                   "how many quads (groups of four timings, two of the binding and two of the baseline) each binding "
                   "gets at most for a timed case; 0: as many as hone eval takes")
      ->check(enough)
      ->capture_default_str();
  command->add_option(
      "--db", flags->database,
      "the tuning database's file; by default tunings.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--again", flags->again, "measure all bindings, even those that the tuning database has");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
