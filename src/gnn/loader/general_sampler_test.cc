// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/general_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "gnn/loader/batch_loader.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns a graph in which node 0 has the in-neighbors 1 … degree, and no other node has any.
InEdges StarGraph(int64_t degree) {
  std::vector<int64_t> sources(static_cast<size_t>(degree)), destinations(static_cast<size_t>(degree), 0);
  std::iota(sources.begin(), sources.end(), 1);
  return MakeInEdges(sources, destinations, degree + 1, 1).value();
}

// Returns 40 nodes with 400 edges from a linear congruential generator, among them parallel edges and self-loops.
InEdges RandomMultigraph() {
  std::vector<int64_t> sources, destinations;
  for (uint32_t e = 0, x = 7; e < 400; ++e) {
    x = x * 1664525 + 1013904223;
    sources.push_back(x >> 8 & 0xFF);
    sources.back() %= 40;
    destinations.push_back((x >> 16 & 0xFF) % 40);
  }
  return MakeInEdges(sources, destinations, 40, 1).value();
}

// Counts each list of sources that node 0 draws with `fanout`, over `draws` steps.
std::map<std::vector<NodeId>, int> CountDraws(const InEdges& graph, int32_t fanout, const GeneralRules& rules,
                                              int draws) {
  auto sampler = MakeGeneralSampler(graph, {fanout}, rules).value();
  std::map<std::vector<NodeId>, int> times_drawn;
  GeneralSample sample;
  const std::vector<NodeId> seeds{0};
  for (int step = 0; step < draws; ++step) {
    EXPECT_TRUE(sampler->Sample(seeds, {.seed = 11, .epoch = 2, .step = static_cast<uint32_t>(step)}, sample).ok());
    std::vector<NodeId> sources;
    for (const int32_t local : sample.nodes_and_rows.rows[0].columns) {
      sources.push_back(sample.nodes_and_rows.nodes[static_cast<size_t>(local)]);
    }
    ++times_drawn[sources];
  }
  return times_drawn;
}

double ChiSquared(const std::map<std::vector<NodeId>, int>& seen, const std::map<std::vector<NodeId>, double>& expected,
                  int draws) {
  for (const auto& [sources, count] : seen)
    EXPECT_TRUE(expected.contains(sources)) << "a draw that cannot be: " << testing::PrintToString(sources);
  double sum = 0;
  for (const auto& [sources, probability] : expected) {
    const auto found = seen.find(sources);
    const double difference = (found == seen.end() ? 0 : found->second) - draws * probability;
    sum += difference * difference / (draws * probability);
  }
  return sum;
}

constexpr int kDraws = 20000;

TEST(GeneralSampler, WithReplacementDrawsAreUniformAndIndependentWhateverTheDegree) {
  std::map<std::vector<NodeId>, double> pairs;
  for (NodeId i = 1; i <= 4; ++i) {
    for (NodeId j = 1; j <= 4; ++j) pairs[{i, j}] = 1.0 / 16;
  }
  EXPECT_LT(ChiSquared(CountDraws(StarGraph(4), 2, {.replace = true}, kDraws), pairs, kDraws), 37.7)
      << "15 degrees of freedom, one in a thousand";
  // A row of one edge gives as many draws as `fanout`, an empty row gives none, and fanout -1 takes each edge once.
  EXPECT_THAT(CountDraws(StarGraph(1), 3, {.replace = true}, 1),
              ElementsAre(std::pair(std::vector<NodeId>{1, 1, 1}, 1)));
  EXPECT_THAT(CountDraws(StarGraph(0), 3, {.replace = true}, 1), ElementsAre(std::pair(std::vector<NodeId>{}, 1)));
  EXPECT_THAT(CountDraws(StarGraph(3), -1, {.replace = true}, 1),
              ElementsAre(std::pair(std::vector<NodeId>{1, 2, 3}, 1)));
}

TEST(GeneralSampler, WeightsWithoutReplacementDrawOneAfterAnotherFromWhatIsLeft) {
  const std::vector<double> weights{1, 2, 0, 3, 4};  // of the edges from 1 … 5
  std::map<std::vector<NodeId>, double> pairs;
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = i + 1; j < 5; ++j) {
      const double a = weights[i], b = weights[j];
      if (a > 0 && b > 0)
        pairs[{static_cast<NodeId>(i + 1), static_cast<NodeId>(j + 1)}] = a / 10 * b / (10 - a) + b / 10 * a / (10 - b);
    }
  }
  ASSERT_EQ(pairs.size(), 6u);
  EXPECT_LT(ChiSquared(CountDraws(StarGraph(5), 2, {.weights = weights}, kDraws), pairs, kDraws), 20.5)
      << "5 degrees of freedom, one in a thousand";
}

TEST(GeneralSampler, WeightsWithReplacementAreProbabilities) {
  const std::vector<double> weights{3, 0, 1, 0};
  const std::map<std::vector<NodeId>, double> pairs{
      {{1, 1}, 9.0 / 16}, {{1, 3}, 3.0 / 16}, {{3, 1}, 3.0 / 16}, {{3, 3}, 1.0 / 16}};
  EXPECT_LT(ChiSquared(CountDraws(StarGraph(4), 2, {.replace = true, .weights = weights}, kDraws), pairs, kDraws), 16.3)
      << "3 degrees of freedom, one in a thousand";
  const std::vector<double> nothing(4, 0.0);
  EXPECT_THAT(CountDraws(StarGraph(4), 2, {.replace = true, .weights = nothing}, 1),
              ElementsAre(std::pair(std::vector<NodeId>{}, 1)));
}

