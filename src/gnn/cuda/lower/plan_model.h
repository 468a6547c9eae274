// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses a model's program: that of a published model, or one made from the model's spec.
#pragma once

#include <memory>
#include <vector>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// Plans the program, before anything is allocated. kInvalidArgument names what the engine's version of the model does
// not support.
Result<std::unique_ptr<ModelPlan>> PlanModel(const ModelOptions& model);

// Returns Envelope::fanouts for the model's batches, given the fanout of each hop.
std::vector<int32_t> EnvelopeFanouts(const ModelPlan& plan, std::vector<int32_t> fanouts);

}  // namespace hone::gnn::cuda
