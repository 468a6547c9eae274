// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds the options of a run, shared by the commands that start runs: from a config file, overridden by the
// command line.
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
  ModelFlags models;
  RunOptions options;
  std::string config, prompts;
  std::vector<std::string> settings;  // --set, as given
  double minutes = 0;
  bool suspend = false, no_profile = false, no_seed_sweep = false, no_calls = false;
  // These functions copy values from the command line over those of the config file.
  std::vector<std::function<void(RunOptions&)>> given;
  std::vector<const CLI::Option*> of_new_runs;  // options that a continued run has already
};
void AddRunFlags(CLI::App& command, RunFlags& flags);

struct ResolvedRun {
  RunOptions options;
  ModelFlags models;
  bool suspend = false;
  std::optional<PromptLibrary> prompts;  // --prompts; none: the embedded ones
};
// Reads the config file and the prompts' folder. kInvalidArgument and kNotFound come from their readers.
Result<ResolvedRun> ResolveRunFlags(const RunFlags& flags);

// Returns kInvalidArgument where an option was given that a continued run has from its beginning, and would ignore.
Status CheckResume(const RunFlags& flags);

// Checks that --suspend is used only with models that may take any time to answer.
Status CheckSuspend(bool suspend, const ModelFlags& models);

// Checks --target cute, which needs a judge that has CuTe, and a model that writes code: kUnavailable or
// kInvalidArgument with the remedy.
Status CheckTarget(const RunOptions& options, const Evaluator& evaluator);

// Turns `any` into `cuda` where the evaluator reports that CuTe is missing, so that the model knows before anything is
// judged.
void SettleTarget(RunOptions& options, const Evaluator& evaluator);

// Checks --max-cost, which needs prices. kInvalidArgument when no reply's cost will ever be known, with the models and
// the remedy; otherwise returns a warning sentence when some replies may have none, or an empty one.
Result<std::string> CheckCostLimit(const RunOptions& options, const ModelProvider& provider);

// Returns a table of every setting with default, range, meaning and source.
std::string SettingsTable();
std::string SettingsJson();

}  // namespace hone
