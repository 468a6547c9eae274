// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rankings of cache_ranking.h, computed on the device from the structure that is there anyway: a graph of three
// billion slots is ranked in less time than the host needs to read it once.
//
// Counts are the host's to the bit. Probabilities are rounded by the device's log1p and expm1, so that nodes that are
// equally likely but for the last bits may change places.
#pragma once

#include <cstdint>
#include <span>

#include "gnn/cuda/features/cache_ranking.h"
#include "gnn/cuda/graph/device_graph.h"

namespace hone::gnn::cuda {

// [num_nodes] as InclusionProbabilities.
Result<DeviceArray<double>> InclusionOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                           const BatchShape& shape, bool symmetric);

// [num_nodes] batches of epochs first_epoch … first_epoch + epochs - 1 that read the row, as CountInclusions counts them.
Result<DeviceArray<uint32_t>> CountReadsOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, uint32_t first_epoch, int epochs);

// The storage.cache_rows likeliest nodes by the storage's ranking, ascending; what LikeliestRows says.
Result<DeviceArray<int32_t>> LikeliestOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                            const BatchShape& shape, const FeatureStorage& storage, bool symmetric);

// What an epoch's batches read, and how much of it the cache holds by itself: rows that a batch has staged, or left
// staged, are not hits.
Result<CacheReads> CountCacheReads(const DeviceGraph& graph, std::span<const NodeId> train, const BatchShape& shape,
                                   uint32_t epoch);

}  // namespace hone::gnn::cuda
