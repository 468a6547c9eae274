// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes whole synthetic graphs, in memory or directly in a container.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Makes the graph called `name` ("synthetic:…"), in anonymous huge pages.
Result<std::shared_ptr<const Graph>> MakeSyntheticGraph(const std::string& name, const OpenGraphOptions& options);

// Makes the same graph without edges and features, for callers that generate those elsewhere (a GPU, in its own
// memory): name, num_nodes, labels, splits, and the features' width, dtype and stride are as in the whole graph; row
// offsets and columns are empty and features().rows is null.
Result<std::shared_ptr<const Graph>> OutlineSyntheticGraph(const std::string& name, int threads = 0);

// Writes the same graph to `path` without holding all of it in memory: only row offsets, 4 bytes per global slot and
// one region's columns are.
Status GenerateContainer(const std::string& name, const std::string& path, int threads, const GraphProgress& progress);

}  // namespace hone::gnn
