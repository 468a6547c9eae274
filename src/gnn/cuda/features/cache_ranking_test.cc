// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares both rankings with the rows that the sampler reads, and tests the hit rates of the caches made by them, in
// epochs that the rankings did not count.
#include "gnn/cuda/features/cache_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gnn/graph/array_graph.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

struct Edges {
  std::vector<int64_t> offsets{0};
  std::vector<NodeId> columns;
  explicit Edges(const std::vector<std::vector<NodeId>>& rows) {
    for (const auto& row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
  }
  CsrView view() const { return {static_cast<int64_t>(offsets.size()) - 1, offsets, columns}; }
};

// Returns how often each node is in the sample of a batch, as a share of `trials` steps.
std::vector<double> MeasureInclusion(const CsrView& graph, std::span<const NodeId> train, const BatchShape& shape,
                                     int trials) {
  auto sampler = MakeNeighborSampler(graph, {shape.fanouts, FrontierRule::kAllSoFar}).value();
  std::vector<double> share(static_cast<size_t>(graph.num_nodes), 0.0);
  NeighborSample sample;
  const auto count = static_cast<int64_t>(train.size());
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<NodeId> seeds;
    for (int64_t i = 0; i < std::min(shape.batch, count); ++i) {
      seeds.push_back(train[static_cast<size_t>(PermutedIndex(91, static_cast<uint32_t>(trial), count, i))]);
    }
    EXPECT_TRUE(sampler->Sample(seeds, {91, static_cast<uint32_t>(trial), 0, 0}, sample).ok());
    for (const NodeId v : sample.nodes) share[static_cast<size_t>(v)] += 1.0 / trials;
  }
  return share;
}

TEST(CacheRanking, ATreeHasTheProbabilitiesWorkedOutByHand) {
  // Node 0 draws 2 of 1, 2, 3, 4; node 1 draws 2 of 5, 6, 7; nodes 2 … 7 have no neighbors.
  const Edges tree({{1, 2, 3, 4}, {5, 6, 7}, {}, {}, {}, {}, {}, {}});
  const std::vector<NodeId> train = {0};
  const auto p = InclusionProbabilities(tree.view(), train, {.fanouts = {2, 2}, .batch = 1}, /*symmetric=*/false, 1);
  EXPECT_NEAR(p[0], 1.0, 1e-9);
  // Nodes 1 … 4 are drawn in hop 0 or, if not, in hop 1, where node 0 draws again: 1 - (1/2)^2.
  for (const size_t v : {1u, 2u, 3u, 4u}) EXPECT_NEAR(p[v], 0.75, 1e-9) << v;
  // Node 1 is known after hop 0 with probability 1/2, and then draws two of three.
  for (const size_t v : {5u, 6u, 7u}) EXPECT_NEAR(p[v], 1.0 / 3, 1e-9) << v;
}

