// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/run_options_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/json_fields.h"
#include "common/standard_output.h"
#include "tuner/strategies/config_file.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

// Adds an option for a field of RunOptions; when it is given, it overrides the config file.
template <typename Field>
void AddField(CLI::App& command, RunFlags& flags, const char* name, Field RunOptions::*field, const char* meaning) {
  CLI::Option* option = command.add_option(name, flags.options.*field, meaning)->capture_default_str();
  flags.of_new_runs.push_back(option);
  flags.given.push_back([&flags, option, field](RunOptions& options) {
    if (option->count() > 0) options.*field = flags.options.*field;
  });
}

// Refuses values that no run can use, whether from the file or the command line. JSON has no NaN: a run stored with one
// could not be read again.
Status CheckRunOptions(const RunOptions& o) {
  struct Bound {
    const char* name;
    double value, least, most;
  };
  if (o.target != "any" && o.target != "cuda" && o.target != "cute") {
    return Status::InvalidArgument(
        fmt::format("--target (in a config file target) is '{}': write any, cuda or cute", o.target));
  }
  constexpr double kAny = 1e15;  // the bound of options without one
  for (const Bound& b : {
           Bound{"attempts", static_cast<double>(o.max_attempts), 1, kAny},
           Bound{"parallel", static_cast<double>(o.parallel), 1, 256},
           Bound{"minutes", o.max_seconds / 60, 0, kAny},
           Bound{"max-tokens", static_cast<double>(o.max_tokens), 0, kAny},
           Bound{"max-cost", o.max_cost_usd, 0, kAny},
           Bound{"keep-above", o.keep_above, 0, kAny},
           Bound{"floor-fraction", o.floor_fraction, 0, kAny},
           Bound{"sweep-points", static_cast<double>(o.max_sweep_points), 0, kAny},
           Bound{"request-limit", o.request_limit_seconds, 1e-3, kAny},
           Bound{"request-tokens", static_cast<double>(o.request_max_tokens), 1, kAny},
           Bound{"temperature", o.temperature, 0, 100},
       }) {
    if (b.value >= b.least && b.value <= b.most) continue;
    std::string in_file = b.name;
    std::replace(in_file.begin(), in_file.end(), '-', '_');
    return Status::InvalidArgument(fmt::format("--{0} (in a config file {1}) is {2:g}: write {3:g} {4}", b.name,
                                               in_file, b.value, b.least,
                                               b.most < kAny ? fmt::format("to {:g}", b.most) : "or more"));
  }
  return Status::Ok();
}

}  // namespace

