// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the fast sampler with samples worked out by hand, and with the reference byte for byte.
#include "gnn/sample/fast_sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "gnn/sample/counting_allocator.h"
#include "gnn/sample/reference_sampler.h"
#include "gnn/sample/test_graphs.h"

namespace hone::gnn {
namespace {

using Table = SamplerTuning::Table;
using Draws = SamplerTuning::Draws;

std::unique_ptr<NeighborSampler> Make(const TestCsr& csr, const SamplerOptions& options,
                                      const SamplerTuning& tuning = {}) {
  Result<std::unique_ptr<NeighborSampler>> sampler = MakeFastSampler(csr.view(), options, tuning);
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  return std::move(sampler).value();
}

NeighborSample SampleOnce(const TestCsr& csr, const SamplerOptions& options, const std::vector<NodeId>& seeds,
                          const BatchKey& key = {.seed = 1}) {
  NeighborSample sample;
  const Status status = Make(csr, options)->Sample(seeds, key, sample);
  EXPECT_TRUE(status.ok()) << status.message();
  return sample;
}

void ExpectSame(const NeighborSample& a, const NeighborSample& b, const std::string& what) {
  ASSERT_EQ(a.nodes, b.nodes) << what;
  ASSERT_EQ(a.hop_nodes, b.hop_nodes) << what;
  ASSERT_EQ(a.new_only, b.new_only) << what;
  ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].row_offsets, b.rows[i].row_offsets) << what;
    ASSERT_EQ(a.rows[i].columns, b.rows[i].columns) << what;
    ASSERT_EQ(a.rows[i].edges, b.rows[i].edges) << what;
  }
}

using Ids = std::vector<int32_t>;

TEST(NeighborSampler, TakesACycleWhole) {
  // The seeds are 0 and 3 of a 6-cycle. Every row has two entries, so a fanout of two copies it.
  const NeighborSample sample = SampleOnce(Cycle(6), {.fanouts = {2, 2}}, {0, 3});
  EXPECT_EQ(sample.nodes, (Ids{0, 3, 5, 1, 2, 4}));
  EXPECT_EQ(sample.hop_nodes, (Ids{2, 6, 6}));
  const BlockView last = sample.Block(1), first = sample.Block(0);
  EXPECT_EQ(Ids(last.row_offsets.begin(), last.row_offsets.end()), (Ids{0, 2, 4}));
  EXPECT_EQ(Ids(last.columns.begin(), last.columns.end()), (Ids{2, 3, 4, 5}));
  EXPECT_EQ(first.num_dst, 6);
  EXPECT_EQ(first.num_src, 6);
  // The columns of the rows of nodes 0, 3, 5, 1, 2 and 4, in local ids.
  EXPECT_EQ(Ids(first.columns.begin(), first.columns.end()), (Ids{2, 3, 4, 5, 5, 0, 0, 4, 3, 1, 1, 2}));
}

TEST(NeighborSampler, NewOnlyDrawsEveryNodeOnceAndReusesTheRows) {
  const NeighborSample sample = SampleOnce(Cycle(8), {.fanouts = {2, 2}, .frontier = FrontierRule::kNewOnly}, {0});
  EXPECT_EQ(sample.nodes, (Ids{0, 7, 1, 6, 2}));
  EXPECT_EQ(sample.hop_nodes, (Ids{1, 3, 5}));
  ASSERT_EQ(sample.rows.size(), 1u);
  EXPECT_EQ(sample.Block(1).num_dst, 1);
  EXPECT_EQ(sample.Block(1).num_edges(), 2);
  const BlockView first = sample.Block(0);
  EXPECT_EQ(first.num_dst, 3);
  EXPECT_EQ(first.num_src, 5);
  EXPECT_EQ(Ids(first.columns.begin(), first.columns.end()), (Ids{1, 2, 3, 0, 0, 4}));
}

