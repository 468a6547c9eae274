// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that features in host memory behind a cache give the bits of features in device memory: every model, both ways
// of reading misses, no cache, a partial one, and all rows.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/features/miss_path.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/cuda/kernels/aggregate_kernels.h"
#include "gnn/cuda/kernels/sample_mean.h"
#include "gnn/cuda/kernels/staged_mean.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kNodes = 180;

struct Outcome {
  std::vector<double> losses;
  std::vector<int32_t> predictions;
  std::map<std::string, std::vector<float>> parameters;
  bool operator==(const Outcome&) const = default;
};

class CachedFeatures : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = CommunityGraph({.nodes = kNodes, .classes = 5, .degree = 8, .width = 12, .seed = 2});
    options_.fanouts = {4, 3};
    options_.eval_fanouts = {5, 4};
    options_.batch = options_.eval_batch = 32;
    options_.seed = 17;
  }
  // Runs two epochs and an evaluation.
  Outcome Run(const ModelOptions& shape, const FeatureStorage& storage) {
    options_.storage = storage;
    auto model = MakeModel(shape).value();
    Outcome outcome;
    auto engine = MakeGpuEngine(*graph_, *model, options_);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    if (!engine.ok()) return outcome;
    for (uint32_t epoch = 0; epoch < 2; ++epoch) {
      outcome.losses.push_back(engine.value()->TrainEpoch(epoch).value().mean_loss);
    }
    outcome.losses.push_back(engine.value()->Evaluate(graph_->test_nodes(), &outcome.predictions).value().mean_loss);
    EXPECT_TRUE(engine.value()->ExportTo(*model).ok());
    for (const Parameter<float>* p : model->parameters()) outcome.parameters[p->name] = p->value;
    return outcome;
  }
  ModelOptions Shape(const std::string& kind) const {
    ModelOptions shape;
    shape.kind = kind;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    shape.hidden = 16;
    shape.layers = 2;
    shape.heads = kind == "gat" ? 2 : 1;
    shape.seed = 5;
    return shape;
  }

  std::shared_ptr<const Graph> graph_;
  GpuEngineOptions options_;
};

TEST_F(CachedFeatures, EveryModelTrainsAndPredictsToTheSameBits) {
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    const Outcome expected = Run(Shape(kind), {});
    ASSERT_EQ(expected.losses.size(), 3u);
    EXPECT_NE(expected.losses[0], expected.losses[1]);
    for (const int64_t rows : {int64_t{0}, kNodes / 3, kNodes, 10 * kNodes}) {
      SCOPED_TRACE(kind + " with " + std::to_string(rows) + " rows");
      EXPECT_EQ(Run(Shape(kind), {.tier = FeatureTier::kCached, .cache_rows = rows, .misses = MissPath::kZeroCopy}),
                expected);
    }
  }
}

// Trains three models. One draws and sums the outermost hop at once, one gathers the rows of numbered nodes, and one
// draws the hop and attends to its rows, which a linear is composed with.
TEST_F(CachedFeatures, ModelsOfAFileTrainToTheSameBits) {
  constexpr const char* kDrawn = R"(name = "drawn"
values = [
  {name = "a0", op = "aggregate", of = "x", how = "sum", scale = "symmetric"},
  {name = "h0", op = "linear", of = "a0", width = 16},
  {name = "own", op = "linear", of = "x", width = 16},
  {name = "s", op = "add", of = ["h0", "own"]},
  {name = "r", op = "activate", of = "s"},
  {name = "a1", op = "aggregate", of = "r"},
  {name = "l", op = "head", of = "a1"},
])";
  constexpr const char* kNumbered = R"(name = "numbered"
values = [
  {name = "in", op = "linear", of = "x", width = 16},
  {name = "a0", op = "attention", of = "in", width = 16},
  {name = "a1", op = "aggregate", of = "a0", how = "max"},
  {name = "l", op = "head", of = "a1"},
])";
  constexpr const char* kComposed = R"(name = "composed"
