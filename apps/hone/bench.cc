// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone bench strategies TASKS…: runs every strategy on every task with one model and one budget, and compares them in
// tables like those of the papers. Each pair of strategy and task is an ordinary run in the run store, under a name of
// its own. A bench that was stopped, killed or suspended therefore continues when the same command is given again.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/run_options_flags.h"
#include "hone/signal_stop.h"
#include "hone/waiting_runs.h"
#include "tuner/run/log/open_run.h"
#include "tuner/run/log/run_standing.h"
#include "tuner/run/log/strategy_summary.h"
#include "tuner/run/memory.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/start_run.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

struct BenchFlags {
  DeviceFlags device;
  RunFlags run;
  std::vector<std::string> tasks, strategies, variants;
  std::string name = "bench", store, broken_starts;
  Lot lot;
  const CLI::Option* strategy = nullptr;  // the option --strategy of hone optimize, which makes no sense here
};

// One column of the comparison: a strategy with options of its own.
struct Variant {
  std::string label, strategy;
  RunOptions options;
};

// Parses "late=refine,refine.profile_from_start=0,target=cuda": a label, a strategy, and the settings that differ from
// the command's own options.
Result<Variant> ParseVariant(const std::string& text, const RunOptions& base) {
  const auto wrong_option = [&](const std::string& why) {
    return Status::InvalidArgument(
        fmt::format("--variant {}: {}; write LABEL=STRATEGY and then, after commas, NAME=NUMBER of a setting or "
                    "target=any, cuda or cute",
                    text, why));
  };
  Variant variant{"", "", base};
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return wrong_option("it has no label");
  variant.label = text.substr(0, equals);
  if (variant.label.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
      std::string::npos) {
    return wrong_option("a label is made of letters, digits, '-' and '_'");
  }
  for (size_t at = equals + 1; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    if (variant.strategy.empty()) {
      HONE_RETURN_IF_ERROR(MakeStrategy(part).status().WithContext("--variant " + text));
      variant.strategy = part;
    } else if (part.starts_with("target=")) {
      variant.options.target = part.substr(7);
      if (variant.options.target != "any" && variant.options.target != "cuda" && variant.options.target != "cute") {
        return wrong_option(fmt::format("there is no target '{}'", variant.options.target));
      }
    } else {
      HONE_RETURN_IF_ERROR(PutSettingText(variant.options, part).WithContext("--variant " + text));
    }
  }
  variant.options.strategy = variant.strategy;
  return variant;
}

// Returns how a stored run differs from what the command asks for; empty if it does not. `target`: as it was given. A
// run that began with any target stays what it is when the judges state later that they have no CuTe; it is then asked
// for CUDA alone from there on.
std::string DifferenceFromRequest(const RunOptions& stored, const RunOptions& requested, const std::string& target) {
  if (stored.model != requested.model) return fmt::format("its model is {}, not {}", stored.model, requested.model);
  if (stored.max_attempts != requested.max_attempts) {
    return fmt::format("it has {} attempts, not {}", stored.max_attempts, requested.max_attempts);
  }
  if (stored.parallel != requested.parallel || stored.rounds != requested.rounds) {
    return "its attempts overlap in another way (--parallel, --rounds)";
  }
  if (stored.strategy != requested.strategy)
    return fmt::format("its strategy is {}, not {}", stored.strategy, requested.strategy);
  if (stored.target != requested.target && stored.target != target) {
    return fmt::format("its target is {}, not {} (--target {} goes on with it)", stored.target, requested.target,
                       stored.target);
  }
  if (stored.settings != requested.settings) return "its settings differ";
  return "";
}

