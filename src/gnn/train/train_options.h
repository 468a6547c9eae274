// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the options of a run against its graph and model, and converts them to and from a checkpoint.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Checks the options. kInvalidArgument names the option as on the command line, its value, and what is allowed.
Status ValidateTrainOptions(const TrainOptions& options, const ModelOptions& model, const Graph& graph);

// Convert to and from the JSON that a checkpoint holds.
nlohmann::json TrainOptionsToJson(const TrainOptions& options);
Result<TrainOptions> TrainOptionsFromJson(std::string_view text, std::string_view what);

std::string_view FrontierName(FrontierRule rule);  // "all", "new"
Result<FrontierRule> ParseFrontier(std::string_view name);
std::string_view ScheduleName(Schedule schedule);  // "constant", "cosine", "step", "validation"
Result<Schedule> ParseSchedule(std::string_view name);

// Returns the options with the loss and the metric for this kind of targets in place of kAuto.
TrainOptions ForTargets(TrainOptions options, TargetKind kind);

}  // namespace hone::gnn
