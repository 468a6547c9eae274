// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements OpenGraph, for names of synthetic graphs and paths of containers.
#include "hone/gnn/graph.h"

#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace hone::gnn {

Result<std::shared_ptr<const Graph>> OpenGraph(const std::string& name, const OpenGraphOptions& options) {
  return IsSyntheticName(name) ? MakeSyntheticGraph(name, options) : OpenContainer(name, options);
}

}  // namespace hone::gnn
