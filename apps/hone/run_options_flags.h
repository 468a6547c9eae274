// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the options of a run, which the commands that start runs share. Values come from a config file, and the
// command line overrides them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/model_options.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/strategy.h"
#include "tuner/agents/prompt_library.h"
#include "tuner/workbench/lot.h"

namespace hone {

struct RunFlags {
  ModelFlags models;
  RunOptions options;
  std::string config, prompts;
  std::vector<std::string> settings;  // --set, as given
  double minutes = 0;                 // --minutes: limit on the time of the run, resumes included; 0: none
  bool suspend = false, no_profile = false, no_seed_sweep = false, no_calls = false;
  // Functions that copy the options given on the command line over the config file's values.
  std::vector<std::function<void(RunOptions&)>> given;
  std::vector<const CLI::Option*> of_new_runs;  // options of new runs only; a continued run has its own from the log
};
void AddRunFlags(CLI::App& command, RunFlags& flags);

struct ResolvedRun {
  RunOptions options;
  ModelFlags models;
  bool suspend = false;
  std::optional<PromptLibrary> prompts;  // from the folder --prompts; nullopt: the embedded ones
};
// Reads the config file and the prompts' folder. Errors: kInvalidArgument and kNotFound, from the readers of the two.
Result<ResolvedRun> ResolveRunFlags(const RunFlags& flags);

// Returns kInvalidArgument if the user gave an option that a continued run would ignore, because its log has the value.
Status CheckResume(const RunFlags& flags);

// Checks that --suspend is used only with models that may take any time to answer.
Status CheckSuspend(bool suspend, const ModelFlags& models);

// Checks --target cute, which needs a judge that has CuTe, and a model that writes code: kUnavailable or
// kInvalidArgument with the remedy.
Status CheckTarget(const RunOptions& options, const Evaluator& evaluator);

// Sets the target `any` to `cuda` if the evaluator reports that CuTe is missing, so that the model is not asked for
// kernels that cannot be judged.
void AskForCudaIfCuteIsMissing(RunOptions& options, const Evaluator& evaluator);

// Prints on standard error what is assumed of judges on other machines, if anything is (Evaluator::Assumed), and
// returns it as warnings for --json.
std::vector<std::string> TellAssumed(const Evaluator& evaluator);

// Checks --max-cost, which needs prices. kInvalidArgument, with the models and the remedy, if no reply's cost will ever
// be known. Otherwise returns a warning sentence if the cost of some replies may be unknown, or an empty string.
Result<std::string> CheckCostLimit(const RunOptions& options, const ModelProvider& provider);

// Adds --lot, --lot-skip and --lot-seed, which draw the `what` ("tasks") of a bench by lot.
void AddLotFlags(CLI::App& command, Lot& lot, const std::string& what);

// Returns a table of every setting with default, range, meaning and source.
std::string SettingsTable();
std::string SettingsJson();

}  // namespace hone
