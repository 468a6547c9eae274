// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact inference: every neighbor counts, one layer at a time for every node that the wanted ones depend on.
#pragma once

#include <cstdint>
#include <span>

#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Arguments as of Predict, already checked.
Result<Predictions> PredictExact(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                 const PredictOptions& options, int threads);

// Bytes of the activations that PredictExact holds at a time for a graph of `num_nodes`, at most.
int64_t ExactActivationBytes(const Model<float>& model, int64_t num_nodes);

}  // namespace hone::gnn
