// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the table from which synthetic graphs draw their log-normal degrees.
//
// The table is made once on the host with only IEEE additions, multiplications and divisions (no libm, no fused
// contraction), so that every machine has the same table and therefore the same graph.
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/graph/synthetic/synthetic_core.h"

namespace hone::gnn {

struct DegreeTable {
  std::vector<uint32_t> upper;
  std::vector<uint64_t> threshold;

  DegreeTableView view() const { return {upper.data(), threshold.data(), static_cast<int32_t>(upper.size())}; }
  double Mean() const;  // mean degree that uniform 32-bit words give
};

// Makes a table of log-normal degrees in 1 … max_degree, with this sigma of the logarithm and with mean `mean` after
// rounding and clipping. Requires 1 < mean < max_degree and sigma > 0; the mean is met to 1e-6 or as closely as the
// bounds allow.
DegreeTable MakeDegreeTable(double mean, double sigma, uint32_t max_degree);

}  // namespace hone::gnn
