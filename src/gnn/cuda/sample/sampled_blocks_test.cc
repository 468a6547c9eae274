// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares SampledBlocks on the GPU with the CPU's sampler, byte for byte.
#include "gnn/cuda/sample/sampled_blocks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/sample/test_graphs.h"

namespace hone::gnn::cuda {
namespace {

struct GraphThere {
  DeviceArray<int64_t> row_offsets;
  DeviceArray<int32_t> columns;
  GraphOnDevice view{};
  explicit GraphThere(const TestCsr& csr) {
    EXPECT_TRUE(row_offsets.Upload(csr.row_offsets.data(), static_cast<int64_t>(csr.row_offsets.size())).ok());
    EXPECT_TRUE(columns.Upload(csr.columns.data(), static_cast<int64_t>(csr.columns.size())).ok());
    view.row_offsets = row_offsets.get();
    view.columns = columns.get();
    view.num_nodes = csr.view().num_nodes;
  }
};

// Samples a few batches with a frontier rule, some with repeated seeds, one without seeds, and expects the CPU's.
void ExpectTheCpusBatches(const TestCsr& csr, const std::vector<int32_t>& fanouts, FrontierRule frontier) {
  SCOPED_TRACE(frontier == FrontierRule::kNewOnly ? "new" : "all");
  const GraphThere there(csr);
  const SamplerOptions sampler{fanouts, frontier};
  auto cpu = MakeNeighborSampler(csr.view(), sampler).value();
  const auto blocks = SampledBlocks::Make(there.view, {.sampler = sampler, .batch = 40, .edge_ids = true}).value();
  const auto nodes = static_cast<uint32_t>(csr.view().num_nodes);
  for (uint32_t step = 0; step < 4; ++step) {
    const BatchKey key{.seed = 7, .epoch = 2, .step = step};
    std::vector<NodeId> seeds;
    for (uint32_t i = 0; i < (step == 2 ? 0 : 13 * (step + 1) % 40 + 1); ++i) {
      seeds.push_back(static_cast<NodeId>((i * 7919u + step * 31u) % (step == 1 ? nodes / 3 + 1 : nodes)));
    }
    NeighborSample expected;
    ASSERT_TRUE(cpu->Sample(seeds, key, expected).ok());
    ASSERT_TRUE(blocks->Enqueue(seeds, key, nullptr).ok());
    std::vector<std::vector<int64_t>> edge_ids;
    const Result<NeighborSample> sample_on_gpu = blocks->Download(nullptr, &edge_ids);
    ASSERT_TRUE(sample_on_gpu.ok()) << sample_on_gpu.status().message();
    EXPECT_EQ(sample_on_gpu->new_only, expected.new_only);
    EXPECT_EQ(sample_on_gpu->hop_nodes, expected.hop_nodes);
    EXPECT_EQ(sample_on_gpu->nodes, expected.nodes);
    ASSERT_EQ(sample_on_gpu->rows.size(), expected.rows.size());
    for (size_t i = 0; i < expected.rows.size(); ++i) {
      EXPECT_EQ(sample_on_gpu->rows[i].row_offsets, expected.rows[i].row_offsets)
          << "hop " << i << " of batch " << step;
      EXPECT_EQ(sample_on_gpu->rows[i].columns, expected.rows[i].columns) << "hop " << i << " of batch " << step;
      // Each edge's position lies in its row, no position repeats, and the node there equals the column.
      ASSERT_EQ(edge_ids[i].size(), expected.rows[i].columns.size());
      for (size_t row = 0; row + 1 < expected.rows[i].row_offsets.size(); ++row) {
        const auto node = static_cast<size_t>(expected.nodes[row]);
        std::set<int64_t> places;
        for (auto e = static_cast<size_t>(expected.rows[i].row_offsets[row]);
             e < static_cast<size_t>(expected.rows[i].row_offsets[row + 1]); ++e) {
          EXPECT_TRUE(places.insert(edge_ids[i][e]).second);
          ASSERT_GE(edge_ids[i][e], csr.row_offsets[node]);
          ASSERT_LT(edge_ids[i][e], csr.row_offsets[node + 1]);
          EXPECT_EQ(csr.columns[static_cast<size_t>(edge_ids[i][e])],
                    expected.nodes[static_cast<size_t>(expected.rows[i].columns[e])]);
        }
      }
    }
  }
}

TEST(SampledBlocks, AreTheCpusForEveryRuleAndWidth) {
  HONE_REQUIRE_DEVICE();
  const TestCsr graph = RandomCsr(300, 9, 5);  // parallel edges, self-loops, empty and long rows
  for (const FrontierRule frontier : {FrontierRule::kAllSoFar, FrontierRule::kNewOnly}) {
    ExpectTheCpusBatches(graph, {3, 4, 5}, frontier);
    ExpectTheCpusBatches(graph, {12, 32}, frontier);
    ExpectTheCpusBatches(graph, {20, 35, 2}, frontier);
    ExpectTheCpusBatches(graph, {kAllNeighbors, 3}, frontier);
    ExpectTheCpusBatches(graph, {1}, frontier);
  }
}

TEST(SampledBlocks, AStarsCentreIsDrawnForOnceOrAtEveryHop) {
  HONE_REQUIRE_DEVICE();
  const TestCsr star = Star(200);
  for (const FrontierRule frontier : {FrontierRule::kAllSoFar, FrontierRule::kNewOnly}) {
    ExpectTheCpusBatches(star, {2, 70, 3}, frontier);
  }
}

TEST(SampledBlocks, BatchesThatDoNotFitAreRefusedByName) {
  HONE_REQUIRE_DEVICE();
  const TestCsr cycle = Cycle(20);
  const GraphThere there(cycle);
  EXPECT_FALSE(SampledBlocks::Make(there.view, {.sampler = {{}, FrontierRule::kNewOnly}}).ok());
  EXPECT_NE(SampledBlocks::Make(there.view, {.sampler = {{0}}}).status().message().find("fanout 0"), std::string::npos);
  EXPECT_NE(SampledBlocks::Make(there.view, {.sampler = {{kMaxFanout + 1}}}).status().message().find("1025"), std::string::npos);
  const auto blocks = SampledBlocks::Make(there.view, {.sampler = {{2}}, .batch = 2}).value();
  const std::vector<NodeId> many = {1, 2, 3}, beyond = {20}, below = {-1};
  EXPECT_EQ(blocks->Enqueue(many, {}, nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(blocks->Enqueue(beyond, {}, nullptr).message().find("seed 20"), std::string::npos);
  EXPECT_NE(blocks->Enqueue(below, {}, nullptr).message().find("seed -1"), std::string::npos);
}

}  // namespace
}  // namespace hone::gnn::cuda
