// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Features in the host's memory behind a cache give the bits of features in device memory: every model, both ways for
// misses, no cache, some, and all.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "gnn/cuda/device_graph.h"
#include "gnn/cuda/gpu_engine.h"
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
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no NVIDIA GPU";
    graph_ = CommunityGraph({.nodes = kNodes, .classes = 5, .degree = 8, .width = 12, .seed = 2});
    options_.fanouts = {4, 3};
    options_.eval_fanouts = {5, 4};
    options_.batch = options_.eval_batch = 32;
    options_.seed = 17;
  }
  // Two epochs and an evaluation.
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
      EXPECT_EQ(Run(Shape(kind), {.tier = FeatureTier::kCached, .cache_rows = rows, .misses = MissPath::kZeroCopy}), expected);
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
  ASSERT_EQ(rows.size(), 6 * stride);
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