// Runs every strategy on every task, or continues where an earlier call stopped, and prints the comparison.
Status RunStrategies(CommandContext& context, const BenchFlags& flags) {
  if (flags.strategy->count() > 0) {
    return Status::InvalidArgument("--strategy is one run's: name those to be compared with --strategies A,B");
  }
  HONE_ASSIGN_OR_RETURN(ResolvedRun base, ResolveRunFlags(flags.run));
  // All strategies get the same number of attempts. Their own limits on rounds or depth would end some earlier, and the
  // bench would compare budgets.
  for (const char* setting : {"refine.depth", "team.rounds", "single.rounds"})
    base.options.settings.emplace(setting, 0);
  base.options.device = flags.device.device;
  std::vector<std::string> strategies = flags.strategies;
  if (strategies.empty() && flags.variants.empty()) {
    // A coding agent is no language model: it takes part only if --strategies names it.
    strategies = StrategyNames();
    std::erase(strategies, "agent");
  }
  std::vector<Variant> variants;
  for (const std::string& name : strategies) {
    variants.push_back({name, name, base.options});
    variants.back().options.strategy = name;
  }
  for (const std::string& text : flags.variants) {
    HONE_ASSIGN_OR_RETURN(Variant variant, ParseVariant(text, base.options));
    variants.push_back(std::move(variant));
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    for (size_t other = 0; other < i; ++other) {
      if (variants[other].label == variants[i].label) {
        return Status::InvalidArgument(
            fmt::format("two runs of each task would be called {}: give one a label of its own", variants[i].label));
      }
    }
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Strategy> strategy, MakeStrategy(variants[i].strategy));
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
  std::vector<std::string> drawn;
  if (flags.lot.take > 0) {
    std::vector<std::string> names;
    for (const Task& task : tasks) names.push_back(task.name);
    drawn = Draw(flags.lot, names);
    if (drawn.empty()) {
      return Status::InvalidArgument(
          fmt::format("--lot-skip {} leaves none of {} tasks", flags.lot.skip, tasks.size()));
    }
    std::erase_if(tasks, [&](const Task& t) { return std::find(drawn.begin(), drawn.end(), t.name) == drawn.end(); });
    if (!flags.device.json) Print("{}\n", LotText(flags.lot, names.size(), drawn, "tasks"));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> store, OpenStoreToWrite(context, flags.store));
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<ModelProvider> provider,
      MakeModelProvider(base.models, store.get(), {context.state_directory + "/agents", context.executable}));
  HONE_ASSIGN_OR_RETURN(const std::string warning, CheckCostLimit(base.options, *provider));
  if (!warning.empty()) PrintError("hone: warning: {}\n", warning);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  std::vector<std::string> warnings = TellAssumed(*evaluator);
  if (!warning.empty()) warnings.push_back(warning);
  std::vector<std::string> targets;  // as given
  for (Variant& variant : variants) {
    targets.push_back(variant.options.target);
    HONE_RETURN_IF_ERROR(CheckTarget(variant.options, *evaluator));
    AskForCudaIfCuteIsMissing(variant.options, *evaluator);
  }

  std::vector<RunOutcome> outcomes;
  std::vector<WaitingRun> waiting;
  SignalStop signals;
  for (const Task& task : tasks) {
    std::string broken_start;
    if (!flags.broken_starts.empty()) {
      HONE_ASSIGN_OR_RETURN(broken_start, ReadSource(fmt::format("{}/{}.cu", flags.broken_starts, task.name)));
    }
    for (size_t i = 0; i < variants.size(); ++i) {
      const Variant& variant = variants[i];
      const std::string id = fmt::format("{}.{}.{}", flags.name, task.name, variant.label);
      const RunOptions& options = variant.options;
      Result<RunView> view = LoadRun(*store, id);
      if (view.ok()) {
        if (const std::string difference = DifferenceFromRequest(view->options, options, targets[i]);
            !difference.empty()) {
          return Status::InvalidArgument(fmt::format(
              "run {} is of another bench: {}; give this one a name of its own with --name", id, difference));
        }
        if (view->broken_start != (broken_start.empty() ? SourceHash() : SourceHash::Of(broken_start))) {
          return Status::InvalidArgument(fmt::format(
              "run {} begins with another version (--broken-starts); give this bench a name of its own with --name",
              id));
        }
      } else if (view.status().code() == StatusCode::kNotFound) {
        HONE_ASSIGN_OR_RETURN(std::vector<RememberedIdea> memory, MemoryFor(*store, task, evaluator->facts(), options));
        HONE_RETURN_IF_ERROR(StartRun(*store, task, evaluator->facts(), options, id, UnixSeconds(),
                                      base.prompts ? &*base.prompts : nullptr, kRunVersion, std::move(memory),
                                      broken_start)
                                 .status());
      } else {
        return view.status();
      }
      if (!view.ok() || !IsOver(*view)) {
        HONE_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy, MakeStrategy(variant.strategy));
        RunDependencies dependencies;
        dependencies.task = &task;
        dependencies.evaluator = evaluator.get();
        dependencies.store = store.get();
        dependencies.provider = provider.get();
        dependencies.strategy = strategy.get();
        dependencies.now = UnixSeconds;
        dependencies.stop = signals.token();
        dependencies.suspend = base.suspend;
        WaitingRun waits{id, {}};
        dependencies.waits = &waits.waits;
        view = ContinueRun(dependencies, id);
        if (view.status().code() == StatusCode::kPending) {
          waiting.push_back(std::move(waits));
          view = LoadRun(*store, id);
        }
        HONE_RETURN_IF_ERROR(view.status().WithContext(id));
      }
      outcomes.push_back(OutcomeOf(*view));
      outcomes.back().strategy = variant.label;
      if (!flags.device.json) {
        const RunOutcome& o = outcomes.back();
        Print("{:<22} {:<10} {:>8} in {} attempt{}, {}\n", o.task, o.strategy,
              o.waiting ? std::string("waiting") : fmt::format("{:.3f}x{}", o.speedup, o.over ? "" : "+"), o.attempts,
              o.attempts == 1 ? "" : "s", o.ended);
        std::fflush(stdout);
      }
      if (signals.token().stop_requested()) return Status::Cancelled("stopped; the same command goes on from here");
    }
  }
  const std::vector<StrategySummary> rows = SummarizeByStrategy(outcomes);
  if (flags.device.json) {
    nlohmann::json json = ReadJsonText(SummaryToJson(rows, outcomes));
    json["sandbox_warnings"] = evaluator->SandboxWarnings();
    json["warnings"] = warnings;
    if (flags.lot.take > 0) {
      json["lot"] = {{"seed", flags.lot.seed}, {"skip", flags.lot.skip}, {"of", flags.tasks.size()}, {"drawn", drawn}};
    }
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("\n{}\n{}", OutcomesTable(outcomes), SummaryTable(rows));
  }
  return WaitingStatus(waiting, outcomes.size(), base.models);
}

}  // namespace

