// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests scaled sums and layer normalisation: by hand, against finite differences, and on any number of threads.
#include "gnn/ops/scaled_sum.h"

#include <numeric>

#include "gnn/ops/layer_norm.h"
#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

// A graph in which node 0 receives from 1, 2 and 3, and node 1 from 0; the others have no in-edges.
struct Star {
  std::vector<int64_t> offsets = {0, 3, 4, 4, 4};
  std::vector<NodeId> columns = {1, 2, 3, 0};
  CsrView view() const { return {4, offsets, columns}; }
};

TEST(SymmetricScales, AreThoseOfKipfAndWellingWhereEveryNeighborIsDrawn) {
  const Star graph;
  const OwnedBlock block({{1, 2, 3}, {0}}, 4);
  const std::vector<NodeId> nodes = {0, 1, 2, 3};
  EdgeScales<double> scales;
  SymmetricScales<double>(graph.view(), block.view(), nodes, scales);
  std::vector<double> x = {1, 10, 100, 1000}, out(2);
  ScaledSumForward<double>(block.view(), View(x, 1), scales, View(out, 1), 1);
  // The degrees plus one are 4, 2, 1 and 1.
  EXPECT_NEAR(out[0], 10 / std::sqrt(4.0 * 2) + 100 / std::sqrt(4.0) + 1000 / std::sqrt(4.0) + 1 / 4.0, 1e-12);
  EXPECT_NEAR(out[1], 1 / std::sqrt(2.0 * 4) + 10 / 2.0, 1e-12);
}

TEST(SymmetricScales, OfASampleEstimateTheWholeSum) {
  const Star graph;
  const std::vector<NodeId> nodes = {0, 1, 2, 3};
  std::vector<double> x = {1, 10, 100, 1000};
  double mean = 0;  // mean over the three equally likely samples of two neighbors
  for (const std::vector<int32_t>& drawn : {std::vector<int32_t>{1, 2}, {1, 3}, {2, 3}}) {
    const OwnedBlock block({drawn, {0}}, 4);
    EdgeScales<double> scales;
    SymmetricScales<double>(graph.view(), block.view(), nodes, scales);
    std::vector<double> out(2);
    ScaledSumForward<double>(block.view(), View(x, 1), scales, View(out, 1), 1);
    mean += out[0] / 3;
  }
  EXPECT_NEAR(mean, 10 / std::sqrt(8.0) + 100 / 2.0 + 1000 / 2.0 + 1 / 4.0, 1e-12);
}

TEST(SymmetricScales, ANodeWithoutNeighborsKeepsItsRow) {
  const Star graph;
  const OwnedBlock block({{}}, 1);
  const std::vector<NodeId> nodes = {2};
  EdgeScales<float> scales;
  SymmetricScales<float>(graph.view(), block.view(), nodes, scales);
  std::vector<float> x = {3, -4}, out(2);
  ScaledSumForward<float>(block.view(), View(x, 2), scales, View(out, 2), 1);
  EXPECT_EQ(out, x);
}

struct Awkward {
  Awkward() : block(AwkwardBlock(40, 60, 5)) {
    const AdjacencyList rows = AwkwardGraph(60, 5);
    offsets.push_back(0);
    for (const auto& row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      columns.push_back(0);  // a neighbor that is not in the block
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
    std::iota(nodes.begin(), nodes.end(), 0);
  }
  CsrView view() const { return {60, offsets, columns}; }
  OwnedBlock block;
  std::vector<int64_t> offsets;
  std::vector<NodeId> columns;
  std::vector<NodeId> nodes = std::vector<NodeId>(60);
};

TEST(ScaledSum, BackwardAgreesWithFiniteDifferencesAndBitsDoNotDependOnThreads) {
  const Awkward graph;
  const BlockView block = graph.block.view();
  EdgeScales<double> scales;
  SymmetricScales<double>(graph.view(), block, graph.nodes, scales);
  std::vector<double> x = RandomValues<double>(60 * 5, 1), weights = RandomValues<double>(40 * 5, 2), grad(60 * 5);
  SourceMajorBlock sources;
  BySource(block, sources);
  ScaledSumBackward<double>(block, sources, View(weights, 5), scales, View(grad, 5), 2);
  ExpectGradient("x", x, grad, [&] {
    std::vector<double> out(40 * 5);
    ScaledSumForward<double>(block, View(x, 5), scales, View(out, 5), 1);
    return Product(out, weights);
  });
  EdgeScales<float> floats;
  SymmetricScales<float>(graph.view(), block, graph.nodes, floats);
  std::vector<float> rows = RandomValues<float>(60 * 33, 3);
  ExpectSameBits("scaled sum", [&](int threads) {
    std::vector<float> out(40 * 33), back(60 * 33);
    ScaledSumForward<float>(block, View(rows, 33), floats, View(out, 33), threads);
    ScaledSumBackward<float>(block, sources, View(out, 33), floats, View(back, 33), threads);
    out.insert(out.end(), back.begin(), back.end());
    return out;
  });
}

TEST(LayerNorm, NormalisesEachRowAndItsBackwardAgreesWithFiniteDifferences) {
  std::vector<double> x = {1, 3, -2, 2}, weight = {2, 0.5}, bias = {0, 1}, out(4);
  RowMoments moments;
  LayerNormForward<double>(View(x, 2), weight.data(), bias.data(), moments, View(out, 2), 1);
  const double first = 1 / std::sqrt(1 + kLayerNormEpsilon), second = 2 / std::sqrt(4 + kLayerNormEpsilon);
  EXPECT_NEAR(out[0], -2 * first, 1e-12);
  EXPECT_NEAR(out[1], 0.5 * first + 1, 1e-12);
  EXPECT_NEAR(out[2], -2 * second, 1e-12);
  EXPECT_NEAR(out[3], 0.5 * second + 1, 1e-12);

  x = RandomValues<double>(7 * 9, 1);
  weight = RandomValues<double>(9, 2);
  bias = RandomValues<double>(9, 3);
  const std::vector<double> objective = RandomValues<double>(7 * 9, 4);
  const auto value = [&] {
    std::vector<double> y(7 * 9);
    LayerNormForward<double>(View(x, 9), weight.data(), bias.data(), moments, View(y, 9), 1);
    return Product(y, objective);
  };
  value();
  std::vector<double> grad = objective, grad_weight(9, 0.0), grad_bias(9, 0.0);
  LayerNormBackward<double>(View(x, 9), moments, weight.data(), View(grad, 9), grad_weight.data(), grad_bias.data(), 3);
  ExpectGradient("x", x, grad, value);
  ExpectGradient("weight", weight, grad_weight, value);
  ExpectGradient("bias", bias, grad_bias, value);
}

}  // namespace
}  // namespace hone::gnn
