// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads captured graphs back from the runtime that captured them.
//
// There are two implementations: read_cuda_graph.cc asks the GPU's driver, emulated/read_graph.cc the emulated runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <vector>

#include "gnn/cuda/dump/graph_text.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// `watch` sees every graph that this process instantiates from now on, on the thread that does; an empty function ends
// that. The engine has no part in it: on a GPU the program is linked so that the runtime's function is found here first.
void WatchGraphs(std::function<void(cudaGraph_t)> watch);

// The nodes in the order of their creation. kDevice with the driver's text where it cannot tell.
Result<std::vector<GraphNodeFacts>> ReadGraph(cudaGraph_t graph);

// The allocation of the device's or the host's that holds `address` and that the device can reach.
std::optional<MemoryRange> FindMemory(uint64_t address);

}  // namespace hone::gnn::cuda
