// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers the engine's questions about registered operations (hone/gnn/op.h): their kinds, and the place of a value's
// one.
#pragma once

#include <cstdint>
#include <string>

#include "hone/gnn/graph.h"
#include "hone/gnn/model_spec.h"
#include "hone/gnn/op.h"

namespace hone::gnn {

// Returns whether an operation computes rows from rows of neighbors. A registered operation's kind must be known.
bool ReadsNeighbors(const OperationSpec& operation);

// Returns whether a registered operation of this spec reads the features of edges, if the graph has them.
bool WantsEdgeFeatures(const ModelSpec& spec);
// Returns whether this operation does.
bool WantsEdgeFeatures(const OperationSpec& operation);
// Returns ModelOptions::edge_width of a model (`spec` null: a published one) for a graph.
int64_t EdgeWidthFor(const ModelSpec* spec, const Graph& graph);
// Checks that edges have features, `edge_width` of them, if an operation cannot do without. kInvalidArgument names the
// value and the remedy.
Status CheckEdgeFeatures(const ModelSpec& spec, int64_t edge_width);

// Returns all options of a value: those that its spec gives, and the defaults of the others.
OpOptions AllOptions(const OpKind& kind, const OwnSpec& own);

// Returns the context in which the operation is made. `parameters`: prefix of the parameters' names; `in` and `out`:
// columns of operand and value; `edge_width`: of the graph's edge features.
OpPlace PlaceOf(const OwnSpec& own, std::string parameters, int64_t in, int64_t out, int64_t edge_width,
                SpecShapes::DropKey key, uint64_t seed);

}  // namespace hone::gnn
