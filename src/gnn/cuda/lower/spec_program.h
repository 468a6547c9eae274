// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What any ModelSpec becomes where no program of a published model is for it: each operation by kernels of its own.
#pragma once

#include <memory>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// Plans the program of a model whose options have a spec. kInvalidArgument as CheckModelSpec returns it, and for an
// operation that has no form for a GPU, with the remedy; nothing is allocated by then.
Result<std::unique_ptr<ModelPlan>> PlanSpecModel(const ModelOptions& model);

}  // namespace hone::gnn::cuda
