// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of ops, layers and models: makes small graphs as blocks and as full samples, and compares a
// backward pass with finite differences in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/ops/simd.h"
#include "gtest/gtest.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/mini_batch.h"

namespace hone::gnn {

// In-neighbors by node. Parallel edges and self-loops are kept as written.
using AdjacencyList = std::vector<std::vector<NodeId>>;

// A block that owns its arrays. Destination i receives from rows[i]; `num_src` may exceed the largest source named.
struct OwnedBlock {
  OwnedBlock(const std::vector<std::vector<int32_t>>& rows, int32_t sources) : num_src(sources) {
    for (const auto& row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      row_offsets.push_back(static_cast<int32_t>(columns.size()));
    }
  }
  BlockView view() const { return {static_cast<int32_t>(row_offsets.size()) - 1, num_src, row_offsets, columns}; }
  int32_t num_src;
  std::vector<int32_t> row_offsets = {0};
  std::vector<int32_t> columns;
};

// Returns a sample with every neighbor in every hop: a plain restatement of the contract in mini_batch.h.
inline NeighborSample FullSample(const AdjacencyList& graph, const std::vector<NodeId>& seeds, int hops,
                                 bool new_only = false) {
  NeighborSample sample;
  sample.new_only = new_only;
  std::unordered_map<NodeId, int32_t> local;
  const auto intern = [&](NodeId node) {
    const auto [at, added] = local.emplace(node, static_cast<int32_t>(sample.nodes.size()));
    if (added) sample.nodes.push_back(node);
    return at->second;
  };
  for (const NodeId seed : seeds) intern(seed);
  sample.hop_nodes.push_back(sample.num_nodes());
  if (new_only) sample.rows.emplace_back().row_offsets.push_back(0);
  for (int hop = 0; hop < hops; ++hop) {
    if (!new_only) sample.rows.emplace_back().row_offsets.push_back(0);
    NeighborSample::Rows& rows = sample.rows.back();
    const int32_t known = sample.num_nodes();
    for (int32_t i = static_cast<int32_t>(rows.row_offsets.size()) - 1; i < known; ++i) {
      for (const NodeId node : graph[static_cast<size_t>(sample.nodes[static_cast<size_t>(i)])]) {
        rows.columns.push_back(intern(node));
      }
      rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    }
    sample.hop_nodes.push_back(sample.num_nodes());
  }
  return sample;
}

// Returns random in-neighbors with all awkward cases: nodes without neighbors, self-loops, parallel edges.
inline AdjacencyList AwkwardGraph(int32_t nodes, uint64_t seed) {
  AdjacencyList graph(static_cast<size_t>(nodes));
  Rng rng(seed);
  for (int32_t v = 0; v < nodes; ++v) {
    const uint64_t degree = v % 5 == 3 ? 0 : rng.Below(5) + 1;
    auto& row = graph[static_cast<size_t>(v)];
    for (uint64_t e = 0; e < degree; ++e) row.push_back(static_cast<NodeId>(rng.Below(static_cast<uint64_t>(nodes))));
    if (v % 4 == 1) row.push_back(v);
    if (v % 4 == 2 && !row.empty()) row.push_back(row.front());
  }
  return graph;
}

// Returns the first `destinations` rows of an awkward graph over `sources` nodes.
inline OwnedBlock AwkwardBlock(int32_t destinations, int32_t sources, uint64_t seed) {
  AdjacencyList rows = AwkwardGraph(sources, seed);
  rows.resize(static_cast<size_t>(destinations));
  return OwnedBlock(rows, sources);
}

template <typename T>
std::vector<T> RandomValues(int64_t count, uint64_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  Rng rng(seed);
  for (T& value : values) value = static_cast<T>(rng.Normal());
  return values;
}

template <typename T>
Matrix<T> View(std::vector<T>& values, int64_t cols) {
  return {values.data(), static_cast<int64_t>(values.size()) / cols, cols, cols};
}

// Returns the sum of a's elements times b's: an objective whose gradient by a is b.
inline double Product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Runs `body` on 1, 2, 4 and 7 threads and on the baseline instruction set; its results must be equal to the bit.
template <typename Body>
void ExpectSameBits(const std::string& what, const Body& body) {
  const auto expected = body(1);
  ASSERT_FALSE(expected.empty()) << what;
  for (const int threads : {2, 4, 7}) {
    const auto result = body(threads);
    ASSERT_EQ(result.size(), expected.size()) << what;
    EXPECT_EQ(std::memcmp(result.data(), expected.data(), expected.size() * sizeof(expected[0])), 0)
        << what << " on " << threads << " threads";
  }
  BaselineOnly() = true;
  const auto result = body(2);
  BaselineOnly() = false;
  EXPECT_EQ(std::memcmp(result.data(), expected.data(), expected.size() * sizeof(expected[0])), 0)
      << what << " without AVX2";
}

// Compares `gradient` of f at `at` with central differences, for up to 60 elements at equal distances. The truncation
// error is of order h^2 = 1e-12 times the third derivative, and the rounding error 1e-16 / h times |f|. For functions
// of the size used here, 1e-6 relative to the larger of 1 and the gradient bounds both.
inline void ExpectGradient(const std::string& what, std::vector<double>& at, const std::vector<double>& gradient,
                           const std::function<double()>& f) {
  ASSERT_EQ(at.size(), gradient.size()) << what;
  constexpr double kStep = 1e-6;
  const size_t stride = at.size() / 60 + 1;
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  for (size_t i = 0; i < at.size(); i += stride) {
    const double kept = at[i];
    at[i] = kept + kStep;
    const double above = f();
    at[i] = kept - kStep;
    const double below = f();
    at[i] = kept;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6 * std::max(1.0, largest)) << what << "[" << i << "]";
  }
}

}  // namespace hone::gnn
