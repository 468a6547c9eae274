// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the device's ranking equals the host's, and that its counts equal what the sampler draws.
#include "gnn/cuda/features/device_ranking.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {
namespace {

class DeviceRanking : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = OpenGraph("synthetic:arxiv?scale=0.01&seed=3").value();
    ASSERT_TRUE(device_.Upload(*graph_).ok());
  }
  template <typename T>
  static std::vector<T> Host(const Result<DeviceArray<T>>& array) {
    std::vector<T> values;
    EXPECT_TRUE(array.ok()) << array.status().message();
    if (array.ok()) {
      EXPECT_TRUE(array->Download(values).ok());
    }
    return values;
  }

  const BatchShape shape_{.fanouts = {5, 4, 3}, .batch = 64, .seed = 4};
  std::shared_ptr<const Graph> graph_;
  DeviceGraph device_;
};

TEST_F(DeviceRanking, ProbabilitiesAreTheHostsInBothDirectionsOverTheEdges) {
  const auto expected = InclusionProbabilities(graph_->structure(), graph_->train_nodes(), shape_, /*symmetric=*/true);
  for (const bool symmetric : {true, false}) {
    const auto ranking_on_gpu = Host(InclusionOnGpu(device_, graph_->train_nodes(), shape_, symmetric));
    ASSERT_EQ(ranking_on_gpu.size(), expected.size());
    // The sums are fixed-point words of 2^-40, and equal but for the rounding of single words.
    for (size_t v = 0; v < ranking_on_gpu.size(); ++v) EXPECT_NEAR(ranking_on_gpu[v], expected[v], 1e-9) << v;
  }
}

TEST_F(DeviceRanking, CountsAreTheHostsToTheBit) {
  for (const int epochs : {1, 2}) {
    EXPECT_EQ(Host(CountReadsOnGpu(device_, graph_->train_nodes(), shape_, 0, epochs)),
              CountInclusions(graph_->structure(), graph_->train_nodes(), shape_, epochs).value());
  }
}

TEST_F(DeviceRanking, CountsOfMoreNeighborsThanAWarpHasLanesAreTheHosts) {
  const BatchShape wide{.fanouts = {33, 40}, .batch = 256, .seed = 4};
  EXPECT_EQ(Host(CountReadsOnGpu(device_, graph_->train_nodes(), wide, 0, 1)),
            CountInclusions(graph_->structure(), graph_->train_nodes(), wide, 1).value());
}

// Counts have many ties, which the number of slots and then the id decide.
TEST_F(DeviceRanking, TheLikeliestAreTheHostsWhateverTheNumber) {
  const int64_t nodes = graph_->structure().num_nodes;
  for (const int64_t rows : {int64_t{0}, int64_t{1}, nodes / 100, nodes / 3, nodes - 1, nodes, nodes + 5}) {
    const FeatureStorage counted{.tier = FeatureTier::kCached,
                                 .cache_rows = rows,
                                 .ranking = CacheRanking::kPresampling,
                                 .presampled_epochs = 1};
    EXPECT_EQ(Host(LikeliestOnGpu(device_, graph_->train_nodes(), shape_, counted, /*symmetric=*/true)),
              LikeliestRows(*graph_, shape_, counted).value())
        << rows;
  }
  const FeatureStorage likely{.tier = FeatureTier::kCached, .cache_rows = nodes / 5};
  const auto ranking_on_gpu = Host(LikeliestOnGpu(device_, graph_->train_nodes(), shape_, likely, /*symmetric=*/true));
  const auto expected = LikeliestRows(*graph_, shape_, likely).value();
  std::vector<NodeId> others;
  std::set_difference(ranking_on_gpu.begin(), ranking_on_gpu.end(), expected.begin(), expected.end(),
                      std::back_inserter(others));
  EXPECT_EQ(ranking_on_gpu.size(), expected.size());
  EXPECT_LE(others.size(), expected.size() / 1000);  // nodes whose probabilities differ only in the last bits
}

