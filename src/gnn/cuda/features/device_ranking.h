// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the rankings of cache_ranking.h on the device, from the structure that is already there. A graph of three
// billion slots is ranked in less time than the host needs to read it once.
//
// Counts equal the host's to the bit. Probabilities are rounded by the device's log1p and expm1, so nodes whose
// probabilities differ only in the last bits may change places.
#pragma once

#include <cstdint>
#include <span>

#include "gnn/cuda/features/cache_ranking.h"
#include "gnn/cuda/graph/device_graph.h"

namespace hone::gnn::cuda {

// Returns [num_nodes] what InclusionProbabilities (cache_ranking.h) returns, up to rounding.
Result<DeviceArray<double>> InclusionOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                           const BatchShape& shape, bool symmetric);

// Returns [num_nodes] the number of batches of epochs first_epoch … first_epoch + epochs - 1 that read the row, as
// CountInclusions counts them.
Result<DeviceArray<uint32_t>> CountReadsOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, uint32_t first_epoch, int epochs);

// Returns the storage.cache_rows likeliest nodes by the storage's ranking, in ascending order, as LikeliestRows does.
Result<DeviceArray<int32_t>> LikeliestOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                            const BatchShape& shape, const FeatureStorage& storage, bool symmetric);

// Counts the rows that an epoch's batches read, and how many of these reads the cache serves. A row that a batch has
// staged, or has left staged, is not a hit.
Result<CacheReads> CountCacheReads(const DeviceGraph& graph, std::span<const NodeId> train, const BatchShape& shape,
                                   uint32_t epoch);

}  // namespace hone::gnn::cuda
