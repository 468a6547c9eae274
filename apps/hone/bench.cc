// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone bench strategies TASKS…: runs every strategy on every task with one model and one budget, and compares them as the
// papers' tables do. Each pair is an ordinary run in the run store under a name of its own, so a bench that was
// stopped, killed or suspended goes on when the same command is given again.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/run_options_flags.h"
#include "hone/signal_stop.h"
#include "tuner/run/memory.h"
#include "tuner/run/open_run.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/start_run.h"
#include "tuner/run/strategy_summary.h"

namespace hone {
namespace {

struct BenchFlags {
  DeviceFlags device;
  RunFlags run;
  std::vector<std::string> tasks, strategies;
  std::string name = "bench", store;
  const CLI::Option* strategy = nullptr;  // of hone optimize, one run's
};

// Whether a run is over, or was only put aside.
bool Over(const RunView& view) {
  return !view.ended.empty() && view.ended != "suspended" && view.ended != "interrupted" &&
         view.ended != "provider_failed";
}

// The same run as the command asks for now? What differs, or empty.
std::string Difference(const RunOptions& stored, const RunOptions& asked) {
  if (stored.model != asked.model) return fmt::format("its model is {}, not {}", stored.model, asked.model);
  if (stored.max_attempts != asked.max_attempts) {
    return fmt::format("it has {} attempts, not {}", stored.max_attempts, asked.max_attempts);
  }
  if (stored.parallel != asked.parallel || stored.rounds != asked.rounds) {
    return "its attempts overlap in another way (--parallel, --rounds)";
  }
  if (stored.settings != asked.settings) return "its settings differ";
  return "";
}

Status RunStrategies(CommandContext& context, const BenchFlags& flags) {
  if (flags.strategy->count() > 0) {
    return Status::InvalidArgument("--strategy is one run's: name those to be compared with --strategies A,B");
  }
  HONE_ASSIGN_OR_RETURN(ResolvedRun base, ResolveRunFlags(flags.run));
  // All get the same number of attempts: a strategy's own end by rounds or depth would compare budgets.
  for (const char* setting : {"refine.depth", "team.rounds", "single.rounds"}) base.options.settings.emplace(setting, 0);
  base.options.device = flags.device.device;
  std::vector<std::string> strategies = flags.strategies;
  if (strategies.empty()) {
    // A coding agent is no language model: it takes part where it is named.
    strategies = StrategyNames();
    std::erase(strategies, "agent");
  }
  for (const std::string& name : strategies) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy, MakeStrategy(name));
    for (const std::string& role : strategy->Roles()) {
      std::vector<std::string>& roles = base.models.roles;
      if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
    }
  }
  std::vector<Task> tasks;
  for (const std::string& name : flags.tasks) {
    HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, name));
    tasks.push_back(std::move(task));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> store, OpenStoreToWrite(context, flags.store));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ModelProvider> provider, MakeModelProvider(base.models, store.get(), {context.state_directory + "/agents", context.executable}));
  HONE_ASSIGN_OR_RETURN(const std::string warning, CheckCostLimit(base.options, *provider));
  if (!warning.empty()) PrintError("hone: warning: {}\n", warning);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  HONE_RETURN_IF_ERROR(CheckTarget(base.options, *evaluator));

  std::vector<RunOutcome> outcomes;
  Status pending;
  SignalStop signals;
  for (const Task& task : tasks) {
    for (const std::string& name : strategies) {
      const std::string id = fmt::format("{}.{}.{}", flags.name, task.name, name);
      RunOptions options = base.options;
      options.strategy = name;
      Result<RunView> view = LoadRun(*store, id);
      if (view.ok()) {
        if (const std::string difference = Difference(view->options, options); !difference.empty()) {
          return Status::InvalidArgument(fmt::format(
              "run {} is of another bench: {}; give this one a name of its own with --name", id, difference));
        }
      } else if (view.status().code() == StatusCode::kNotFound) {
        HONE_ASSIGN_OR_RETURN(std::vector<RememberedIdea> memory, MemoryFor(*store, task, evaluator->facts(), options));
        HONE_RETURN_IF_ERROR(StartRun(*store, task, evaluator->facts(), options, id, UnixSeconds(),
                                      base.prompts ? &*base.prompts : nullptr, kRunVersion, std::move(memory))
                                 .status());
      } else {
        return view.status();
      }
      if (!view.ok() || !Over(*view)) {
        HONE_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy, MakeStrategy(name));
        RunDependencies dependencies;
        dependencies.task = &task;
        dependencies.evaluator = evaluator.get();
        dependencies.store = store.get();
        dependencies.provider = provider.get();
        dependencies.strategy = strategy.get();
        dependencies.now = UnixSeconds;
        dependencies.stop = signals.token();
        dependencies.suspend = base.suspend;
        view = ContinueRun(dependencies, id);
        if (view.status().code() == StatusCode::kPending) {
          pending = view.status();
          view = LoadRun(*store, id);
        }
        HONE_RETURN_IF_ERROR(view.status().WithContext(id));
      }
      outcomes.push_back(OutcomeOf(*view));
      if (!flags.device.json) {
        const RunOutcome& o = outcomes.back();
        Print("{:<22} {:<10} {:>8} in {} attempts, {}\n", o.task, o.strategy, fmt::format("{:.3f}x", o.speedup),
              o.attempts, o.ended);
        std::fflush(stdout);
      }
      if (signals.token().stop_requested()) return Status::Cancelled("stopped; the same command goes on from here");
    }
  }
  const std::vector<StrategySummary> rows = SummarizeByStrategy(outcomes);
  if (flags.device.json) {
    nlohmann::json json = ReadJsonText(SummaryToJson(rows, outcomes));
    json["sandbox_warnings"] = evaluator->SandboxWarnings();
    json["warnings"] = warning.empty() ? std::vector<std::string>() : std::vector<std::string>{warning};
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("\n{}\n{}", OutcomesTable(outcomes), SummaryTable(rows));
  }
  return pending;
}

}  // namespace

void RegisterBenchCommand(CLI::App& app, CommandContext& context) {
  CLI::App* bench = app.add_subcommand("bench", "compare ways of looking for faster kernels");
  bench->require_subcommand(1);
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = bench->add_subcommand("strategies", "run every strategy on every task with one model and one budget");
  command->add_option("tasks", flags->tasks, "names of tasks, or folders with a task.toml")->required();
  command->add_option("--strategies", flags->strategies, "names, separated by commas; all unless given")->delimiter(',');
  command->add_option("--name", flags->name, "of this bench: its runs are NAME.TASK.STRATEGY")->capture_default_str();
  command->add_option("--store", flags->store, "the run store's file; by default runs.sqlite in Hone's state folder");
  RegisterKernelBenchCommand(*bench, context);
  AddRunFlags(*command, flags->run);
  flags->strategy = command->get_option("--strategy");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = RunStrategies(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