TEST_F(DeviceRanking, AnEpochsReadsAreCountedWithAndWithoutACache) {
  const auto counts = CountInclusions(graph_->structure(), graph_->train_nodes(), shape_, 1).value();
  const auto reads_with_all_cached = CountCacheReads(device_, graph_->train_nodes(), shape_, 0).value();
  EXPECT_EQ(reads_with_all_cached.rows, std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  EXPECT_EQ(reads_with_all_cached.hits, reads_with_all_cached.rows);
  EXPECT_EQ(reads_with_all_cached.batches, (static_cast<int64_t>(graph_->train_nodes().size()) + 63) / 64);
  const std::vector<NodeId> cached = {3, 4, 99, 150};
  DeviceGraph behind;
  ASSERT_TRUE(behind.UploadCached(*graph_, cached, 0).ok());
  const auto reads_behind = CountCacheReads(behind, graph_->train_nodes(), shape_, 0).value();
  EXPECT_EQ(reads_behind.rows, reads_with_all_cached.rows);
  int64_t hits = 0;
  for (const NodeId v : cached) hits += counts[static_cast<size_t>(v)];
  EXPECT_EQ(reads_behind.hits, hits);
}

// The map also has the places of staged rows: those of batches in flight, and those of the last batch until the next
// one. When they counted as hits, a small cache looked almost twice as good.
TEST_F(DeviceRanking, RowsThatABatchHasStagedAreNoHits) {
  const auto counts = CountInclusions(graph_->structure(), graph_->train_nodes(), shape_, 1).value();
  const std::vector<NodeId> cached = {3, 4, 99, 150};
  int64_t hits = 0;
  for (const NodeId v : cached) hits += counts[static_cast<size_t>(v)];
  DeviceGraph behind;
  ASSERT_TRUE(behind.UploadCached(*graph_, cached, 1000).ok());
  std::vector<int32_t> nodes(500);
  std::iota(nodes.begin(), nodes.end(), 100);
  BatchHeader header{};
  header.valid = 1;
  header.hop_nodes[0] = static_cast<int32_t>(nodes.size());
  const RunState state{};
  DeviceArray<BatchHeader> headers;
  DeviceArray<RunState> states;
  DeviceArray<int32_t> seeds;
  ASSERT_TRUE(headers.Upload(&header, 1).ok());
  ASSERT_TRUE(states.Upload(&state, 1).ok());
  ASSERT_TRUE(seeds.Upload(nodes.data(), header.hop_nodes[0]).ok());
  ASSERT_EQ(EnqueueCollectMisses(behind.view(), 0, 1, header.hop_nodes[0], states.get(), headers.get(), seeds.get(), {}, nullptr),
            cudaSuccess);
  ASSERT_EQ(EnqueueCopyMisses(behind.view(), nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(CountCacheReads(behind, graph_->train_nodes(), shape_, 0).value().hits, hits);
}

// An outline's features are generated on the device and copied to host memory piece by piece, or moved there later.
TEST_F(DeviceRanking, AnOutlineTrainsToTheSameBitsWhereverItsFeaturesAre) {
  const auto outline = OutlineSyntheticGraph(graph_->name()).value();
  ModelOptions shape;
  shape.kind = "sage";
  shape.in_width = outline->features().width;
  shape.num_classes = outline->num_classes();
  shape.hidden = 8;
  shape.layers = 2;
  shape.seed = 5;
  GpuEngineOptions options;
  options.fanouts = options.eval_fanouts = {3, 2};
  options.batch = 128;
  const FeatureStorage host{.tier = FeatureTier::kCached, .cache_rows = 100, .misses = MissPath::kStaged};
  std::vector<double> expected;
  {
    auto model = MakeModel(shape).value();
    const auto engine = MakeGpuEngine(*outline, *model, options).value();
    for (uint32_t epoch = 0; epoch < 2; ++epoch) expected.push_back(engine->TrainEpoch(epoch).value().mean_loss);
  }
  {
    auto model = MakeModel(shape).value();
    const auto engine = MakeGpuEngine(*outline, *model, options).value();
    EXPECT_EQ(engine->TrainEpoch(0).value().mean_loss, expected[0]);
    ASSERT_TRUE(engine->SetStorage(*outline, host).ok());
    EXPECT_EQ(engine->TrainEpoch(1).value().mean_loss, expected[1]);
    EXPECT_EQ(engine->storage().cached_rows, 100);
    EXPECT_TRUE(engine->storage().staged);
    EXPECT_EQ(engine->SetStorage(*outline, {}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(engine->Fingerprint(*outline).value(), GraphFingerprint(*graph_));
  }
  options.storage = host;
  auto model = MakeModel(shape).value();
  const auto engine = MakeGpuEngine(*outline, *model, options).value();
  for (uint32_t epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(engine->TrainEpoch(epoch).value().mean_loss, expected[epoch]);
  EXPECT_EQ(engine->Fingerprint(*outline).value(), GraphFingerprint(*graph_));
}

}  // namespace
}  // namespace hone::gnn::cuda
