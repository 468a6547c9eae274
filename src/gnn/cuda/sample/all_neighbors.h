// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces "all neighbors" (kAllNeighbors, hone/gnn/neighbor_sampler.h) by a fanout for the GPU engine, whose rows have
// a fixed number of slots. The fanout is the graph's largest degree, so every row takes all of its neighbors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gnn/cuda/base/batch_layout.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

bool AsksForAll(std::span<const int32_t> fanouts);
// Returns `fanouts` with each kAllNeighbors replaced by `largest_degree` (1 if no node has a neighbor).
std::vector<int32_t> WithAllNeighbors(std::span<const int32_t> fanouts, int32_t largest_degree);

int32_t LargestDegree(const CsrView& graph);
// Finds the largest degree on the device, and waits for the result.
Result<int32_t> LargestDegree(const GraphOnDevice& graph);
// Returns the largest degree of a graph that is not open, `name` being its source: reads it from a container; for a
// synthetic graph, returns the upper bound of its degrees.
Result<int32_t> LargestDegreeOf(const std::string& name);

}  // namespace hone::gnn::cuda
