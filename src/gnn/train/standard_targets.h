// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Standardises the values of a graph for training, and warns of targets that cannot be learned or measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Completes the options of a new run for a graph. Sets loss and metric in place of kAuto (ForTargets), a pos_weight for
// each label, and, with `standardize`, target_means and target_scales. A column whose known values in the training
// split are equal, or that has none, gets the scale 1. Call this after ValidateTrainOptions.
TrainOptions CompleteForGraph(TrainOptions options, const Graph& graph);

// Returns the graph whose targets are those that training uses: standardised if options.target_means is not empty, else
// `graph` itself. The result shares everything else with `graph`, and takes memory for the targets.
std::shared_ptr<const Graph> WithTrainingTargets(std::shared_ptr<const Graph> graph, const TrainOptions& options);

// Returns sentences about a split in which no label or value is known, columns without a known target in the training
// split, and values that are far from standardised.
std::vector<std::string> TargetWarnings(const Graph& graph, const TrainOptions& options);

}  // namespace hone::gnn
