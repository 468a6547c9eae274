// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone bench kernelbench DIR --model MODEL makes an ordinary run for each problem, with one strategy and one budget. It
// then judges the kernel that was found anew, against the module itself, eager and compiled.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/json_fields.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/kernelbench_command.h"
#include "hone/signal_stop.h"
#include "hone/waiting_runs.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/run/log/open_run.h"
#include "tuner/run/log/run_options.h"
#include "tuner/run/log/run_standing.h"
#include "tuner/run/memory.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/start_run.h"
#include "tuner/strategies/settings.h"
#include "tuner/workbench/candidate_file.h"

namespace hone {
namespace {

// The state that a campaign's runs share, opened once.
struct Campaign {
  CommandContext& context;
  const KernelBenchFlags& flags;
  ResolvedRun run;
  std::unique_ptr<RunStore> store;
  std::unique_ptr<ModelProvider> provider;
  std::unique_ptr<Evaluator> evaluator;
  SignalStop signals;
};

// Begins or continues the problem's run. kPending: `waits` says what for.
Result<RunView> Search(Campaign& campaign, const Task& task, const std::string& id, RunWaits& waits) {
  Result<RunView> view = LoadRun(*campaign.store, id);
  const RunOptions& options = campaign.run.options;
  if (view.ok()) {
    const RunOptions& stored = view->options;
    if (stored.model != options.model || stored.strategy != options.strategy ||
        stored.max_attempts != options.max_attempts) {
      return Status::InvalidArgument(fmt::format(
          "run {} is of another campaign ({}, {}, {} attempts): give this one a name of its own with --name", id,
          stored.model, stored.strategy, stored.max_attempts));
    }
    if (IsOver(*view)) return view;
  } else if (view.status().code() == StatusCode::kNotFound) {
    HONE_ASSIGN_OR_RETURN(std::vector<RememberedIdea> memory,
                          MemoryFor(*campaign.store, task, campaign.evaluator->facts(), options));
    HONE_RETURN_IF_ERROR(StartRun(*campaign.store, task, campaign.evaluator->facts(), options, id, UnixSeconds(),
                                  campaign.run.prompts ? &*campaign.run.prompts : nullptr, kRunVersion,
                                  std::move(memory), "")
                             .status());
  } else {
    return view.status();
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy, MakeStrategy(options.strategy));
  RunDependencies dependencies;
  dependencies.task = &task;
  dependencies.evaluator = campaign.evaluator.get();
  dependencies.store = campaign.store.get();
  dependencies.provider = campaign.provider.get();
  dependencies.strategy = strategy.get();
  dependencies.now = UnixSeconds;
  dependencies.stop = campaign.signals.token();
  dependencies.suspend = campaign.run.suspend;
  dependencies.waits = &waits;
  return ContinueRun(dependencies, id);
}

// Returns on which GPU operators are timed: the one that judges, if it is in this machine. Nothing is judged while a task is made.
OperatorTimingChoice TimingOf(const Campaign& campaign) {
  const std::string& device = campaign.flags.device.device;
  const std::string& id = campaign.evaluator->facts().id;
  OperatorTimingChoice timing;
  timing.untimed = "no GPU of this machine judges";
  if (const int gpu = GpuOrdinal(id); gpu >= 0 && (device == "auto" || device.starts_with("cuda"))) {
    timing.wanted = true;
    timing.gpu = gpu;
  }
  return timing;
}

// Returns the fastest right version of a run; 0: none is right. A run that starts from a PyTorch module may have right versions of which
// none is faster than the module.
int64_t FastestRight(const RunView& view) {
  int64_t found = 0;
  for (const RunNode& node : view.nodes) {
    if (node.id == 0 || node.rejected || !node.evaluation || node.evaluation->verdict != Verdict::kOk) continue;
    if (found == 0 || node.speedup.value_or(0) > view.node(found).speedup.value_or(0)) found = node.id;
  }
  return found;
}

// Takes a problem from its file to its verdict. After kPending and kCancelled, the same command continues the problem
// later.
Result<SuiteResult> SearchOne(Campaign& campaign, const SuiteSubmission& problem, RunWaits& waits) {
  const KernelBenchFlags& flags = campaign.flags;
  const bool timed = !campaign.evaluator->facts().modelled && !flags.no_time;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadSource(problem.problem_file));
  const std::string path = fmt::format("{}/results/{}.json", flags.out, problem.name);
  const std::string key =
      Sha256Hex(fmt::format("{}\n{}\n{}\n{} {}", Sha256Hex(text), flags.name,
                            DumpJson(RunOptionsToJson(campaign.run.options)), campaign.evaluator->facts().name, timed));
  Result<SuiteResult> stored_result = LoadSuiteResult(path, problem, key);
  if (stored_result.ok()) return stored_result;
  SuiteResult result;
  result.submission = problem;
  const double started = SteadySeconds();
  const Result<Task> task =
      KernelBenchTask(campaign.context, problem, text, fmt::format("{}/tasks/{}", flags.out, problem.task), TimingOf(campaign));
  if (!task.ok()) {
    if (task.status().code() == StatusCode::kUnavailable)
      return task.status();  // PyTorch is missing, which is not the problem's fault
    result.verdict = "refused";
    result.detail = task.status().message();
  } else {
    const std::string id = fmt::format("{}.{}", flags.name, problem.task);
    HONE_ASSIGN_OR_RETURN(const RunView view, Search(campaign, *task, id, waits));
    if (!IsOver(view))
      return Status::Pending(fmt::format("run {} is not over ({})", id, view.ended.empty() ? "open" : view.ended));
    // Takes the best version; if there is none, the task's own first version, or, if it has none, the fastest right one.
    std::string source = view.best == 0 ? task->seed_source : "";
    if (const int64_t best = view.best == 0 && source.empty() ? FastestRight(view) : view.best; best != 0) {
      HONE_ASSIGN_OR_RETURN(source, campaign.store->Source(view.node(best).source_hash));
    }
    if (source.empty()) {
      result.verdict = "no_kernel";
      result.detail = "no version was right";
    } else {
      HONE_RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/kernels/{}.cu", flags.out, problem.task), source));
      EvaluationRequest request;
      request.source = source;
      request.name = problem.task + ".cu";
      request.time = timed;
      request.libraries = timed;
      request.correctness_trials = flags.trials;
      request.allow_calls = campaign.run.options.calls;
      const Result<Evaluation> evaluation = campaign.evaluator->Evaluate(*task, request);
      if (evaluation.status().code() == StatusCode::kPending) waits = {0, 1, evaluation.status().message()};
      HONE_RETURN_IF_ERROR(evaluation.status());
      result = ResultOf(problem, *evaluation);
      if (evaluation->verdict == Verdict::kOk && view.best == 0)
        result.detail = "the task's first version; no faster one was found";
    }
    result.run = id;
    result.ended = view.ended;
    result.attempts = view.attempts;
    result.tokens = view.usage.input + view.usage.output;
    result.minutes = view.seconds / 60;
  }
  result.seconds = SteadySeconds() - started;
  result.key = key;
  HONE_RETURN_IF_ERROR(WriteFileAtomically(path, SuiteResultToJson(result)));
  return result;
}

}  // namespace

