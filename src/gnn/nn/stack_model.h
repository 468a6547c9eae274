// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares a stack of layers with operations between them, which GraphSAGE, GAT, GIN and a user's own stack have in
// common.
//
// After every layer except the last come normalisation, activation and dropout, in this order, if the plan has them.
// After the last layer comes the head, if there is one: Linear, activation, dropout, Linear.
#pragma once

#include <memory>
#include <vector>

#include "gnn/nn/modules.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/elementwise.h"
#include "hone/gnn/model.h"

namespace hone::gnn {

struct StackPlan {
  Activation between = Activation::kRelu;  // kIdentity: no activation between the layers
  bool normalise_between = false;
  double dropout_between = 0;
  bool head = false;  // lin1 [hidden, width of the last layer], lin2 [num_classes, hidden]
  Activation head_activation = Activation::kRelu;
  double head_dropout = 0;
};

template <typename T>
std::unique_ptr<Model<T>> MakePlannedStack(const ModelOptions& options, const StackPlan& plan,
                                           std::vector<std::unique_ptr<Layer<T>>> layers);

// Checks that the options describe a published model; kInvalidArgument names the wrong option.
Status CheckPublished(const ModelOptions& options);

// Parses an activation's name in ModelOptions; returns `fallback` if the name is empty.
Result<Activation> ParseActivation(const std::string& name, Activation fallback);

}  // namespace hone::gnn