void AddRunFlags(CLI::App& command, RunFlags& flags) {
  AddModelFlags(command, flags.models);
  AddField(command, flags, "--strategy", &RunOptions::strategy,
           "how to search (docs/strategies.md explains each): refine, team, tree, sample, reflexion, single, funnel, reckon or "
           "agent");
  AddField(command, flags, "--target", &RunOptions::target,
           "the language of kernels: any, cuda (CuTe is refused) or cute (everything but CuTe is refused)");
  AddField(command, flags, "--attempts", &RunOptions::max_attempts, "the run ends after so many proposals, or earlier if the strategy has finished (refine.depth, team.rounds, single.rounds)");
  CLI::Option* minutes =
      command
          .add_option("--minutes", flags.minutes,
                      "the run ends after so many minutes of work, those before a --resume included; 0: no limit")
          ->capture_default_str();
  flags.given.push_back([&flags, minutes](RunOptions& options) {
    if (minutes->count() > 0) options.max_seconds = 60 * flags.minutes;
  });
  AddField(command, flags, "--max-tokens", &RunOptions::max_tokens,
           "the run ends after so many tokens, of requests and replies together; 0: no limit");
  AddField(command, flags, "--max-cost", &RunOptions::max_cost_usd,
           "the run ends after so many US dollars; 0: no limit");
  AddField(command, flags, "--parallel", &RunOptions::parallel, "how many attempts are under way at a time");
  CLI::Option* rounds = command.add_flag(
      "--rounds", flags.options.rounds,
      "work in rounds: start --parallel attempts at once, and the next ones when all of these are judged");
  CLI::Option* blind = command.add_flag("--blind-start", flags.options.blind_start,
                                        "start the first attempts before the verdict on the seed is there");
  CLI::Option* no_profile =
      command.add_flag("--no-profile", flags.no_profile,
                       "do not profile versions; prompts then do not tell the model where the time goes");
  CLI::Option* no_seed_sweep = command.add_flag("--no-seed-sweep", flags.no_seed_sweep,
                                                "do not try values for the seed's tunables before the first attempt");
  CLI::Option* no_calls =
      command.add_flag("--no-calls", flags.no_calls, "refuse proposals that call a library, such as cuBLAS");
  CLI::Option* libraries =
      command.add_flag("--libraries", flags.options.libraries,
                       "at the end, on a GPU, also time the libraries that the task's baseline.toml names");
  CLI::Option* suspend = command.add_flag(
      "--suspend", flags.suspend,
      "with --model mailbox:DIR: write all requests and end with status 4 instead of waiting for the answers; go on "
      "when they are there; implies --rounds");
  flags.given.push_back(
      [&flags, rounds, blind, suspend, no_profile, no_seed_sweep, no_calls, libraries](RunOptions& options) {
        if (rounds->count() > 0 || suspend->count() > 0) options.rounds = true;
        if (blind->count() > 0) options.blind_start = flags.options.blind_start;
        if (no_profile->count() > 0) options.profile = false;
        if (no_seed_sweep->count() > 0) options.sweep_seed = false;
        if (no_calls->count() > 0) options.calls = false;
        if (libraries->count() > 0) options.libraries = true;
      });
  const std::vector<const CLI::Option*> more = {
      minutes,
      rounds,
      blind,
      no_profile,
      no_seed_sweep,
      no_calls,
      libraries,
      command
          .add_option("--set", flags.settings,
                      "change a number of a strategy, such as refine.depth=4 (hone optimize --settings lists them); "
                      "may be repeated")
          ->allow_extra_args(false),
      command.add_option(
          "--config", flags.config,
          "read options of this command from a TOML file (docs/strategies.md); options on the command line win"),
      command.add_option("--prompts", flags.prompts,
                         "take prompts from a folder whose NAME.md files replace the built-in ones"),
  };
  flags.of_new_runs.insert(flags.of_new_runs.end(), more.begin(), more.end());
  AddField(command, flags, "--run-seed", &RunOptions::seed, "the seed of the strategy's random draws");
  AddField(
      command, flags, "--keep-above", &RunOptions::keep_above,
      "keep a version only if it is faster than the best one by more than this share, and measurement noise cannot "
      "explain that: 0.005 is half a per cent");
  AddField(command, flags, "--floor-fraction", &RunOptions::floor_fraction,
           "stop when every shape runs at this share of the floor's speed (the floor: a kernel that only reads and "
           "writes the same bytes); 0: never stop for this reason");
  AddField(command, flags, "--sweep-points", &RunOptions::max_sweep_points,
           "how many choices of values for its tunables (bindings) are tried for each version, at most; 0: none");
  AddField(command, flags, "--request-limit", &RunOptions::request_limit_seconds,
           "give up a model's answer after so many seconds, retries included; stored with the run, for --resume");
  AddField(command, flags, "--request-tokens", &RunOptions::request_max_tokens, "how many tokens one answer may have");
  AddField(command, flags, "--temperature", &RunOptions::temperature,
           "the model's temperature, where the strategy sets none");
}

Result<ResolvedRun> ResolveRunFlags(const RunFlags& flags) {
  RunConfig config;
  if (!flags.config.empty()) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(flags.config, 1 << 20));
    HONE_ASSIGN_OR_RETURN(config, ParseRunConfig(text, flags.config));
  }
  ResolvedRun run;
  run.options = std::move(config.options);
  for (const auto& copy : flags.given) copy(run.options);
  for (const std::string& setting : flags.settings) HONE_RETURN_IF_ERROR(PutSettingText(run.options, setting));
  run.models = flags.models;
  if (run.models.models.empty()) run.models.models = std::move(config.models);
  run.options.model = ModelSpecification(run.models);
  // A coding agent works with one strategy only, so naming it as the model also chooses the strategy.
  const bool of_agent = run.models.models.size() == 1 && run.models.models.front().starts_with("agent:");
  const bool names_run_option =
      std::any_of(flags.of_new_runs.begin(), flags.of_new_runs.end(),
                  [](const CLI::Option* o) { return o->count() > 0 && o->check_lname("strategy"); });
  if (of_agent && !names_run_option && run.options.strategy == RunOptions().strategy) run.options.strategy = "agent";
  run.suspend = flags.suspend || config.suspend;
  if (run.suspend) run.options.rounds = true;
  HONE_RETURN_IF_ERROR(CheckSuspend(run.suspend, run.models));
  HONE_RETURN_IF_ERROR(CheckRunOptions(run.options));
  // The builtin model's mechanical rewrites end by themselves and repair nothing. Limits on steps, and repairs, would
  // only stop them early.
  if (run.options.model == "builtin") {
    for (const char* name :
         {"refine.depth", "refine.fixes", "team.fixes", "team.rounds", "team.cases", "single.rounds"}) {
      run.options.settings.emplace(name, 0);
    }
    run.options.settings.emplace("tree.bind", 0);  // its plans name no regions, so that they could bind no coder
    run.options.profile = false;                   // it reads no prompts
  }
  const std::string& folder = flags.prompts.empty() ? config.prompts : flags.prompts;
  if (!folder.empty()) {
    HONE_ASSIGN_OR_RETURN(run.prompts, PromptLibrary::WithFolder(folder));
  }
  return run;
}

