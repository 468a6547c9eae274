// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes warnings about a loaded model that a person should read before trusting its predictions.
#pragma once

#include <string>
#include <vector>

#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Warns, in sentences, of a checkpoint file whose numbers have no checksum.
std::vector<std::string> CheckpointWarnings(const LoadedModel& loaded);

// Returns one sentence, or nothing. A model that adds up its neighbors' rows (gin, or sage with --aggregation sum) was
// trained on samples, and `predict` asks for all neighbors of some hop: its sums are then larger than any in training.
std::string SumsWarning(const LoadedModel& loaded, const PredictOptions& predict);

void WarnOnStderr(const std::string& sentence);

}  // namespace hone::gnn
