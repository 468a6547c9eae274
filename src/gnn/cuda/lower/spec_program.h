// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans the program of any ModelSpec that is not a published model's: each operation runs by its own kernels.
#pragma once

#include <memory>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// Plans the program of a model whose options have a spec, before anything is allocated. kInvalidArgument as
// CheckModelSpec returns it, and for an operation that has no form for a GPU, with the remedy.
Result<std::unique_ptr<ModelPlan>> PlanSpecModel(const ModelOptions& model);

}  // namespace hone::gnn::cuda