Status SearchKernelBench(CommandContext& context, const KernelBenchFlags& flags) {
  if (flags.compiled || flags.hosted) {
    return Status::InvalidArgument(
        "--compile and --hosted are for finished modules (--judge): a search is held against both by itself");
  }
  HONE_ASSIGN_OR_RETURN(std::vector<SuiteSubmission> problems, FindProblems(flags.problems));
  HONE_RETURN_IF_ERROR(Choose(flags, &problems));
  HONE_ASSIGN_OR_RETURN(ResolvedRun run, ResolveRunFlags(flags.run));
  run.options.device = flags.device.device;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy, MakeStrategy(run.options.strategy));
  run.models.roles = strategy->Roles();
  Campaign campaign{.context = context,
                    .flags = flags,
                    .run = std::move(run),
                    .store = nullptr,
                    .provider = nullptr,
                    .evaluator = nullptr,
                    .signals = SignalStop()};
  HONE_ASSIGN_OR_RETURN(campaign.store, OpenStoreToWrite(context, flags.store));
  HONE_ASSIGN_OR_RETURN(campaign.provider,
                        MakeModelProvider(campaign.run.models, campaign.store.get(),
                                          {context.state_directory + "/agents", context.executable}));
  HONE_ASSIGN_OR_RETURN(const std::string warning, CheckCostLimit(campaign.run.options, *campaign.provider));
  if (!warning.empty()) PrintError("hone: warning: {}\n", warning);
  HONE_ASSIGN_OR_RETURN(campaign.evaluator, OpenEvaluator(context, flags.device));
  HONE_RETURN_IF_ERROR(CheckTarget(campaign.run.options, *campaign.evaluator));
  AskForCudaIfCuteIsMissing(campaign.run.options, *campaign.evaluator);
  TellAssumed(*campaign.evaluator);

  const DeviceFacts& facts = campaign.evaluator->facts();
  std::vector<SuiteResult> results;
  std::vector<WaitingRun> waiting;
  Status failed;
  for (const SuiteSubmission& problem : problems) {
    if (campaign.signals.token().stop_requested())
      return Status::Cancelled("stopped; the same command goes on from here");
    RunWaits waits;
    Result<SuiteResult> result = SearchOne(campaign, problem, waits);
    if (!result.ok()) {
      if (campaign.signals.token().stop_requested())
        return Status::Cancelled("stopped; the same command goes on from here");
      // The run waits for its model, or failed in a way that may pass: the same command, given again, continues it.
      const bool pending = result.status().code() == StatusCode::kPending;
      if (pending) waiting.push_back({fmt::format("{}.{}", flags.name, problem.task), std::move(waits)});
      if (!pending) failed = result.status().WithContext(problem.name);
      if (!flags.device.json && !pending) PrintError("hone: {}: {}\n", problem.name, result.status().message());
      if (!pending && result.status().code() == StatusCode::kInvalidArgument) return failed;
      continue;
    }
    if (!flags.device.json) {
      Print("{:<16} {:<15} {} in {} attempts\n", problem.name, result->verdict,
            result->over_eager ? fmt::format("{:.2f}x over eager", result->over_eager->median)
                               : result->detail.substr(0, 120),
            result->attempts);
      std::fflush(stdout);
    }
    results.push_back(*std::move(result));
  }
  const RunOptions& options = campaign.run.options;
  HONE_RETURN_IF_ERROR(
      TellSuite(flags, results, !facts.modelled && !flags.no_time,
                fmt::format("Kernels found by strategy {} with {} in at most {} attempts a problem, judged on {}{}.",
                            options.strategy, options.model, options.max_attempts, facts.name,
                            facts.modelled ? " (simulated: no times)" : ""),
                {{"strategy", options.strategy},
                 {"model", options.model},
                 {"max_attempts", options.max_attempts},
                 {"device", facts.name},
                 {"waiting", waiting.size()},
                 {"sandbox_warnings", campaign.evaluator->SandboxWarnings()}}));
  if (!waiting.empty()) return WaitingStatus(waiting, problems.size(), campaign.run.models);
  return failed;
}

}  // namespace hone
