// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a person should know of a loaded model before trusting its predictions.
#pragma once

#include <string>
#include <vector>

#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Sentences about the file: that nothing guards its numbers.
std::vector<std::string> CheckpointWarnings(const LoadedModel& loaded);

// One sentence, or nothing: a model that adds up its neighbors' rows (gin, or sage with --aggregation sum) was trained
// on samples, and `predict` asks for all neighbors of some hop. Its sums are then larger than any that it was trained
// on.
std::string SumsWarning(const LoadedModel& loaded, const PredictOptions& predict);

void WarnOnStderr(const std::string& sentence);

}  // namespace hone::gnn
