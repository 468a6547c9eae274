// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds the options of every subcommand that trains or predicts, and their common printing.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gnn/dist/agreement.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Parses "15,10,5" or "all,all": one fanout per layer, the first next to the seeds. "all" alone stands for as many as
// the model has `layers`. kInvalidArgument names `option`.
Result<std::vector<int32_t>> ParseFanouts(std::string_view option, const std::string& text, int layers);

// The values of --model, --hidden and the other options that describe a model. `layers` 0: not given.
struct ModelFlags {
  ModelOptions options;
  int layers = 0;
  std::vector<CLI::Option*> all;
};
std::vector<CLI::Option*> AddModelFlags(CLI::App& command, ModelFlags& flags);
// If --model names a file, reads its spec into `options`. kInvalidArgument for a value that both the file and a flag
// give. Call this before anything that depends on `layers`.
Status ReadModelFile(ModelFlags& flags);

// The values of all options that decide a run's trajectory.
struct TrainFlags {
  ModelFlags model;
  TrainOptions train;
  std::string fanout, eval_fanout, frontier = "all", class_weights, pos_weight, metric = "auto", loss = "auto",
                                   schedule = "constant";
  std::string preset;                 // presets.h; empty: none
  const CLI::App* command = nullptr;  // the command that has these options
};
// Adds the options and returns all of them, because a resumed run must refuse every one.
std::vector<CLI::Option*> AddTrainFlags(CLI::App& command, TrainFlags& flags);
// Parses the texts of `flags` into flags.train. The number of layers follows from --fanout or --layers, whichever is
// given.
Status CompleteTrainFlags(TrainFlags& flags);

// Appends the options as their flags spell them, for ranks to compare.
void AppendSettings(const TrainFlags& flags, std::vector<Setting>& settings);

// Returns a number, or null where the value is not finite.
nlohmann::json NumberOrNull(double value);
// Returns the value of a metric as text: a percentage, or a number where smaller is better; "-": not measured.
std::string MetricText(Metric metric, double value);
// Returns "71.23 %", or "-" where the share is no number.
std::string PercentText(double share);

}  // namespace hone::gnn