TEST(NeighborSampler, KeepsEmptyRowsSelfLoopsAndParallelEdges) {
  const TestCsr csr = CsrOfRows({{}, {1}, {0, 0, 3}, {2}});
  const NeighborSample sample = SampleOnce(csr, {.fanouts = {kAllNeighbors}}, {0, 1, 2});
  EXPECT_EQ(sample.nodes, (Ids{0, 1, 2, 3}));
  const BlockView block = sample.Block(0);
  EXPECT_EQ(Ids(block.row_offsets.begin(), block.row_offsets.end()), (Ids{0, 0, 1, 4}));
  EXPECT_EQ(Ids(block.columns.begin(), block.columns.end()), (Ids{1, 0, 0, 3}));
}

TEST(NeighborSampler, RepeatedSeedsMapToTheFirst) {
  const NeighborSample sample = SampleOnce(Star(3), {.fanouts = {3}}, {2, 0, 2, 0});
  EXPECT_EQ(sample.num_seeds(), 2);
  EXPECT_EQ(sample.nodes, (Ids{2, 0, 1, 3}));
}

TEST(NeighborSampler, NoSeedsGiveAnEmptySample) {
  const NeighborSample sample = SampleOnce(Star(3), {.fanouts = {2, 2}}, {});
  EXPECT_EQ(sample.num_nodes(), 0);
  EXPECT_EQ(sample.hop_nodes, (Ids{0, 0, 0}));
  EXPECT_EQ(sample.Block(0).num_edges(), 0);
}

TEST(NeighborSampler, EqualsTheReferenceByteForByte) {
  const TestCsr small = RandomCsr(300, 12, 1), large = RandomCsr(20000, 25, 2);
  struct Case {
    const TestCsr* csr;
    int seeds;
    std::vector<int32_t> fanouts;
  };
  const std::vector<Case> cases = {
      {&small, 7, {1}},
      {&small, 300, {15, 10, 5}},
      {&small, 20, {kAllNeighbors, 3, kAllNeighbors}},
      {&small, 5, {1024, 33}},
      {&large, 1024, {15, 10, 5}},
      {&large, 100, {20, 20, 20}},
      {&large, 64, {40, 2, 7}},
      {&large, 10, {kAllNeighbors, kAllNeighbors}},
      {&large, 33, {100, 1}},
      {&large, 1, {5, 5, 5, 5}},
  };
  Rng rng(3);
  for (const Case& c : cases) {
    for (const FrontierRule rule : {FrontierRule::kAllSoFar, FrontierRule::kNewOnly}) {
      const SamplerOptions options{c.fanouts, rule};
      const auto nodes = static_cast<uint64_t>(c.csr->view().num_nodes);
      const SamplerTuning tunings[] = {
          {.table = Table::kDirect}, {.table = Table::kHash, .draws = Draws::kAvx2}, {.draws = Draws::kScalar}};
      std::unique_ptr<NeighborSampler> samplers[] = {
          Make(*c.csr, options, tunings[0]), Make(*c.csr, options, tunings[1]), Make(*c.csr, options, tunings[2])};
      NeighborSample sample;
      for (uint32_t step = 0; step < 2; ++step) {
        const BatchKey key{.seed = 77, .epoch = 4, .step = step};
        std::vector<NodeId> seeds;
        for (int i = 0; i < c.seeds; ++i) seeds.push_back(static_cast<NodeId>(rng.Below(nodes)));
        const NeighborSample expected = ReferenceSample(c.csr->view(), options, seeds, key);
        for (int i = 0; i < 3; ++i) {
          ASSERT_TRUE(samplers[i]->Sample(seeds, key, sample).ok());
          ExpectSame(sample, expected,
                     "tuning " + std::to_string(i) + ", first fanout " + std::to_string(c.fanouts[0]));
        }
      }
    }
  }
}

