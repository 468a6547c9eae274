// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests attention: what a destination attends to, and its gradients.
#include "gnn/ops/attention.h"

#include <cmath>
#include <limits>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

struct Pass {
  std::vector<double> edges, self, out;
};
Pass Forward(const OwnedBlock& block, std::vector<double>& x, std::vector<double>& scores, int heads, int threads = 1) {
  const BlockView view = block.view();
  const int64_t dim = static_cast<int64_t>(x.size()) / view.num_src;
  Pass run;
  run.edges.resize(static_cast<size_t>(view.num_edges() * heads));
  run.self.resize(static_cast<size_t>(view.num_dst * heads));
  run.out.assign(static_cast<size_t>(view.num_dst * heads * dim), 5.0);
  AttentionForward<double>(view, View(x, dim), View(scores, 2 * heads), heads, 0.2, {run.edges.data(), run.self.data()},
                           View(run.out, heads * dim), threads);
  return run;
}

TEST(Attention, WithEqualScoresIsTheMeanOfNeighborsAndSelf) {
  const OwnedBlock block({{1, 2}, {}}, 3);
  std::vector<double> x = {3, 6, 9};
  std::vector<double> scores(6, 0.0);
  const Pass run = Forward(block, x, scores, 1);
  EXPECT_DOUBLE_EQ(run.out[0], 6.0);
  EXPECT_DOUBLE_EQ(run.out[1], 6.0);  // no neighbors: only itself
  EXPECT_DOUBLE_EQ(run.self[1], 1.0);
}

TEST(Attention, ReplacesAnyNumberOfSelfLoopsByOne) {
  const OwnedBlock with({{0, 1, 0}}, 2);
  const OwnedBlock without({{1}}, 2);
  std::vector<double> x = {2, 10};
  std::vector<double> scores = {0.3, -1.1, 0.7, 0.4};
  const Pass a = Forward(with, x, scores, 1);
  const Pass b = Forward(without, x, scores, 1);
  EXPECT_DOUBLE_EQ(a.out[0], b.out[0]);
  EXPECT_EQ(a.edges[0], 0.0);
  EXPECT_EQ(a.edges[2], 0.0);
}

TEST(Attention, CountsParallelEdgesTwiceAndAppliesTheNegativeSlope) {
  const OwnedBlock block({{1, 1}}, 2);
  std::vector<double> x = {1, 2};
  // Logits through the leaky ReLU: for the node itself .5 - 1.5 = -1 -> -.2, for the edges 1 - 1.5 = -.5 -> -.1.
  std::vector<double> scores = {0.5, -1.5, 1.0, 9.0};
  const Pass run = Forward(block, x, scores, 1);
  const double total = 2 * std::exp(-0.1) + std::exp(-0.2);
  EXPECT_NEAR(run.edges[0], std::exp(-0.1) / total, 1e-15);
  EXPECT_NEAR(run.edges[1], std::exp(-0.1) / total, 1e-15);
  EXPECT_NEAR(run.out[0], (2 * 2 * std::exp(-0.1) + std::exp(-0.2)) / total, 1e-14);
}

TEST(Attention, GradientsAgreeWithFiniteDifferences) {
  const OwnedBlock block = AwkwardBlock(9, 14, 1);
  const BlockView view = block.view();
  SourceMajorBlock by_source;
  BySource(view, by_source);
  constexpr int64_t kDim = 10;  // more than one group of eight
  for (const int heads : {1, 3}) {
    std::vector<double> x = RandomValues<double>(14 * kDim, 2);
    std::vector<double> scores = RandomValues<double>(14 * 2 * heads, 3);
    const std::vector<double> weights = RandomValues<double>(9 * heads * kDim, 4);
    const auto objective = [&] { return Product(Forward(block, x, scores, heads).out, weights); };
    Pass run = Forward(block, x, scores, heads);
    std::vector<double> grad = weights, edge_grads(run.edges.size()), self_grads(run.self.size());
    std::vector<double> grad_scores(scores.size(), 8.0), grad_x(x.size(), 8.0);
    AttentionBackward<double>(view, by_source, View(x, kDim), View(scores, 2 * heads), heads, 0.2,
                              {run.edges.data(), run.self.data()}, View(grad, heads * kDim), edge_grads.data(),
                              self_grads.data(), View(grad_scores, 2 * heads), View(grad_x, kDim), 1);
    ExpectGradient("x", x, grad_x, objective);
    ExpectGradient("scores", scores, grad_scores, objective);
  }
}

TEST(Attention, GivesTheSameBitsOnAnyThreadCountAndInstructionSet) {
  const OwnedBlock block = AwkwardBlock(400, 600, 6);
  const BlockView view = block.view();
  SourceMajorBlock by_source;
  BySource(view, by_source);
  constexpr int64_t kDim = 33;
  std::vector<float> x = RandomValues<float>(600 * kDim, 2), scores = RandomValues<float>(600 * 4, 3);
  std::vector<float> grad = RandomValues<float>(400 * 2 * kDim, 4);
  ExpectSameBits("attention", [&](int threads) {
    std::vector<float> edges(static_cast<size_t>(view.num_edges()) * 2), self(800), out(400 * 2 * kDim);
    AttentionForward<float>(view, View(x, kDim), View(scores, 4), 2, 0.2f, {edges.data(), self.data()},
                            View(out, 2 * kDim), threads);
    std::vector<float> edge_grads(edges.size()), self_grads(800), grad_scores(600 * 4), grad_x(600 * kDim);
    AttentionBackward<float>(view, by_source, View(x, kDim), View(scores, 4), 2, 0.2f, {edges.data(), self.data()},
                             View(grad, 2 * kDim), edge_grads.data(), self_grads.data(), View(grad_scores, 4),
                             View(grad_x, kDim), threads);
    for (const auto* more : {&grad_scores, &grad_x}) out.insert(out.end(), more->begin(), more->end());
    return out;
  });
}

}  // namespace
}  // namespace hone::gnn