Status CheckResume(const RunFlags& flags) {
  for (const CLI::Option* option : flags.of_new_runs) {
    if (option->count() == 0) continue;
    return Status::InvalidArgument(
        fmt::format("{} cannot be given with --resume: a run goes on with the options that it began with; leave it "
                    "out, or start a new run",
                    option->get_name()));
  }
  return Status::Ok();
}

Status CheckSuspend(bool suspend, const ModelFlags& models) {
  if (!suspend) return Status::Ok();
  for (const std::string& model : models.models) {
    if (model.starts_with("agent:") || model.starts_with("agent=agent:")) {
      return Status::InvalidArgument(
          "--suspend cannot be kept with agent:COMMAND: an agent works only while the run does");
    }
  }
  for (const std::string& model : models.models) {
    if (model.find("mailbox:") != std::string::npos) return Status::Ok();
  }
  return Status::InvalidArgument("--suspend is for models that are answered by hand: --model mailbox:DIR");
}

Status CheckTarget(const RunOptions& options, const Evaluator& evaluator) {
  if (options.target != "cute") return Status::Ok();
  if (options.model == "builtin") {
    return Status::InvalidArgument(
        "--target cute needs a language model that writes a first version in CuTe (--model …): the mechanical rewrites "
        "only change what is there");
  }
  return evaluator.CanInclude("cute").WithContext("--target cute");
}

void AskForCudaIfCuteIsMissing(RunOptions& options, const Evaluator& evaluator) {
  if (options.target == "any" && !evaluator.CanInclude("cute").ok()) options.target = "cuda";
}

std::vector<std::string> TellAssumed(const Evaluator& evaluator) {
  const std::string assumed = evaluator.Assumed();
  if (assumed.empty()) return {};
  PrintError("hone: {}\n", assumed);
  return {assumed};
}

Result<std::string> CheckCostLimit(const RunOptions& options, const ModelProvider& provider) {
  const std::string caveat = provider.CostCaveat();
  if (options.max_cost_usd <= 0 || caveat.empty()) return std::string();
  if (!provider.PricesReplies()) {
    return Status::InvalidArgument(fmt::format(
        "--max-cost {:g} cannot be kept: {}. Give prices in a file with --prices FILE (docs/models.md, "
        "\"Prices\"; for openai: and anthropic: models), or bound the run with --max-tokens, --attempts or --minutes",
        options.max_cost_usd, caveat));
  }
  return fmt::format(
      "--max-cost {:g} holds only while costs are known ({}); the run ends at the first reply without one",
      options.max_cost_usd, caveat);
}

void AddLotFlags(CLI::App& command, Lot& lot, const std::string& what) {
  CLI::Option* take = command.add_option("--lot", lot.take, "draw so many of the " + what + " by lot; 0: take all")
                          ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
                          ->capture_default_str();
  command.add_option("--lot-seed", lot.seed, "with --lot: the lot's seed; the same one always draws the same " + what)
      ->needs(take)
      ->capture_default_str();
  command
      .add_option("--lot-skip", lot.skip,
                  "with --lot: leave out so many that the lot draws first, for a second set that has none of the first")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
      ->needs(take)
      ->capture_default_str();
}

std::string SettingsTable() {
  std::string text;
  for (const Setting& setting : AllSettings()) {
    text +=
        fmt::format("{:<36} {:>7g}  {}\n{:<46}{}\n", setting.name, setting.value, setting.meaning, "", setting.source);
  }
  return text;
}

std::string SettingsJson() {
  nlohmann::json settings = nlohmann::json::array();
  for (const Setting& s : AllSettings()) {
    settings.push_back({{"name", s.name},
                        {"default", s.value},
                        {"least", s.low},
                        {"most", s.high},
                        {"meaning", s.meaning},
                        {"source", s.source}});
  }
  return DumpJson(nlohmann::json{{"settings", settings}}, 2) + "\n";
}

}  // namespace hone
