// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the sampler as its definition reads: row by row, word by word, with standard containers. Tests compare the
// fast samplers, on the CPU and on a GPU, with it byte for byte.
#pragma once

#include <memory>
#include <span>

#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

// Draws a sample. Seeds and options must be valid (ValidateSamplerOptions). Any thread.
NeighborSample ReferenceSample(const CsrView& graph, const SamplerOptions& options, std::span<const NodeId> seeds,
                               const BatchKey& key);

// Makes a sampler that draws by ReferenceSample (SamplerOptions::plain). The options must be valid.
std::unique_ptr<NeighborSampler> MakePlainSampler(const CsrView& graph, const SamplerOptions& options);

}  // namespace hone::gnn
