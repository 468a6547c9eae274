// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares SAGE-RI: GraphSAGE with residual connections, whose head reads the input and the output of every layer.
#pragma once

#include <memory>

#include "gnn/ops/elementwise.h"
#include "hone/gnn/model.h"

namespace hone::gnn {

struct SageRiPlan {
  Activation activation = Activation::kLeakyRelu;
  bool normalise = true;
  double dropout = 0.1;
};

template <typename T>
std::unique_ptr<Model<T>> MakeSageRi(const ModelOptions& options, const SageRiPlan& plan);

}  // namespace hone::gnn
