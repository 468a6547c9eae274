// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the plan with sums worked out by hand, with the memory that engines take, and with a device that is too
// small.
#include "gnn/cuda/engine/memory_plan.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kGigabyte = 1000000000;
const GraphSize kPapers{"papers", 111059956, 3228124712, 256};
const WorkingMemory kWorking{
    .parameters = kGigabyte / 10, .training = 2 * kGigabyte, .evaluation = kGigabyte, .products = 1 << 26};

TEST(MemoryPlan, AddsUpWhatTheTierKeepsOnTheDevice) {
  const MemoryPlan plan_of_all = PlanMemory(kPapers, kWorking, {}, 140 * kGigabyte);
  EXPECT_EQ(plan_of_all.structure, 8 * 111059957 + 4 * 3228124712);
  EXPECT_EQ(plan_of_all.labels, 4 * 111059956);
  EXPECT_EQ(plan_of_all.features, 111059956 * int64_t{256});
  EXPECT_EQ(plan_of_all.feature_map, 0);
  EXPECT_EQ(plan_of_all.needed, plan_of_all.structure + plan_of_all.labels + plan_of_all.features + 3 * kGigabyte +
                                    kGigabyte / 10 + (1 << 26) + plan_of_all.reserve);
  EXPECT_TRUE(plan_of_all.fits);
  EXPECT_TRUE(plan_of_all.status().ok());
  EXPECT_EQ(plan_of_all.most_cache_rows, kPapers.num_nodes);

  const FeatureStorage storage{.tier = FeatureTier::kCached, .cache_rows = 1000000, .staging_rows = 1000};
  const MemoryPlan cached = PlanMemory(kPapers, kWorking, storage, 140 * kGigabyte);
  // Each of the four batches in flight has room for staged rows, and a map.
  EXPECT_EQ(cached.features, 1004000 * int64_t{256});
  EXPECT_EQ(cached.feature_map, 4 * 4 * (111059956 + int64_t{1000}));
  EXPECT_EQ(cached.needed, plan_of_all.needed - plan_of_all.features + cached.features + cached.feature_map);
}

TEST(MemoryPlan, CountsTheTableOfEdgeFeaturesInEveryTier) {
  GraphSize with_edges = kPapers;
  with_edges.edge_feature_bytes = 16 * with_edges.num_edges;
  for (const FeatureStorage& storage : {FeatureStorage{}, FeatureStorage{.tier = FeatureTier::kCached, .cache_rows = 5},
                                        FeatureStorage{.tier = FeatureTier::kPeers, .processes = 4}}) {
    const MemoryPlan plan = PlanMemory(with_edges, kWorking, storage, 140 * kGigabyte);
    EXPECT_EQ(plan.needed - PlanMemory(kPapers, kWorking, storage, 140 * kGigabyte).needed, 16 * kPapers.num_edges);
    EXPECT_NE(plan.text.find("features of edges"), std::string::npos);
  }
  const MemoryPlan plan = PlanMemory(with_edges, kWorking, {}, 60 * kGigabyte);
  EXPECT_FALSE(plan.fits);
  EXPECT_NE(plan.refusal.find(", features of edges 51.65 GB, training"), std::string::npos) << plan.refusal;
  // A cache of features does not make room for the table.
  EXPECT_LT(plan.most_cache_rows, 0);
}

