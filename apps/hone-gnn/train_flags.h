// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of every subcommand that trains or predicts, and what they share in printing.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gnn/dist/agreement.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// "15,10,5" or "all,all": one entry a layer, first next to the seeds; "all" alone stands for as many as the model has
// `layers`. kInvalidArgument names `option`.
Result<std::vector<int32_t>> ParseFanouts(std::string_view option, const std::string& text, int layers);

// --model, --hidden and what else makes a model. `layers` 0: not given.
struct ModelFlags {
  ModelOptions options;
  int layers = 0;
  std::vector<CLI::Option*> all;
};
std::vector<CLI::Option*> AddModelFlags(CLI::App& command, ModelFlags& flags);
// Where --model names a file: reads it, and `options` are of its spec. kInvalidArgument for what the file says and a flag
// says too. Called before what follows from `layers`.
Status ReadModelFile(ModelFlags& flags);

// Everything that decides a trajectory.
struct TrainFlags {
  ModelFlags model;
  TrainOptions train;
  std::string fanout, eval_fanout, frontier = "all", class_weights, metric = "accuracy", schedule = "constant";
};
// All of them are returned: a resumed run must not be given any.
std::vector<CLI::Option*> AddTrainFlags(CLI::App& command, TrainFlags& flags);
// Lays the texts out into options: the number of layers follows from --fanout or --layers, whichever is given.
Status CompleteTrainFlags(TrainFlags& flags);

// The options as their flags spell them, for ranks to compare.
void AppendSettings(const TrainFlags& flags, std::vector<Setting>& settings);

// A number, or null where it is none.
nlohmann::json NumberOrNull(double value);
// "71.23 %", or "-" where it is none.
std::string PercentText(double share);

}  // namespace hone::gnn
