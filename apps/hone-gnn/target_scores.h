// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file shows how right predictions of several labels or values a node are, over all columns and for each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "hone/gnn/metrics.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Counts the predictions for `nodes` of a graph with targets.
TargetCounts CountTargets(const Graph& graph, std::span<const NodeId> nodes, const Predictions& outputs);

// Returns the object `targets` of `infer --json`.
nlohmann::json TargetScoresJson(const Graph& graph, const TargetCounts& counts);

// Prints a line or two over all columns, and a table with a row for each column if there are several.
void PrintTargetScores(const Graph& graph, const TargetCounts& counts);

}  // namespace hone::gnn