// An edge's position must lie in its destination's row of the graph, and hold the source that the sample numbers.
TEST(NeighborSampler, GivesThePositionOfEachEdgeToWhoAsks) {
  const TestCsr csr = RandomCsr(300, 12, 5);
  const CsrView graph = csr.view();
  for (const FrontierRule frontier : {FrontierRule::kAllSoFar, FrontierRule::kNewOnly}) {
    SamplerOptions options{.fanouts = {6, kAllNeighbors, 2}, .frontier = frontier, .edges = true};
    const BatchKey key{.seed = 9, .epoch = 2, .step = 3};
    const NeighborSample sample = SampleOnce(csr, options, {4, 17, 250}, key);
    ExpectSame(ReferenceSample(graph, options, std::vector<NodeId>{4, 17, 250}, key), sample, "with edges");
    for (int layer = 0; layer < 3; ++layer) {
      const BlockView block = sample.Block(layer);
      ASSERT_EQ(block.edges.size(), block.columns.size());
      for (int32_t i = 0; i < block.num_dst; ++i) {
        const auto v = static_cast<size_t>(sample.nodes[static_cast<size_t>(i)]);
        for (auto e = static_cast<size_t>(block.row_offsets[static_cast<size_t>(i)]);
             e < static_cast<size_t>(block.row_offsets[static_cast<size_t>(i) + 1]); ++e) {
          ASSERT_GE(block.edges[e], graph.row_offsets[v]);
          ASSERT_LT(block.edges[e], graph.row_offsets[v + 1]);
          ASSERT_EQ(graph.columns[static_cast<size_t>(block.edges[e])],
                    sample.nodes[static_cast<size_t>(block.columns[e])]);
        }
      }
    }
    options.edges = false;  // the same sample, without positions
    NeighborSample without = SampleOnce(csr, options, {4, 17, 250}, key);
    for (size_t i = 0; i < without.rows.size(); ++i) {
      EXPECT_TRUE(without.rows[i].edges.empty());
      without.rows[i].edges = sample.rows[i].edges;
    }
    EXPECT_TRUE(without.Block(0).edges.size() == sample.Block(0).edges.size());
    ExpectSame(without, sample, "without edges");
  }
}

TEST(NeighborSampler, NumbersStayRightWhenTheTableWraps) {
  const TestCsr csr = RandomCsr(2000, 10, 6);
  const SamplerOptions options{{5, 5}};
  for (const Table table : {Table::kDirect, Table::kHash}) {
    // The base starts again when it exceeds 2^32 - 1 - 2000.
    const auto sampler = Make(csr, options, {.table = table, .first_base = 0xffffffffu - 2000 - 300});
    NeighborSample sample;
    int32_t sampled_nodes = 0;
    for (uint32_t step = 0; step < 12; ++step) {
      const std::vector<NodeId> seeds = {static_cast<NodeId>(step), 17, 100, 1999};
      const BatchKey key{.seed = 8, .step = step};
      ASSERT_TRUE(sampler->Sample(seeds, key, sample).ok());
      ExpectSame(sample, ReferenceSample(csr.view(), options, seeds, key), "step " + std::to_string(step));
      sampled_nodes += sample.num_nodes();
    }
    ASSERT_GT(sampled_nodes, 600) << "too few nodes to wrap and to go on a while after";
  }
}

TEST(NeighborSampler, AllocatesNothingInTheSteadyState) {
  const TestCsr csr = RandomCsr(20000, 20, 7);
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < 256; ++v) seeds.push_back(v * 31);
  for (const FrontierRule rule : {FrontierRule::kAllSoFar, FrontierRule::kNewOnly}) {
    for (const Table table : {Table::kDirect, Table::kHash}) {
      const auto sampler = Make(csr, {{40, 10, 5}, rule}, {.table = table});
      NeighborSample sample;
      const auto run = [&](uint32_t step) {
        ASSERT_TRUE(sampler->Sample(seeds, {.seed = 1, .step = step}, sample).ok());
      };
      run(0);
      // Batches differ in size a little; std::vector's doubling leaves room after the first few.
      for (uint32_t step = 1; step < 8; ++step) run(step);
      const int64_t before = AllocationsOfThisThread(), buffers_before = HugeBuffer::allocations();
      for (uint32_t step = 0; step < 8; ++step) run(step);
      EXPECT_EQ(AllocationsOfThisThread(), before);
      EXPECT_EQ(HugeBuffer::allocations(), buffers_before);
    }
  }
  EXPECT_GT(AllocationsOfThisThread(), 0) << "the counter counts nothing";
}

