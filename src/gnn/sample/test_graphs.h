// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Small graphs for the tests of the sampler and of the batch pipeline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct TestCsr {
  std::vector<int64_t> row_offsets;
  std::vector<NodeId> columns;

  CsrView view() const { return {static_cast<int64_t>(row_offsets.size()) - 1, row_offsets, columns}; }
};

inline TestCsr CsrOfRows(const std::vector<std::vector<NodeId>>& rows) {
  TestCsr csr;
  csr.row_offsets.push_back(0);
  for (const std::vector<NodeId>& row : rows) {
    csr.columns.insert(csr.columns.end(), row.begin(), row.end());
    csr.row_offsets.push_back(static_cast<int64_t>(csr.columns.size()));
  }
  return csr;
}

// Node v receives from v - 1 and v + 1, in this order.
inline TestCsr Cycle(NodeId nodes) {
  std::vector<std::vector<NodeId>> rows;
  for (NodeId v = 0; v < nodes; ++v) rows.push_back({(v + nodes - 1) % nodes, (v + 1) % nodes});
  return CsrOfRows(rows);
}

// Node 0 receives from 1 … leaves in order; each leaf from 0.
inline TestCsr Star(NodeId leaves) {
  std::vector<std::vector<NodeId>> rows(static_cast<size_t>(leaves) + 1);
  for (NodeId leaf = 1; leaf <= leaves; ++leaf) {
    rows[0].push_back(leaf);
    rows[static_cast<size_t>(leaf)].push_back(0);
  }
  return CsrOfRows(rows);
}

// Log-normal degrees with the given mean (sigma 1: some rows empty, some very long), uniform columns: parallel
// edges and self-loops occur.
inline TestCsr RandomCsr(NodeId nodes, double mean_degree, uint64_t seed) {
  Rng rng(seed);
  TestCsr csr;
  csr.row_offsets.push_back(0);
  const double location = std::log(mean_degree) - 0.5;
  for (NodeId v = 0; v < nodes; ++v) {
    const auto degree = static_cast<int64_t>(std::min(std::exp(location + rng.Normal()), 1e6));
    for (int64_t i = 0; i < degree; ++i) csr.columns.push_back(static_cast<NodeId>(rng.Below(static_cast<uint64_t>(nodes))));
    csr.row_offsets.push_back(static_cast<int64_t>(csr.columns.size()));
  }
  return csr;
}

}  // namespace hone::gnn
