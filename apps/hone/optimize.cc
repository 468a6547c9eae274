// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone optimize TASK looks for a faster kernel, one judged step at a time. Everything is kept in the run store, so that
// a run that was stopped, killed or ran out of disk can be continued with --resume.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/random.h"
#include "base/text/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/model_options.h"
#include "hone/run_options_flags.h"
#include "hone/signal_stop.h"
#include "hone/waiting_runs.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/interop/write/join_seed.h"
#include "tuner/report/html.h"
#include "tuner/report/progress.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/open_run.h"
#include "tuner/run/memory.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/run_task.h"
#include "tuner/run/start_run.h"

namespace hone {
namespace {

struct OptimizeFlags {
  DeviceFlags device;
  RunFlags run;
  std::string task, resume, replay, store, report, out, seed_file, broken_file;
  bool list_settings = false;
};

// Task, options and id of a run, new or resumed.
struct Prepared {
  Task task;
  RunOptions options;
  std::string id;            // empty: the run does not exist yet
  std::string broken_start;  // text of a broken start; empty: none
  ModelFlags models;
  bool suspend = false;
  // Prompts from the folder --prompts; nullopt: the prompts of the stored run, or the embedded ones.
  std::optional<PromptLibrary> prompts;
};

// Makes or loads the run, with its task, options and prompts.
Result<Prepared> Prepare(const CommandContext& context, const OptimizeFlags& flags, RunStore& store) {
  Prepared prepared;
  if (!flags.resume.empty()) {
    HONE_ASSIGN_OR_RETURN(RunView view, LoadRun(store, flags.resume));
    HONE_ASSIGN_OR_RETURN(prepared.task, LoadRunTask(store, view));
    PrintError("{}", GatesText(view));
    prepared.options = view.options;
    prepared.id = view.info.id;
    prepared.suspend = flags.run.suspend;
    // A resumed run asks the models that it began with, unless others are named now. Keys and endpoints are not stored.
    prepared.models = flags.run.models;
    if (prepared.models.models.empty()) prepared.models.models = {view.options.model};
    HONE_RETURN_IF_ERROR(CheckSuspend(prepared.suspend, prepared.models));
    if (!flags.task.empty() && flags.task != prepared.task.name) {
      return Status::InvalidArgument(
          fmt::format("run {} is about task {}, not {}", view.info.id, prepared.task.name, flags.task));
    }
    return prepared;
  }
  if (flags.task.empty()) return Status::InvalidArgument("name a task, or a run to continue with --resume RUN");
  HONE_ASSIGN_OR_RETURN(prepared.task, FindTask(context, flags.task));
  if (!flags.seed_file.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string source, ReadCandidateOfTask(prepared.task, flags.seed_file));
    // The kernel's plan may not cover all shapes; the task's own seed then serves the others, as in `hone eval`.
    HONE_ASSIGN_OR_RETURN(prepared.task.seed_source, JoinSeed(prepared.task, source, flags.seed_file));
  }
  if (!flags.broken_file.empty()) {
    HONE_ASSIGN_OR_RETURN(prepared.broken_start, ReadSource(flags.broken_file));
  }
  HONE_ASSIGN_OR_RETURN(ResolvedRun run, ResolveRunFlags(flags.run));
  prepared.options = std::move(run.options);
  prepared.options.device = flags.device.device;
  prepared.models = std::move(run.models);
  prepared.suspend = run.suspend;
  prepared.prompts = std::move(run.prompts);
  return prepared;
}

// Returns an error if no attempt could be made: a run that starts from a PyTorch module has no kernel that the built-in
// model could rewrite.
Status CheckThereIsAKernel(const Prepared& prepared) {
  const bool starts_from_module =
      prepared.task.seed_source.empty() && prepared.broken_start.empty() && HasTorchModule(prepared.task);
  if (!starts_from_module || prepared.options.model != "builtin") return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("{} has no seed, and the built-in model only rewrites kernels: name a model that writes the first one "
                  "(--model PROVIDER:MODEL, docs/models.md), or a kernel of your own (--seed-kernel FILE.cu)",
                  prepared.task.name));
}

// Writes the report and the best kernel. `report` and `kernel` receive the files' names; empty: the file was not
// written.
Status WriteResults(const CommandContext& context, const OptimizeFlags& flags, RunStore& store, const RunView& view,
                    std::string& report, std::string& kernel) {
  const std::string base = fmt::format("{}/reports/{}", context.state_directory, view.info.id);
  // The kernel is written first: it is smaller, and it is the purpose of the run.
  if (view.best != 0) {
    const std::string path = flags.out.empty() ? base + ".cu" : flags.out;
    HONE_ASSIGN_OR_RETURN(std::string source, store.Source(view.node(view.best).source_hash));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(path, source));
    kernel = path;
  }
  const std::string path = flags.report.empty() ? base + ".html" : flags.report;
  HONE_ASSIGN_OR_RETURN(std::string html, HtmlReport(store, view));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(path, html));
  report = path;
  return Status::Ok();
}

