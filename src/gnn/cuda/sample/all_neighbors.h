// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What "all neighbors" (kAllNeighbors, hone/gnn/neighbor_sampler.h) is to the GPU engine: as many slots a row as the
// largest degree, for a hop's rows have a fixed stride of slots. No row is longer, so nothing is drawn.
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
// `fanouts` with `largest_degree` (1 where nobody has a neighbor) in the place of each kAllNeighbors.
std::vector<int32_t> WithAllNeighbors(std::span<const int32_t> fanouts, int32_t largest_degree);

int32_t LargestDegree(const CsrView& graph);
// On the device; waits for it.
Result<int32_t> LargestDegree(const GraphOnDevice& graph);
// Of a graph that is not open: a container's is read, a synthetic one's is the bound that its degrees are drawn below.
Result<int32_t> LargestDegreeOf(const std::string& name);

}  // namespace hone::gnn::cuda
