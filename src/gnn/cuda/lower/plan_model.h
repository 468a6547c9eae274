// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which program a model gets: one of a published model, or that of its spec.
#pragma once

#include <memory>
#include <vector>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// kInvalidArgument for what the engine's version of the model cannot do, naming it; nothing is allocated by then.
Result<std::unique_ptr<ModelPlan>> PlanModel(const ModelOptions& model);

// Envelope::fanouts of the model's batches, from what each of its hops draws.
std::vector<int32_t> EnvelopeFanouts(const ModelPlan& plan, std::vector<int32_t> fanouts);

}  // namespace hone::gnn::cuda
