// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the engine asks of registered operations (hone/gnn/op.h): which are there, and for what a value makes one.
#pragma once

#include <cstdint>
#include <string>

#include "hone/gnn/model_spec.h"
#include "hone/gnn/op.h"

namespace hone::gnn {

// Returns whether an operation makes rows from rows of neighbors. A kind must be registered.
bool ReadsNeighbors(const OperationSpec& operation);

// The options of a value, those that its spec does not give with their usual values.
OpOptions AllOptions(const OpKind& kind, const OwnSpec& own);

// `parameters`: prefix of the parameters' names; `in` and `out`: columns.
OpPlace PlaceOf(const OwnSpec& own, std::string parameters, int64_t in, int64_t out, SpecShapes::DropKey key,
                uint64_t seed);

}  // namespace hone::gnn