TEST(NeighborSampler, GivesTheSameSamplesOnOneTwoAndSixteenThreads) {
  const TestCsr csr = RandomCsr(5000, 15, 9);
  const SamplerOptions options{{10, 5}};
  constexpr int kBatches = 32;
  const auto sample_all = [&](int threads) {
    std::vector<NeighborSample> samples(kBatches);
    std::atomic<int> next{0};
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        const auto sampler = Make(csr, options);
        for (int batch = next++; batch < kBatches; batch = next++) {
          const std::vector<NodeId> seeds = {batch, batch + 100, 4999 - batch};
          EXPECT_TRUE(sampler
                          ->Sample(seeds, {.seed = 2, .step = static_cast<uint32_t>(batch)},
                                   samples[static_cast<size_t>(batch)])
                          .ok());
        }
      });
    }
    for (std::thread& thread : pool) thread.join();
    return samples;
  };
  const std::vector<NeighborSample> one = sample_all(1);
  for (const int threads : {2, 16}) {
    const std::vector<NeighborSample> of_many_threads = sample_all(threads);
    for (size_t i = 0; i < kBatches; ++i) ExpectSame(one[i], of_many_threads[i], "batch " + std::to_string(i));
  }
}

TEST(NeighborSampler, ANodesDrawDoesNotDependOnTheRestOfTheBatch) {
  const TestCsr csr = RandomCsr(1000, 50, 10);
  const auto neighbors_of = [&](const std::vector<NodeId>& seeds, NodeId node) {
    const NeighborSample sample = SampleOnce(csr, {.fanouts = {5}}, seeds, {.seed = 3});
    const auto row =
        static_cast<size_t>(std::find(sample.nodes.begin(), sample.nodes.end(), node) - sample.nodes.begin());
    const BlockView block = sample.Block(0);
    Ids ids;
    for (int32_t i = block.row_offsets[row]; i < block.row_offsets[row + 1]; ++i) {
      ids.push_back(sample.nodes[static_cast<size_t>(block.columns[static_cast<size_t>(i)])]);
    }
    return ids;
  };
  const Ids alone = neighbors_of({42}, 42);
  EXPECT_FALSE(alone.empty());
  EXPECT_EQ(neighbors_of({7, 8, 9, 10, 42, 11}, 42), alone);
}

TEST(NeighborSampler, RefusesBadSeedsAndFanouts) {
  const TestCsr csr = Star(3);
  NeighborSample sample;
  for (const NodeId bad : {-1, 4}) {
    const Status status = Make(csr, {.fanouts = {2}})->Sample(std::vector<NodeId>{0, bad}, {}, sample);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), "seed " + std::to_string(bad) + " is not a node: ids are 0 to 3");
    EXPECT_EQ(sample.num_nodes(), 0);
    EXPECT_EQ(sample.Block(0).num_edges(), 0);
  }
  const auto refusal = [&](std::vector<int32_t> fanouts) {
    return MakeNeighborSampler(csr.view(), {.fanouts = std::move(fanouts)}).status();
  };
  EXPECT_EQ(refusal({3, 0}).message(), "fanout 0 of hop 2 is out of range: 1 to 1024, or -1 for all neighbors");
  EXPECT_EQ(refusal({1025}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({-2}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(std::vector<int32_t>(65, 1)).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(MakeNeighborSampler(csr.view(), {.fanouts = {1024, kAllNeighbors}}).ok());
}

TEST(NeighborSampler, ABadBatchLeavesTheNextOneRight) {
  const TestCsr csr = RandomCsr(500, 10, 11);
  const SamplerOptions options{{5, 5}};
  const auto sampler = Make(csr, options);
  NeighborSample sample;
  EXPECT_FALSE(sampler->Sample(std::vector<NodeId>{1, 2, 3, 500}, {}, sample).ok());
  const std::vector<NodeId> seeds = {3, 4};
  ASSERT_TRUE(sampler->Sample(seeds, {}, sample).ok());
  ExpectSame(sample, ReferenceSample(csr.view(), options, seeds, {}), "after an error");
}

}  // namespace
}  // namespace hone::gnn