values = [
  {name = "in", op = "linear", of = "x", width = 24},
  {name = "a0", op = "attention", of = "in", width = 12, heads = 2},
  {name = "s", op = "add", of = ["a0", "in"]},
  {name = "a1", op = "aggregate", of = "s"},
  {name = "l", op = "head", of = "a1"},
])";
  for (const char* toml : {kDrawn, kNumbered, kComposed}) {
    auto spec = std::make_shared<const ModelSpec>(ParseModelSpec(toml, "the test's").value());
    ModelOptions shape = SpecOptions(spec, 2);
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    const Outcome expected = Run(shape, {});
    ASSERT_EQ(expected.losses.size(), 3u);
    for (const MissPath misses : {MissPath::kStaged, MissPath::kZeroCopy}) {
      EXPECT_EQ(Run(shape, {.tier = FeatureTier::kCached, .cache_rows = 30, .misses = misses, .staging_rows = 40}), expected)
          << spec->name;
    }
  }
}

// Gives staging room for all misses, for some, and for one row, and lets the measurement choose the way.
TEST_F(CachedFeatures, StagedMissesGiveTheSameBitsWhateverRoomTheyHave) {
  for (const std::string kind : {"sage", "gin", "gat"}) {
    const Outcome expected = Run(Shape(kind), {});
    for (const int64_t room : {int64_t{1}, int64_t{40}, int64_t{1000}}) {
      SCOPED_TRACE(kind + " with room for " + std::to_string(room));
      EXPECT_EQ(
          Run(Shape(kind),
              {.tier = FeatureTier::kCached, .cache_rows = 30, .misses = MissPath::kStaged, .staging_rows = room}),
          expected);
    }
  }
  EXPECT_EQ(Run(Shape("sage"), {.tier = FeatureTier::kCached, .cache_rows = 30, .misses = MissPath::kFastest}),
            Run(Shape("sage"), {}));
}

// Four batches are in flight. If one does not fit its envelope, the batches before it are finished and those behind it
// are drawn again. A step of several shards begins in any of the buffers.
TEST_F(CachedFeatures, BatchesThatDoNotFitAndStepsOfSeveralShardsGiveTheSameBits) {
  const FeatureStorage staged{.tier = FeatureTier::kCached, .cache_rows = 30, .misses = MissPath::kStaged};
  options_.batch = 8;
  const auto check = [&](int32_t shards, double envelope) {
    SCOPED_TRACE(std::to_string(shards) + " shards, envelope " + std::to_string(envelope));
    options_.shards = shards;
    options_.envelope = envelope;
    EXPECT_EQ(Run(Shape("sage"), staged), Run(Shape("sage"), {}));
  };
  check(1, 0.97);
  check(2, 1.03);
  check(3, 0.97);
}

TEST_F(CachedFeatures, StagedRowsAreBackOnTheHostWhenTheBatchIsDone) {
  const std::vector<NodeId> cached = {3, 4, 99, 150};
  DeviceGraph device;
  ASSERT_TRUE(device.UploadCached(*graph_, cached, 1000).ok());
  std::vector<int32_t> before, after;
  std::vector<unsigned char> rows;
  ASSERT_TRUE(device.places().Download(before).ok());
  const Result<MissTimes> times = MeasureMissPaths(device, 4);
  ASSERT_TRUE(times.ok()) << times.status().message();
  EXPECT_GT(times->zero_copy_ms, 0);
  EXPECT_GT(times->staged_ms, 0);
  EXPECT_EQ(device.view().staging.rows, 1000);
  ASSERT_TRUE(device.places().Download(after).ok());
  EXPECT_EQ(after, before);
  // Every node was a seed of that batch, so every row that is not cached was copied once.
  ASSERT_TRUE(device.features().Download(rows).ok());
  const FeatureView features = graph_->features();
  const auto stride = static_cast<size_t>(features.stride_bytes);
  for (NodeId v = 0; v < kNodes; ++v) {
    if (std::find(cached.begin(), cached.end(), v) != cached.end()) continue;
    int copies = 0;
    for (size_t i = cached.size(); i < cached.size() + kNodes - cached.size(); ++i) {
      copies += std::memcmp(rows.data() + i * stride, features.Row(v), stride) == 0;
    }
    EXPECT_EQ(copies, 1) << v;
  }
}

