// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches that the host sampled and sliced train to the bits of those that the device samples itself.
#include "gnn/cuda/feed.h"
#include "gnn/cuda/test_device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "gnn/graph/synthetic_graph.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

struct Outcome {
  std::vector<double> losses, accuracies;
  std::map<std::string, std::vector<float>> parameters;
  bool operator==(const Outcome&) const = default;
};

class Feed : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
    options_.fanouts = options_.eval_fanouts = {4, 3, 2};
    options_.batch = 16;
    options_.seed = 17;
  }
  ModelOptions Shape(const std::string& kind) const {
    ModelOptions shape;
    shape.kind = kind;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    shape.hidden = 16;
    shape.layers = 3;
    shape.seed = 5;
    return shape;
  }
  // Two epochs, each of the device's own batches or of the host's.
  Outcome Run(const ModelOptions& shape, bool first_fed, bool second_fed, int64_t* larger = nullptr) {
    auto model = MakeModel(shape).value();
    Outcome outcome;
    const auto engine = MakeGpuEngine(*graph_, *model, options_).value();
    const auto feed = HostFeed::Make(graph_, options_, {.workers = 3, .pinned = false}).value();
    for (uint32_t epoch = 0; epoch < 2; ++epoch) {
      EpochOnDevice ran;
      if (epoch == 0 ? first_fed : second_fed) {
        const Result<FedEpoch> trained = engine->TrainFedEpoch(epoch, *feed);
        EXPECT_TRUE(trained.ok()) << trained.status().message();
        if (!trained.ok()) return outcome;
        EXPECT_GT(trained->sample_seconds, 0);
        EXPECT_GT(trained->slice_seconds, 0);
        EXPECT_GT(trained->rows, 0);
        EXPECT_EQ(trained->workers, 3);
        ran = trained->epoch;
        if (larger != nullptr) *larger += ran.larger;
      } else {
        ran = engine->TrainEpoch(epoch).value();
      }
      EXPECT_EQ(ran.steps, engine->steps_per_epoch());
      outcome.losses.push_back(ran.mean_loss);
      outcome.accuracies.push_back(ran.accuracy);
    }
    EXPECT_TRUE(engine->ExportTo(*model).ok());
    for (const Parameter<float>* p : model->parameters()) outcome.parameters[p->name] = p->value;
    return outcome;
  }

  std::shared_ptr<const Graph> graph_;
  GpuEngineOptions options_;
};

TEST_F(Feed, EpochsOfTheHostsBatchesHaveTheBitsOfTheDevices) {
  for (const std::string kind : {"sage", "gin"}) {
    SCOPED_TRACE(kind);
    const Outcome expected = Run(Shape(kind), false, false);
    ASSERT_EQ(expected.losses.size(), 2u);
    EXPECT_NE(expected.losses[0], expected.losses[1]);
    EXPECT_EQ(Run(Shape(kind), true, true), expected);
    EXPECT_EQ(Run(Shape(kind), true, false), expected);
    EXPECT_EQ(Run(Shape(kind), false, true), expected);
  }
}

TEST_F(Feed, BatchesThatDoNotFitTakeTheLargerEnvelope) {
  const Outcome expected = Run(Shape("sage"), false, false);
  options_.envelope = 0.9;
  int64_t larger = 0;
  EXPECT_EQ(Run(Shape("sage"), true, true, &larger), expected);
  EXPECT_GT(larger, 0);
}

TEST_F(Feed, AnOutlinesGraphComesToTheHostWhereverItsFeaturesAre) {
  const auto whole = OpenGraph("synthetic:arxiv?scale=0.003&seed=3").value();
  const auto outline = OutlineSyntheticGraph(whole->name()).value();
  ModelOptions shape = Shape("sage");
  shape.in_width = outline->features().width;
  shape.num_classes = outline->num_classes();
  shape.layers = 2;
  options_.fanouts = options_.eval_fanouts = {3, 2};
  options_.batch = 128;
  auto model = MakeModel(shape).value();
  const auto engine = MakeGpuEngine(*outline, *model, options_).value();
  EXPECT_EQ(HostFeed::Make(outline, options_, {}).status().code(), StatusCode::kInvalidArgument);
  for (const bool moved : {false, true}) {
    if (moved) {
      ASSERT_TRUE(engine->SetStorage(*outline, {.tier = FeatureTier::kCached, .cache_rows = 10}).ok());
    }
    const auto here = engine->HostGraph(*outline).value();
    EXPECT_TRUE(std::ranges::equal(here->structure().row_offsets, whole->structure().row_offsets));
    EXPECT_TRUE(std::ranges::equal(here->structure().columns, whole->structure().columns));
    const FeatureView found = here->features(), expected = whole->features();
    ASSERT_EQ(found.stride_bytes, expected.stride_bytes);
    EXPECT_EQ(std::memcmp(found.rows, expected.rows, static_cast<size_t>(expected.num_rows * expected.stride_bytes)), 0);
    const auto feed = HostFeed::Make(here, options_, {.workers = 1, .pinned = false}).value();
    EXPECT_TRUE(engine->TrainFedEpoch(0, *feed).ok());
  }
}

TEST_F(Feed, WhatTheHostsBatchesDoNotServeIsRefused) {
  auto model = MakeModel(Shape("gat")).value();
  const auto engine = MakeGpuEngine(*graph_, *model, options_).value();
  const auto feed = HostFeed::Make(graph_, options_, {.workers = 1, .pinned = false}).value();
  EXPECT_EQ(engine->TrainFedEpoch(0, *feed).status().code(), StatusCode::kInvalidArgument);
  options_.shards = 2;
  EXPECT_EQ(HostFeed::Make(graph_, options_, {}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::gnn::cuda
