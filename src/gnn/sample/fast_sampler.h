// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The CPU sampler, with its internal choices exposed for tests and measurements.
#pragma once

#include <cstdint>
#include <memory>

#include "gnn/sample/huge_buffer.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct SamplerTuning {
  enum class Table : uint8_t { kAuto, kDirect, kHash } table = Table::kAuto;
  PageKind pages = PageKind::kHuge;  // pages of the node table
  enum class Draws : uint8_t { kBest, kScalar, kAvx2 } draws = Draws::kBest;  // kAvx2: if the processor has AVX2
  uint32_t first_base = 1;           // near 2^32: the node table wraps soon
};

// MakeNeighborSampler with tuning, which never changes results.
Result<std::unique_ptr<NeighborSampler>> MakeFastSampler(const CsrView& graph, const SamplerOptions& options,
                                                         const SamplerTuning& tuning);

// Returns kInvalidArgument naming the invalid option.
Status ValidateSamplerOptions(const CsrView& graph, const SamplerOptions& options);

}  // namespace hone::gnn