// Sums over one node's two rows: both are copied once, and the sum is that of the host's values.
TEST_F(CachedFeatures, TheAggregationOfOtherModelsStagesItsMissesToo) {
  DeviceGraph device;
  ASSERT_TRUE(device.UploadCached(*graph_, {}, 8).ok());
  BatchHeader header{};
  header.valid = header.hop_nodes[0] = 1;
  const RunState state{};
  const int32_t node = 7;
  DeviceArray<BatchHeader> headers;
  DeviceArray<RunState> states;
  DeviceArray<int32_t> nodes;
  DeviceArray<float> out;
  ASSERT_TRUE(headers.Upload(&header, 1).ok());
  ASSERT_TRUE(states.Upload(&state, 1).ok());
  ASSERT_TRUE(nodes.Upload(&node, 1).ok());
  const int32_t vectors = device.view().feature_vectors;
  ASSERT_TRUE(out.Allocate(16 * vectors).ok());
  SampleAggregate aggregate;
  aggregate.out = out.get();
  ASSERT_EQ(EnqueueCollectMisses(device.view(), 0, 1, 1, states.get(), headers.get(), nodes.get(), {}, nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueCopyMisses(device.view(), nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueSampleAggregate(device.view(), device.feature_element(), 0, 1, 1, aggregate, states.get(),
                                   headers.get(), nodes.get(), Element::kFloat32, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<unsigned char> rows;
  ASSERT_TRUE(device.features().Download(rows).ok());
  const FeatureView features = graph_->features();
  const auto stride = static_cast<size_t>(features.stride_bytes);
  int own = 0, drawn = 0;
  for (size_t i = 0; i < 2; ++i) {
    own += std::memcmp(rows.data() + i * stride, features.Row(node), stride) == 0;
    for (const NodeId v : graph_->structure().Neighbors(node)) {
      drawn += std::memcmp(rows.data() + i * stride, features.Row(v), stride) == 0;
    }
  }
  EXPECT_EQ(own, 1);
  EXPECT_GE(drawn, 1);
}

// Recorded places are used, where other kernels draw and look up again. There is room for all misses, for some, and for
// one; the fanout is the number of lanes of a lane group, smaller, and larger.
TEST_F(CachedFeatures, PlacesWrittenDownGatherToTheBitsOfDrawingAgain) {
  constexpr int32_t kSeeds = 50;
  const std::vector<NodeId> cached = {3, 4, 99, 150, 151, 152};
  BatchHeader header{};
  header.valid = 1;
  header.hop_nodes[1] = kSeeds;
  RunState state{};
  state.seed = 11;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < kSeeds; ++i) ids.push_back((i * 37) % static_cast<int32_t>(kNodes));
  DeviceArray<BatchHeader> headers;
  DeviceArray<RunState> states;
  DeviceArray<int32_t> nodes;
  ASSERT_TRUE(headers.Upload(&header, 1).ok());
  ASSERT_TRUE(states.Upload(&state, 1).ok());
  ASSERT_TRUE(nodes.Upload(ids.data(), kSeeds).ok());
  DeviceGraph whole;
  ASSERT_TRUE(whole.Upload(*graph_).ok());
  for (const int32_t fanout : {1, 5, 8, 9, 20}) {
    for (const int64_t room : {int64_t{1}, int64_t{40}, int64_t{1000}}) {
      SCOPED_TRACE(std::to_string(fanout) + " neighbors, room for " + std::to_string(room));
      DeviceGraph behind;
      ASSERT_TRUE(behind.UploadCached(*graph_, cached, room).ok());
      const int64_t values = int64_t{kSeeds} * 16 * whole.view().feature_vectors;
      DeviceArray<float> expected, found;
      DeviceArray<int32_t> own, slots;
      ASSERT_TRUE(expected.Allocate(values).ok());
      ASSERT_TRUE(found.Allocate(values).ok());
      ASSERT_TRUE(own.Allocate(kSeeds).ok());
      ASSERT_TRUE(slots.Allocate(int64_t{kSeeds} * fanout).ok());
      const DrawnPlaces drawn{own.get(), slots.get()};
      ASSERT_EQ(EnqueueSampleMean(whole.view(), whole.feature_element(), 1, fanout, kSeeds, states.get(), headers.get(),
                                  nodes.get(), Element::kFloat32, expected.get(), nullptr),
                cudaSuccess);
      ASSERT_EQ(EnqueueCollectMisses(behind.view(), 1, fanout, kSeeds, states.get(), headers.get(), nodes.get(), drawn,
                                     nullptr),
                cudaSuccess);
      ASSERT_EQ(EnqueueCopyMisses(behind.view(), nullptr), cudaSuccess);
      ASSERT_EQ(EnqueueStagedMean(behind.view(), behind.feature_element(), 1, fanout, kSeeds, headers.get(), drawn,
                                  Element::kFloat32, found.get(), nullptr),
                cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::vector<float> a, b;
      ASSERT_TRUE(expected.Download(a).ok());
      ASSERT_TRUE(found.Download(b).ok());
      EXPECT_EQ(a, b);
      // A row has as many places as it has drawn neighbors; its other slots have none.
      std::vector<int32_t> places;
      ASSERT_TRUE(slots.Download(places).ok());
      for (size_t i = 0; i < ids.size(); ++i) {
        const auto degree = static_cast<int64_t>(graph_->structure().Degree(ids[i]));
        int64_t used = 0;
        for (int32_t k = 0; k < fanout; ++k) used += places[i * static_cast<size_t>(fanout) + static_cast<size_t>(k)] != kNoPlace;
        EXPECT_EQ(used, std::min<int64_t>(degree, fanout)) << i;
      }
    }
  }
}

// The nodes to be predicted decide what is cached.
TEST_F(CachedFeatures, AnEngineThatOnlyPredictsGivesTheSameClasses) {
  const std::vector<NodeId> nodes = {3, 11, 12, 50, 51, 52, 100, 140, 179};
  options_.trains = false;
  options_.predicts = nodes;
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    auto model = MakeModel(Shape(kind)).value();
    std::vector<int32_t> expected, found;
    options_.storage = {};
    ASSERT_TRUE(MakeGpuEngine(*graph_, *model, options_).value()->Evaluate(nodes, &expected).ok());
    for (const MissPath misses : {MissPath::kZeroCopy, MissPath::kStaged}) {
      for (const CacheRanking ranking : {CacheRanking::kInclusion, CacheRanking::kPresampling}) {
        options_.storage = {.tier = FeatureTier::kCached, .cache_rows = 30, .ranking = ranking, .misses = misses, .staging_rows = 40};
        const auto engine = MakeGpuEngine(*graph_, *model, options_).value();
        EXPECT_EQ(engine->storage().cached_rows, 30);
        ASSERT_TRUE(engine->Evaluate(nodes, &found).ok());
        EXPECT_EQ(found, expected) << kind;
      }
    }
  }
}

TEST_F(CachedFeatures, EitherRankingGivesTheSameBits) {
  const Outcome expected = Run(Shape("sage"), {});
  EXPECT_EQ(Run(Shape("sage"), {.tier = FeatureTier::kCached, .cache_rows = 50, .ranking = CacheRanking::kPresampling}),
            expected);
}

TEST_F(CachedFeatures, TheCacheHoldsTheRowsItSaysAndTheHostAllOfThem) {
  const FeatureView features = graph_->features();
  const auto stride = static_cast<size_t>(features.stride_bytes);
  const std::vector<NodeId> cached = {3, 4, 99, 150};
  DeviceGraph device;
  ASSERT_TRUE(device.UploadCached(*graph_, cached, 2).ok());
  std::vector<int32_t> places;
  std::vector<unsigned char> rows;
  ASSERT_TRUE(device.places().Download(places).ok());
  ASSERT_TRUE(device.features().Download(rows).ok());
  ASSERT_EQ(rows.size(), (4 + 2 * DeviceGraph::kStagingSets) * stride);
  for (NodeId v = 0; v < kNodes; ++v) {
    const auto at = std::find(cached.begin(), cached.end(), v);
    const int32_t place = places[static_cast<size_t>(v)];
    if (at == cached.end()) {
      EXPECT_EQ(place, -1) << v;
    } else {
      ASSERT_EQ(place, at - cached.begin()) << v;
      EXPECT_EQ(std::memcmp(rows.data() + static_cast<size_t>(place) * stride, features.Row(v), stride), 0) << v;
    }
  }
  EXPECT_EQ(device.cached_rows(), 4);
  EXPECT_NE(device.view().host_features, nullptr);
}

TEST_F(CachedFeatures, OptionsOutOfRangeAreRefused) {
  auto model = MakeModel(Shape("sage")).value();
  options_.storage = {.tier = FeatureTier::kCached, .cache_rows = -1};
  EXPECT_EQ(MakeGpuEngine(*graph_, *model, options_).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::gnn::cuda
