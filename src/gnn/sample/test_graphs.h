// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes small graphs for the tests of the sampler and of the batch pipeline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers/random.h"
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

// Returns a cycle: node v receives from v - 1 and v + 1, in this order.
inline TestCsr Cycle(NodeId nodes) {
  std::vector<std::vector<NodeId>> rows;
  for (NodeId v = 0; v < nodes; ++v) rows.push_back({(v + nodes - 1) % nodes, (v + 1) % nodes});
  return CsrOfRows(rows);
}

// Returns a star: node 0 receives from 1 … leaves in order, and each leaf from 0.
inline TestCsr Star(NodeId leaves) {
  std::vector<std::vector<NodeId>> rows(static_cast<size_t>(leaves) + 1);
  for (NodeId leaf = 1; leaf <= leaves; ++leaf) {
    rows[0].push_back(leaf);
    rows[static_cast<size_t>(leaf)].push_back(0);
  }
  return CsrOfRows(rows);
}

// Returns a random graph with log-normal degrees of the given mean (sigma 1: some rows are empty, some very long) and
// uniform columns, so that parallel edges and self-loops occur.
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

// A graph over a TestCsr: node v has `width` float16 features with the bits v + column, and the label v % 7.
class TestGraph final : public Graph {
 public:
  explicit TestGraph(TestCsr csr, int64_t width = 20)
      : csr_(std::move(csr)), width_(width), stride_((width * 2 + 63) / 64 * 64) {
    const int64_t nodes = csr_.view().num_nodes;
    storage_.resize(static_cast<size_t>(nodes * stride_) + 64);
    auto address = reinterpret_cast<uintptr_t>(storage_.data());
    rows_ = storage_.data() + (64 - address % 64) % 64;
    for (int64_t v = 0; v < nodes; ++v) {
      auto* const row = reinterpret_cast<uint16_t*>(rows_ + v * stride_);
      for (int64_t c = 0; c < width; ++c) row[c] = static_cast<uint16_t>(v + c);
      labels_.push_back(static_cast<int32_t>(v % 7));
      train_.push_back(static_cast<NodeId>(v));
    }
  }
  const std::string& name() const override { return name_; }
  CsrView structure() const override { return csr_.view(); }
  FeatureView features() const override { return {rows_, FeatureDtype::kFloat16, csr_.view().num_nodes, width_, stride_}; }
  std::span<const int32_t> labels() const override { return labels_; }
  int32_t num_classes() const override { return 7; }
  std::span<const NodeId> train_nodes() const override { return train_; }
  std::span<const NodeId> valid_nodes() const override { return {}; }
  std::span<const NodeId> test_nodes() const override { return {}; }
  int64_t resident_bytes() const override { return static_cast<int64_t>(storage_.size()); }

 private:
  std::string name_ = "test graph";
  TestCsr csr_;
  int64_t width_, stride_;
  std::vector<std::byte> storage_;
  std::byte* rows_ = nullptr;
  std::vector<int32_t> labels_;
  std::vector<NodeId> train_;
};

}  // namespace hone::gnn