TEST(MemoryPlan, ARefusalNamesTheCacheThatWouldFitAndItDoes) {
  const MemoryPlan plan = PlanMemory(kPapers, kWorking, {}, 24 * kGigabyte);
  EXPECT_FALSE(plan.fits);
  ASSERT_GT(plan.most_cache_rows, 0);
  EXPECT_EQ(plan.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(plan.refusal.find("'papers' needs up to 46"), std::string::npos) << plan.refusal;
  EXPECT_NE(plan.refusal.find("24.00 GB are free"), std::string::npos) << plan.refusal;
  EXPECT_NE(plan.refusal.find("a cache of at most " + std::to_string(plan.most_cache_rows)), std::string::npos)
      << plan.refusal;
  FeatureStorage storage{.tier = FeatureTier::kCached, .cache_rows = plan.most_cache_rows};
  EXPECT_TRUE(PlanMemory(kPapers, kWorking, storage, 24 * kGigabyte).fits);
  ++storage.cache_rows;
  EXPECT_FALSE(PlanMemory(kPapers, kWorking, storage, 24 * kGigabyte).fits);
}

TEST(MemoryPlan, PeersCountTheirPartAndARefusalNamesThem) {
  FeatureStorage storage{.tier = FeatureTier::kPeers, .processes = 4};
  const MemoryPlan peers = PlanMemory(kPapers, kWorking, storage, 140 * kGigabyte);
  EXPECT_EQ(peers.features, 424 * (int64_t{16} << 20));  // this rank's share of 1,695 pieces
  EXPECT_EQ(peers.feature_map, 0);
  storage.cache_rows = 1000000;
  const MemoryPlan cached = PlanMemory(kPapers, kWorking, storage, 140 * kGigabyte);
  EXPECT_EQ(cached.features, peers.features + 256 * int64_t{1000000});
  EXPECT_EQ(cached.feature_map, 4 * int64_t{111059956});

  const MemoryPlan plan_of_all = PlanMemory(kPapers, kWorking, {.processes = 4}, 30 * kGigabyte);
  EXPECT_FALSE(plan_of_all.fits);
  ASSERT_GT(plan_of_all.most_cache_rows_of_peers, 0);
  EXPECT_NE(plan_of_all.refusal.find("shared by the GPUs of the 4 ranks, each with a cache of at most " +
                             std::to_string(plan_of_all.most_cache_rows_of_peers)),
            std::string::npos)
      << plan_of_all.refusal;
  storage.cache_rows = plan_of_all.most_cache_rows_of_peers;
  EXPECT_TRUE(PlanMemory(kPapers, kWorking, storage, 30 * kGigabyte).fits);
  ++storage.cache_rows;
  EXPECT_FALSE(PlanMemory(kPapers, kWorking, storage, 30 * kGigabyte).fits);
  // A single rank has no peers. If the structure fills the GPUs, four ranks have no room for their parts either.
  EXPECT_LT(PlanMemory(kPapers, kWorking, {}, 30 * kGigabyte).most_cache_rows_of_peers, 0);
  EXPECT_LT(PlanMemory(kPapers, kWorking, {.processes = 4}, 24 * kGigabyte).most_cache_rows_of_peers, 0);
}

TEST(MemoryPlan, WhereNotEvenTheStructureFitsNoCacheIsOffered) {
  const MemoryPlan plan = PlanMemory(kPapers, kWorking, {}, 8 * kGigabyte);
  EXPECT_FALSE(plan.fits);
  EXPECT_LT(plan.most_cache_rows, 0);
  EXPECT_EQ(plan.refusal.find("a cache of"), std::string::npos) << plan.refusal;
  EXPECT_NE(plan.refusal.find("smaller batches"), std::string::npos) << plan.refusal;
}

TEST(MemoryPlan, AModelTheEngineDoesNotHaveIsRefusedByName) {
  ModelOptions model;
  model.kind = "gcn";
  const auto working = CountWorkingMemory(model, {}, 1000);
  EXPECT_EQ(working.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(working.status().message().find("gcn"), std::string::npos);
}

TEST(MemoryPlan, CountsNoLessThanEveryModelsEngineTakes) {
  HONE_REQUIRE_DEVICE();
  const auto graph = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
  const GraphSize size{graph->name(), graph->structure().num_nodes, graph->structure().num_edges(),
                       graph->features().stride_bytes};
  GpuEngineOptions options;
  options.fanouts = {4, 3};
  options.eval_fanouts = {5, 4};
  options.batch = options.eval_batch = 32;
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (const bool cached : {false, true}) {
      SCOPED_TRACE(kind + (cached ? ", cached" : ", all on the device"));
      options.storage = {
          .tier = cached ? FeatureTier::kCached : FeatureTier::kDevice, .cache_rows = 20, .staging_rows = 64};
      ModelOptions shape;
      shape.kind = kind;
      shape.in_width = graph->features().width;
      shape.num_classes = graph->num_classes();
      shape.hidden = 16;
      shape.layers = 2;
      auto model = MakeModel(shape).value();
      const MemoryPlan plan = PlanMemory(size, shape, options).value();
      EXPECT_TRUE(plan.fits) << plan.refusal;
      size_t before = 0, after = 0, total = 0;
      ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
      auto engine = MakeGpuEngine(*graph, *model, options);
      ASSERT_TRUE(engine.ok()) << engine.status().message();
      ASSERT_TRUE(engine.value()->Evaluate(graph->test_nodes(), nullptr).ok());
      ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
      const auto taken_bytes = static_cast<int64_t>(before) - static_cast<int64_t>(after);
      // The emulated runtime needs no allowances for libraries and the runtime, so the tighter bounds below leave them
      // out.
      EXPECT_GE(plan.needed, taken_bytes);
      // Programs of these models run products in parallel, each kind with a separate workspace, in both envelopes.
      const int64_t parallel_products = (kind == "sage" ? 2 : kind == "gat" ? 0 : 4) * plan.working.products;
      const int64_t allowances = plan.reserve + plan.working.products + parallel_products;
      cudaDeviceProp device;
      ASSERT_EQ(cudaGetDeviceProperties(&device, 0), cudaSuccess);
      if (std::string(device.name) != "emulated") continue;
      EXPECT_GE(plan.needed - allowances + 65536, taken_bytes);  // and the few arrays of fixed size
      EXPECT_LE(plan.needed - allowances, 4 * taken_bytes) << plan.text;
    }
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