// Returns the sum of `weights` over the `rows` nodes with the highest scores.
template <typename Score, typename Weight>
double ShareOfTop(const std::vector<Score>& scores, const std::vector<Weight>& weights, size_t rows) {
  std::vector<size_t> nodes(scores.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  std::stable_sort(nodes.begin(), nodes.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  double share = 0;
  for (size_t i = 0; i < rows; ++i) share += static_cast<double>(weights[nodes[i]]);
  return share / std::accumulate(weights.begin(), weights.end(), 0.0);
}

TEST(CacheRanking, ProbabilitiesAreCloseToWhatTheSamplerDoes) {
  const auto graph = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
  const std::vector<NodeId> train(graph->train_nodes().begin(), graph->train_nodes().begin() + 24);
  const BatchShape shape{.fanouts = {2, 2}, .batch = 4};
  const auto p = InclusionProbabilities(graph->structure(), train, shape, /*symmetric=*/false, 2);
  const auto simulated = MeasureInclusion(graph->structure(), train, shape, 20000);
  double error = 0, total = 0;
  for (size_t v = 0; v < p.size(); ++v) {
    error += std::abs(p[v] - simulated[v]);
    total += simulated[v];
    EXPECT_GE(p[v], 0) << v;
    EXPECT_LE(p[v], 1) << v;
    if (p[v] == 0) {
      EXPECT_EQ(simulated[v], 0) << v;
    }
  }
  // The probability is not exact, because seeds exclude each other, and because the ways to a node are not independent
  // in a dense community.
  EXPECT_LE(error, 0.1 * total) << error << " of " << total;
  // For a cache only the order matters, and its hits are close to the best possible.
  for (const size_t rows : {20u, 60u}) {
    EXPECT_GE(ShareOfTop(p, simulated, rows), 0.95 * ShareOfTop(simulated, simulated, rows)) << rows;
  }
}

TEST(CacheRanking, BothWaysOverTheEdgesAndAnyNumberOfThreadsGiveTheSameBits) {
  const auto graph = OpenGraph("synthetic:arxiv?scale=0.02&seed=3").value();
  ASSERT_TRUE(graph->flags().symmetric);
  const BatchShape shape{.fanouts = {15, 10, 5}, .batch = 64, .seed = 4};
  const auto gathered = InclusionProbabilities(graph->structure(), graph->train_nodes(), shape, /*symmetric=*/true, 1);
  EXPECT_EQ(InclusionProbabilities(graph->structure(), graph->train_nodes(), shape, /*symmetric=*/true, 3), gathered);
  EXPECT_EQ(InclusionProbabilities(graph->structure(), graph->train_nodes(), shape, /*symmetric=*/false, 3), gathered);
  const auto counts = CountInclusions(graph->structure(), graph->train_nodes(), shape, 1, 1).value();
  EXPECT_EQ(CountInclusions(graph->structure(), graph->train_nodes(), shape, 1, 4).value(), counts);
}

TEST(CacheRanking, CountsAreTheSamplersOwn) {
  const auto graph = CommunityGraph({.nodes = 90, .classes = 3, .degree = 6, .width = 8, .seed = 5});
  const BatchShape shape{.fanouts = {3, 2}, .batch = 7, .seed = 13};
  const auto counts = CountInclusions(graph->structure(), graph->train_nodes(), shape, 2, 3).value();
  auto sampler = MakeNeighborSampler(graph->structure(), {shape.fanouts, FrontierRule::kAllSoFar}).value();
  std::vector<uint32_t> expected(90, 0);
  const auto train = graph->train_nodes();
  const auto seeds = static_cast<int64_t>(train.size());
  NeighborSample sample;
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    for (int64_t first = 0, step = 0; first < seeds; first += shape.batch, ++step) {
      std::vector<NodeId> nodes;
      for (int64_t i = first; i < std::min(seeds, first + shape.batch); ++i) {
        nodes.push_back(train[static_cast<size_t>(PermutedIndex(13, epoch, seeds, i))]);
      }
      ASSERT_TRUE(sampler->Sample(nodes, {13, epoch, static_cast<uint32_t>(step), 0}, sample).ok());
      for (const NodeId v : sample.nodes) ++expected[static_cast<size_t>(v)];
    }
  }
  EXPECT_EQ(counts, expected);
  EXPECT_GT(std::accumulate(counts.begin(), counts.end(), 0u), 0u);
}

// Training nodes lie in one corner of the graph, as labelled nodes often do. A ranking by degree does not know where.
TEST(CacheRanking, BothBeatDegreeOnDrawsTheyHaveNotSeen) {
  const auto graph = OpenGraph("synthetic:papers100M?scale=0.0005&seed=1").value();
  const CsrView csr = graph->structure();
  const auto train = graph->train_nodes().first(256);
  const BatchShape shape{.fanouts = {5, 5}, .batch = 32, .seed = 7};
  const BatchShape other{.fanouts = {5, 5}, .batch = 32, .seed = 8};
  const auto reads = CountInclusions(csr, train, other, 4).value();
  const auto inclusion = InclusionProbabilities(csr, train, shape, /*symmetric=*/true);
  const auto counted = CountInclusions(csr, train, shape, 4).value();
  std::vector<int64_t> degree;
  for (NodeId v = 0; v < csr.num_nodes; ++v) degree.push_back(csr.Degree(v));
  double before = 0;
  for (const size_t percent : {1u, 2u, 5u, 10u, 20u, 50u}) {
    const size_t rows = degree.size() * percent / 100;
    const double a = ShareOfTop(inclusion, reads, rows), c = ShareOfTop(counted, reads, rows);
    const double d = ShareOfTop(degree, reads, rows), best = ShareOfTop(reads, reads, rows);
    RecordProperty("hits_percent_" + std::to_string(percent), "inclusion " + std::to_string(a) + ", presampling " +
                                                                  std::to_string(c) + ", degree " + std::to_string(d) +
                                                                  ", known beforehand " + std::to_string(best));
    EXPECT_GT(a, d + 0.005) << percent;
    if (percent <= 20) {  // more rows than it has seen cannot be ranked by counts
      EXPECT_GT(c, d + 0.005) << percent;
    }
    EXPECT_GT(a, before + 0.05) << percent;  // every larger cache has more hits
    before = a;
  }
}

TEST(CacheRanking, TheLikeliestRowsAreThoseOfTheHighestScore) {
  const auto graph = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
  const BatchShape shape{.fanouts = {3, 2}, .batch = 7, .seed = 13};
  const auto counts = CountInclusions(graph->structure(), graph->train_nodes(), shape, 2).value();
  const auto p = InclusionProbabilities(graph->structure(), graph->train_nodes(), shape, /*symmetric=*/false);
  for (const CacheRanking ranking : {CacheRanking::kInclusion, CacheRanking::kPresampling}) {
    const FeatureStorage storage{.cache_rows = 60, .ranking = ranking, .presampled_epochs = 2};
    const auto rows = LikeliestRows(*graph, shape, storage).value();
    ASSERT_EQ(rows.size(), 60u);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
    double share = 0;
    for (const NodeId v : rows)
      share += ranking == CacheRanking::kInclusion ? p[static_cast<size_t>(v)] : counts[static_cast<size_t>(v)];
    const double best = ranking == CacheRanking::kInclusion
                            ? ShareOfTop(p, p, 60) * std::accumulate(p.begin(), p.end(), 0.0)
                            : ShareOfTop(counts, counts, 60) * std::accumulate(counts.begin(), counts.end(), 0.0);
    EXPECT_NEAR(share, best, 1e-9 * best);
  }
}

// Caches two rows of a graph of two stars: those of the star whose center is predicted.
TEST(CacheRanking, SeedsTakeThePlaceOfTheTrainingNodes) {
  GraphParts parts;
  parts.owned_offsets = {0, 2, 3, 4, 6, 7, 8};
  parts.owned_ids = {{1, 2, 0, 0, 4, 5, 3, 3}};
  parts.structure = {6, parts.owned_offsets, parts.owned_ids[0]};
  const ArrayGraph graph(std::move(parts));
  const NodeId centers[] = {0, 3};
  for (const CacheRanking ranking : {CacheRanking::kInclusion, CacheRanking::kPresampling}) {
    for (const NodeId& center : centers) {
      const BatchShape shape{.fanouts = {2}, .batch = 4, .seed = 1, .seeds = {&center, 1}};
      const auto rows = LikeliestRows(graph, shape, {.cache_rows = 3, .ranking = ranking}).value();
      EXPECT_EQ(rows, (std::vector<NodeId>{center, center + 1, center + 2}));
    }
  }
}

TEST(CacheRanking, NoneAndAllNeedNoRanking) {
  const auto graph = CommunityGraph({.nodes = 90, .classes = 3, .degree = 6, .width = 8, .seed = 5});
  const BatchShape shape{.fanouts = {3, 2}, .batch = 7};
  EXPECT_TRUE(LikeliestRows(*graph, shape, {.cache_rows = 0}).value().empty());
  EXPECT_EQ(LikeliestRows(*graph, shape, {.cache_rows = 1000}).value().size(), 90u);
}

}  // namespace
}  // namespace hone::gnn::cuda
