// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks of the options of a run against its graph and model, and their form in a checkpoint.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "hone/gnn/trainer.h"

namespace hone::gnn {

// kInvalidArgument names the option (as the command line spells it), its value, and what would do.
Status ValidateTrainOptions(const TrainOptions& options, const ModelOptions& model, const Graph& graph);

nlohmann::json TrainOptionsToJson(const TrainOptions& options);
Result<TrainOptions> TrainOptionsFromJson(std::string_view text, std::string_view what);

std::string_view FrontierName(FrontierRule rule);  // "all", "new"
Result<FrontierRule> ParseFrontier(std::string_view name);
std::string_view ScheduleName(Schedule schedule);  // "constant", "cosine", "step", "validation"
Result<Schedule> ParseSchedule(std::string_view name);

}  // namespace hone::gnn
