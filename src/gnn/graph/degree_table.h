// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table from which the synthetic graphs draw their log-normal degrees.
//
// Made once on the host with IEEE additions, multiplications and divisions only (no libm, no fused contraction), so
// that every machine has the same table and therefore the same graph.
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/graph/synthetic_core.h"

namespace hone::gnn {

struct DegreeTable {
  std::vector<uint32_t> upper;
  std::vector<uint64_t> threshold;

  DegreeTableView view() const { return {upper.data(), threshold.data(), static_cast<int32_t>(upper.size())}; }
  double Mean() const;  // of the degrees it gives to a uniform 32-bit word
};

// Degrees 1 … max_degree of a log-normal with this sigma of its logarithm, whose mean after rounding and clipping is
// `mean`. Requires 1 < mean < max_degree and sigma > 0; the mean is met to 1e-6 or as near as the bounds allow.
DegreeTable MakeDegreeTable(double mean, double sigma, uint32_t max_degree);

}  // namespace hone::gnn