bool GoalReached(const RunView& view) {
  return view.best != 0 && view.final_result && view.final_result->evaluation.verdict == Verdict::kOk &&
         view.final_result->evaluation.geomean_speedup.value_or(0) > 1;
}

// Replays a recorded run from its log (--replay). If --device names one, its winner is judged anew.
Status Replay(CommandContext& context, const OptimizeFlags& flags) {
  std::unique_ptr<RunStore> store;
  std::string run = flags.replay;
  if (NamesRunFile(run)) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(run));
    store = MakeMemoryRunStore();
    Result<std::string> id = ImportRun(*store, text);
    if (!id.ok()) return id.status().WithContext(run);
    run = *id;
  } else {
    HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
    HONE_ASSIGN_OR_RETURN(store, OpenStoreToRead(path));
  }
  HONE_ASSIGN_OR_RETURN(ReplayedRun replayed, ReplayRun(*store, run));
  const RunView& view = replayed.recorded;
  std::optional<Evaluation> judged_again;
  if (flags.device.device != "auto" && view.best != 0) {
    HONE_ASSIGN_OR_RETURN(Task task, LoadRunTask(*store, view));
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
    EvaluationRequest request;
    HONE_ASSIGN_OR_RETURN(request.source, store->Source(view.node(view.best).source_hash));
    request.name = fmt::format("node-{}.cu", view.best);
    request.time = evaluator->facts().modelled ? false : true;
    HONE_ASSIGN_OR_RETURN(judged_again, evaluator->Evaluate(task, request));
  }
  if (flags.device.json) {
    nlohmann::json json = ReadJsonText(RunToJson(replayed.replayed));
    json["replay"] = {
        {"same", replayed.difference.empty()}, {"compared", replayed.compared}, {"difference", replayed.difference}};
    json["replay"]["recorded_spending"] = {
        {"cost_usd", view.cost_usd}, {"cost_known", view.unpriced_replies == 0}, {"notes", view.remarks.size()}};
    if (judged_again) json["replay"]["winner"] = ReadJsonText(EvaluationToJson(*judged_again, -1));
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("{}", RunText(replayed.replayed, context.columns));
    Print("\n{}\n", replayed.difference.empty()
                        ? fmt::format("Repeated from the record: all {} nodes came out the same.", replayed.compared)
                        : "It did not come out the same: " + replayed.difference);
    if (const std::string spent = SpentText(view); !spent.empty()) Print("When it was recorded: {}", spent);
    Print("{}", RemarksText(view, 20));
    if (judged_again) Print("\nThe winner, judged anew:\n{}", DescribeEvaluation(*judged_again, context.columns));
  }
  const bool winner_right =
      !judged_again || judged_again->verdict == Verdict::kOk || judged_again->verdict == Verdict::kUnsupported;
  context.exit_status = replayed.difference.empty() && winner_right ? 0 : 1;
  return Status::Ok();
}

