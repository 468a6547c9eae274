// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads captured graphs back from the runtime that captured them.
//
// There are two implementations: read_cuda_graph.cc asks the GPU's driver, emulated/graph.cc the emulated runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <vector>

#include "gnn/cuda/dump/graph_text.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// Calls `watch` for every graph that this process instantiates from now on, on the instantiating thread. An empty
// function ends the watching. The engine is not involved: on a GPU the program is linked so that this file's wrapper of
// cudaGraphInstantiate is found first.
void WatchGraphs(std::function<void(cudaGraph_t)> watch);

// Returns the nodes in the order of their creation; kDevice, with the driver's text, if the driver cannot read them.
Result<std::vector<GraphNodeFacts>> ReadGraph(cudaGraph_t graph);

// Finds the device or host allocation that holds `address` and that the device can reach.
std::optional<MemoryRange> FindMemory(uint64_t address);

}  // namespace hone::gnn::cuda
