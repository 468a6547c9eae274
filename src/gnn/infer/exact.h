// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs exact inference: all neighbors are used, one layer at a time, for every node on which the requested nodes
// depend.
#pragma once

#include <cstdint>
#include <span>

#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Predicts from all neighbors. The arguments are those of Predict, which has checked them.
Result<Predictions> PredictExact(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                 const PredictOptions& options, int threads);

// Returns an upper bound of the bytes of activations that PredictExact holds for a graph of `num_nodes`.
int64_t ExactActivationBytes(const Model<float>& model, int64_t num_nodes);

}  // namespace hone::gnn