// Runs, resumes or replays a run, and prints what it found.
Status Run(CommandContext& context, const OptimizeFlags& flags) {
  if (!flags.replay.empty()) return Replay(context, flags);
  // Errors in these names are reported now, and not when the run is over.
  for (const std::string& path : {flags.report, flags.out}) HONE_RETURN_IF_ERROR(CheckOutput(path));
  std::unique_ptr<RunStore> store;
  if (flags.resume.empty()) {
    HONE_ASSIGN_OR_RETURN(store, OpenStoreToWrite(context, flags.store));
  } else {
    HONE_RETURN_IF_ERROR(CheckResume(flags.run));
    HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
    HONE_ASSIGN_OR_RETURN(store, OpenStoreThatIsThere(path));
  }
  HONE_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, flags, *store));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy, MakeStrategy(prepared.options.strategy));
  prepared.models.roles = strategy->Roles();
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<ModelProvider> provider,
      MakeModelProvider(prepared.models, store.get(), {context.state_directory + "/agents", context.executable}));
  HONE_ASSIGN_OR_RETURN(const std::string warning, CheckCostLimit(prepared.options, *provider));
  if (!warning.empty()) PrintError("hone: warning: {}\n", warning);
  DeviceFlags device = flags.device;
  if (!prepared.id.empty() && device.device == "auto") device.device = prepared.options.device;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, device));
  if (prepared.id.empty()) {
    HONE_RETURN_IF_ERROR(CheckThereIsAKernel(prepared));
    HONE_RETURN_IF_ERROR(CheckTarget(prepared.options, *evaluator));
    AskForCudaIfCuteIsMissing(prepared.options, *evaluator);
    TellAssumed(*evaluator);
    HONE_ASSIGN_OR_RETURN(std::vector<RememberedIdea> memory,
                          MemoryFor(*store, prepared.task, evaluator->facts(), prepared.options));
    HONE_ASSIGN_OR_RETURN(prepared.id, StartRun(*store, prepared.task, evaluator->facts(), prepared.options,
                                                MakeRunId(UnixSeconds(), SystemSeed()), UnixSeconds(),
                                                prepared.prompts ? &*prepared.prompts : nullptr, kRunVersion,
                                                std::move(memory), prepared.broken_start));
  }

  const bool talk = !flags.device.json;
  if (talk) {
    Print("Run {}: {} on {}{}, strategy {}, model {}\n", prepared.id, prepared.task.name, evaluator->facts().name,
          evaluator->facts().modelled ? " (simulated: times are modelled)" : "", prepared.options.strategy,
          prepared.options.model);
    Print("{}\n", NodeHeader(context.columns));
    std::fflush(stdout);
  }
  Result<RunView> ended = Status::Internal("not run");
  bool stopped = false;
  {
    SignalStop signals;
    const auto write = [&](const std::string& text) {
      if (!talk) return;
      WriteAsIs(stdout,
                text);  // holds the printer's own control sequences; the printer makes foreign text visible itself
      std::fflush(stdout);
    };
    ProgressPrinter progress(write, talk && context.stdout_is_terminal, UnixSeconds, context.columns, context.colour);
    RunDependencies dependencies;
    dependencies.task = &prepared.task;
    dependencies.evaluator = evaluator.get();
    dependencies.store = store.get();
    dependencies.provider = provider.get();
    dependencies.strategy = strategy.get();
    dependencies.observer = &progress;
    dependencies.now = UnixSeconds;
    dependencies.stop = signals.token();
    dependencies.suspend = prepared.suspend;
    ended = ContinueRun(dependencies, prepared.id);
    stopped = signals.token().stop_requested();
  }
  if (!ended.ok()) {
    const bool is_requested =
        ended.status().code() == StatusCode::kPending && ended.status().message().find("answer") != std::string::npos;
    if (is_requested) PrintError("{}", WhereQuestionsLie(prepared.models));
    return Status(ended.status().code(), fmt::format("{}\nhone: the run can go on: hone optimize --resume {}",
                                                     ended.status().message(), prepared.id));
  }
  std::string report, kernel;
  // Results are printed even if the files cannot be written, because the store has them.
  const Status write_status = WriteResults(context, flags, *store, *ended, report, kernel);
  if (talk) {
    Print("\nEnded: {} ({})\n{}", ended->ended, ReasonText(*ended), ResultText(*ended, context.columns));
    if (!kernel.empty()) Print("Kernel: {}\n", kernel);
    if (!report.empty()) Print("Report: {}\n", report);
    if (stopped || ended->ended == "provider_failed") Print("Go on with: hone optimize --resume {}\n", prepared.id);
  } else {
    nlohmann::json json = ReadJsonText(RunToJson(*ended));
    json["report"] = report;
    json["sandbox_warnings"] = evaluator->SandboxWarnings();
    json["warnings"] = warning.empty() ? std::vector<std::string>() : std::vector<std::string>{warning};
    if (!kernel.empty()) json["kernel"] = kernel;
    Print("{}\n", DumpJson(json, 2));
  }
  context.exit_status = GoalReached(*ended) ? 0 : ended->ended == "provider_failed" ? 3 : 1;
  if (write_status.ok()) return Status::Ok();
  return Status(write_status.code(),
                fmt::format("{}\nhone: the run itself is stored: hone report {} --out FILE writes its report, "
                            "hone show {} --source prints its kernel",
                            write_status.message(), prepared.id, prepared.id));
}

}  // namespace

void RegisterOptimizeCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<OptimizeFlags>();
  CLI::App* command = app.add_subcommand("optimize", "look for a faster kernel, one judged step at a time");
  command->add_option("task", flags->task,
                      "name of a task, or a folder with a task.toml; not needed with --resume, --replay or --settings");
  AddRunFlags(*command, flags->run);
  flags->run.of_new_runs.push_back(
      command->add_option("--seed-kernel", flags->seed_file, "start from this .cu file instead of the task's seed"));
  flags->run.of_new_runs.push_back(
      command->add_option("--broken-start", flags->broken_file,
                          "start from this .cu file even if it is wrong; the run's first job is to repair it"));
  command->add_flag("--settings", flags->list_settings, "list the strategies' settings, and start no run");
  command->add_option("--resume", flags->resume, "continue this run: its id, a part of it, or 'last'");
  command->add_option("--replay", flags->replay,
                      "repeat a recorded run (its id, or FILE.jsonl) from its stored replies and evaluations; with "
                      "--device, judge its winner anew");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_option("--report", flags->report,
                      "write the HTML report here; by default to reports/RUN.html in Hone's state folder");
  command->add_option("--out", flags->out, "write the best kernel here; by default next to the report");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (flags->list_settings) {
      Print("{}", flags->device.json ? SettingsJson() : SettingsTable());
      return;
    }
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
