// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of a run, shared by the commands that start runs: from a config file, and over it from the command line.
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

namespace hone {

struct RunFlags {
  ModelOptions models;
  RunOptions options;
  std::string config, prompts;
  std::vector<std::string> settings;  // --set, as given
  double minutes = 0;
  bool suspend = false, no_profile = false, no_seed_sweep = false, no_calls = false;
  // Copies what was given on the command line over what the config file said.
  std::vector<std::function<void(RunOptions&)>> given;
  std::vector<const CLI::Option*> of_new_runs;  // what a run that goes on has already
};
void AddRunFlags(CLI::App& command, RunFlags& flags);

struct ResolvedRun {
  RunOptions options;
  ModelOptions models;
  bool suspend = false;
  std::optional<PromptLibrary> prompts;  // --prompts; none: the embedded ones
};
// Reads the config file and the prompts' folder. kInvalidArgument and kNotFound as their readers give them.
Result<ResolvedRun> ResolveRunFlags(const RunFlags& flags);

// kInvalidArgument where an option was given that a run which goes on has from its beginning, and would not take.
Status CheckResume(const RunFlags& flags);

// --suspend makes sense where somebody answers in his own time.
Status CheckSuspend(bool suspend, const ModelOptions& models);

// --target cute needs a judge that has CuTe, and a model that writes: kUnavailable or kInvalidArgument with the remedy.
Status CheckTarget(const RunOptions& options, const Evaluator& evaluator);

// `any` becomes `cuda` where the evaluator says that CuTe is missing, so that a model is told before anything is judged.
void SettleTarget(RunOptions& options, const Evaluator& evaluator);

// --max-cost needs prices. kInvalidArgument when no reply's cost will ever be known, naming the models and the remedy;
// else a sentence to warn with when some replies may have none, or an empty one.
Result<std::string> CheckCostLimit(const RunOptions& options, const ModelProvider& provider);

// Every setting with default, range, meaning and source.
std::string SettingsTable();
std::string SettingsJson();

}  // namespace hone
