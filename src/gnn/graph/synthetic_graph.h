// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic graphs as a whole: in memory, or straight into a container.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// The graph called `name` ("synthetic:…"), in anonymous huge pages.
Result<std::shared_ptr<const Graph>> MakeSyntheticGraph(const std::string& name, const OpenGraphOptions& options);

// The same graph without its edges and features, for whoever generates those elsewhere (a GPU, in its own memory): name,
// num_nodes, labels, splits, and the features' width, dtype and stride are as in the whole graph; row offsets and columns
// are empty and features().rows is null.
Result<std::shared_ptr<const Graph>> OutlineSyntheticGraph(const std::string& name, int threads = 0);

// The same graph written to `path` without ever being in memory as a whole: row offsets, 4 bytes for each global slot
// and one region's columns are.
Status GenerateContainer(const std::string& name, const std::string& path, int threads, const GraphProgress& progress);

}  // namespace hone::gnn