TEST(GeneralSampler, ARowThatFitsIsTakenWholeAndElsewhereWeightZeroIsNotDrawn) {
  const std::vector<double> weights{0, 5, 0};
  EXPECT_THAT(CountDraws(StarGraph(3), 3, {.weights = weights}, 1),
              ElementsAre(std::pair(std::vector<NodeId>{1, 2, 3}, 1)));
  EXPECT_THAT(CountDraws(StarGraph(3), 2, {.weights = weights}, 1), ElementsAre(std::pair(std::vector<NodeId>{2}, 1)));
}

TEST(GeneralSampler, TreesAreApartAndDrawIndependently) {
  const InEdges graph = StarGraph(2);
  auto sampler = MakeGeneralSampler(graph, {1}, {.disjoint = true}).value();
  GeneralSample sample;
  const std::vector<NodeId> seeds{0, 0};  // the same seed twice, which other samplers refuse
  std::map<std::vector<NodeId>, int> times_drawn;
  for (int step = 0; step < kDraws; ++step) {
    ASSERT_TRUE(sampler->Sample(seeds, {.seed = 3, .step = static_cast<uint32_t>(step)}, sample).ok());
    ASSERT_THAT(sample.trees, ElementsAre(0, 1, 0, 1));
    ASSERT_THAT(sample.nodes_and_rows.rows[0].columns, ElementsAre(2, 3));
    ++times_drawn[{sample.nodes_and_rows.nodes[2], sample.nodes_and_rows.nodes[3]}];
  }
  const std::map<std::vector<NodeId>, double> pairs{{{1, 1}, 0.25}, {{1, 2}, 0.25}, {{2, 1}, 0.25}, {{2, 2}, 0.25}};
  EXPECT_LT(ChiSquared(times_drawn, pairs, kDraws), 16.3) << "3 degrees of freedom, one in a thousand";
}

TEST(GeneralSampler, AnInducedSampleHasTheNodesOfTheDirectionalOneAndEveryEdgeBetweenThem) {
  const InEdges graph = RandomMultigraph();
  const std::vector<int32_t> fanouts{2, 1};
  auto plain = MakeNeighborSampler(graph.view(), {.fanouts = fanouts, .frontier = FrontierRule::kNewOnly}).value();
  auto induced = MakeGeneralSampler(graph, fanouts, {.induced = true}).value();
  const std::vector<NodeId> seeds{3, 17, 8};
  bool more = false;
  for (uint32_t step = 0; step < 20; ++step) {
    const BatchKey key{.seed = 5, .epoch = 1, .step = step};
    NeighborSample expected;
    GeneralSample sample;
    ASSERT_TRUE(plain->Sample(seeds, key, expected).ok());
    ASSERT_TRUE(induced->Sample(seeds, key, sample).ok());
    const NeighborSample& found = sample.nodes_and_rows;
    ASSERT_EQ(found.nodes, expected.nodes);
    ASSERT_EQ(found.hop_nodes, expected.hop_nodes);
    const std::set<NodeId> within(found.nodes.begin(), found.nodes.end());
    std::vector<int64_t> edges;
    for (size_t v = 0; v < 40; ++v) {
      for (int64_t i = graph.row_offsets[v]; i < graph.row_offsets[v + 1]; ++i) {
        if (within.contains(static_cast<NodeId>(v)) && within.contains(graph.columns[static_cast<size_t>(i)])) {
          edges.push_back(graph.edge_ids[static_cast<size_t>(i)]);
        }
      }
    }
    std::vector<int64_t> listed = sample.edge_ids;
    std::sort(edges.begin(), edges.end());
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, edges);
    more |= edges.size() > expected.rows[0].columns.size();
  }
  EXPECT_TRUE(more) << "the graph is too thin to tell an induced sample from a directional one";
}

TEST(GeneralSampler, ALoaderSaysWhatIsWrongWithRulesAndWeights) {
  const auto graph = std::make_shared<const InEdges>(StarGraph(3));
  const auto message = [&](BatchLoaderOptions options) {
    options.fanouts = {2};
    return std::string(BatchLoader::Make(graph, options).status().message());
  };
  const std::vector<double> few{1, 2}, negative{1, -2, 1}, infinite{1, 1, HUGE_VAL};
  EXPECT_THAT(message({.disjoint = true, .induced = true}), HasSubstr("cannot be disjoint"));
  EXPECT_THAT(message({.weights = few}), HasSubstr("2 weights, and the graph has 3 edges"));
  EXPECT_THAT(message({.weights = negative}), HasSubstr("the weight of edge 1 is -2"));
  EXPECT_THAT(message({.weights = infinite}), HasSubstr("the weight of edge 2 is inf"));
}

}  // namespace
}  // namespace hone::gnn