void RegisterBenchCommand(CLI::App& app, CommandContext& context) {
  CLI::App* bench = app.add_subcommand("bench", "compare ways of looking for faster kernels");
  bench->require_subcommand(1);
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      bench->add_subcommand("strategies", "run each strategy on each of the tasks, with one model and one budget");
  command->add_option("tasks", flags->tasks, "names of tasks, or folders with a task.toml")->required();
  AddLotFlags(*command, flags->lot, "tasks");
  command
      ->add_option("--strategies", flags->strategies,
                   "which strategies to compare, separated by commas; by default all")
      ->delimiter(',');
  command
      ->add_option("--variant", flags->variants,
                   "compare one more variant, a strategy with settings of its own: "
                   "LABEL=STRATEGY[,NAME=NUMBER…][,target=cute]; may be repeated")
      ->allow_extra_args(false);
  command->add_option(
      "--broken-starts", flags->broken_starts,
      "start each task's runs from TASK.cu of this folder, which may be wrong (hone optimize --broken-start)");
  command
      ->add_option("--name", flags->name,
                   "the name of this bench, whose runs are called NAME.TASK.STRATEGY, or NAME.TASK.LABEL")
      ->capture_default_str();
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  RegisterKernelBenchCommand(*bench, context);
  AddRunFlags(*command, flags->run);
  CLI::Option* strategy = command->get_option("--strategy");
  strategy->description("refused here: --strategies and --variant name the strategies to compare");
  flags->strategy = strategy;
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = RunStrategies(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
