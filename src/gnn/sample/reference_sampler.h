// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sampler written down as its definition reads: one row after the other, one word after the other, standard
// containers. What the fast ones, on the CPU and on a GPU, are compared with byte for byte.
#pragma once

#include <span>

#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

// Seeds and options must be valid (ValidateSamplerOptions). Any thread.
NeighborSample ReferenceSample(const CsrView& graph, const SamplerOptions& options, std::span<const NodeId> seeds,
                               const BatchKey& key);

}  // namespace hone::gnn
