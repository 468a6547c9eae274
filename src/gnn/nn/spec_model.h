// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Interprets a spec on the CPU: Forward runs the spec's values in order, and Backward is derived from them.
#pragma once

#include <memory>

#include "hone/gnn/model.h"

namespace hone::gnn {

// Makes the model. options.spec is set, and in_width, num_classes and edge_width are those of the graph.
// kInvalidArgument: the errors of CheckModelSpec, and an operation that needs edge features which the graph lacks.
template <typename T>
Result<std::unique_ptr<Model<T>>> MakeSpecModel(const ModelOptions& options);

}  // namespace hone::gnn
