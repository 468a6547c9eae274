// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the CPU sampler, with its internal choices exposed for tests and measurements.
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
  uint32_t first_base = 1;  // for tests: a value near 2^32 makes the node table wrap around soon
};

// Makes the sampler of MakeNeighborSampler with other internal choices, which never change results.
Result<std::unique_ptr<NeighborSampler>> MakeFastSampler(const CsrView& graph, const SamplerOptions& options,
                                                         const SamplerTuning& tuning);

// Checks the options. kInvalidArgument names the invalid one.
Status ValidateSamplerOptions(const CsrView& graph, const SamplerOptions& options);

}  // namespace hone::gnn
