// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that batches which the host sampled and sliced train to the same bits as batches that the device samples.
#include "gnn/cuda/engine/feed.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/base/test_specs.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
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
  // Runs two epochs, each with the device's or with the host's batches.
  Outcome Run(const ModelOptions& shape, bool first_fed, bool second_fed, int64_t* larger = nullptr) {
    auto model = MakeModel(shape).value();
    Outcome outcome;
    const auto engine = MakeGpuEngine(*graph_, *model, options_).value();
    const auto feed = HostFeed::Make(graph_, options_, {.workers = 3, .cuts = cuts_}).value();
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
  HostBatchCuts cuts_;
};

TEST_F(Feed, EpochsOfTheHostsBatchesHaveTheBitsOfTheDevices) {
  for (const std::string kind : {"sage", "gin", "gat", "sage-ri"}) {
    SCOPED_TRACE(kind);
    ModelOptions shape = Shape(kind);
    if (kind == "gat") shape.heads = 2;
    const Outcome expected = Run(shape, /*first_fed=*/false, /*second_fed=*/false);
    ASSERT_EQ(expected.losses.size(), 2u);
    EXPECT_NE(expected.losses[0], expected.losses[1]);
    if (kind != "gin") {
      EXPECT_EQ(Run(shape, /*first_fed=*/true, /*second_fed=*/true), expected);
      continue;
    }
    EXPECT_EQ(Run(shape, /*first_fed=*/true, /*second_fed=*/false), expected);
    EXPECT_EQ(Run(shape, /*first_fed=*/false, /*second_fed=*/true), expected);
  }
}

TEST_F(Feed, ModelsOfFilesToo) {
  for (const char* toml : {kGcn, kResidualGat, kMixed, kOdd}) {
    ModelOptions shape = Spec(toml);
    SCOPED_TRACE(shape.spec->name);
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    options_.fanouts = options_.eval_fanouts = {4, 3, 2};
    options_.fanouts.resize(static_cast<size_t>(shape.layers));
    options_.eval_fanouts.resize(static_cast<size_t>(shape.layers));
    EXPECT_EQ(Run(shape, /*first_fed=*/true, /*second_fed=*/true),
              Run(shape, /*first_fed=*/false, /*second_fed=*/false));
  }
}

TEST_F(Feed, WhateverIsLeftOutOfThePipeline) {
  const Outcome expected = Run(Shape("sage"), /*first_fed=*/false, /*second_fed=*/false);
  for (const char* without : {"sampler", "batches", "overlap", "sampler,batches,overlap"}) {
    SCOPED_TRACE(without);
    cuts_ = ParseHostBatchCuts(without).value();
    EXPECT_EQ(Run(Shape("sage"), /*first_fed=*/true, /*second_fed=*/true), expected);
  }
  EXPECT_EQ(cuts_.Text(), "sampler,batches,overlap");
  EXPECT_NE(ParseHostBatchCuts("sampler,shlices").status().message().find("'shlices'"), std::string::npos);
}

TEST_F(Feed, StepsOfSeveralShardsToo) {
  options_.shards = 3;
  options_.clip_norm = 0.5;
  options_.class_weights = {1, 0.5, 2, 1, 0.25};
  EXPECT_EQ(Run(Shape("sage"), /*first_fed=*/true, /*second_fed=*/true),
            Run(Shape("sage"), /*first_fed=*/false, /*second_fed=*/false));
}

TEST_F(Feed, MoreNeighborsThanAWarpHasLanesToo) {
  options_.fanouts = {3, 2, kAllNeighbors};
  EXPECT_EQ(Run(Shape("gat"), /*first_fed=*/true, /*second_fed=*/true),
            Run(Shape("gat"), /*first_fed=*/false, /*second_fed=*/false));
}

TEST_F(Feed, PartsOfAnEpochGoOnWhereTheLastOneEnded) {
  auto model = MakeModel(Shape("sage")).value();
  const auto whole_engine = MakeGpuEngine(*graph_, *model, options_).value();
  ASSERT_TRUE(whole_engine->TrainEpoch(0).ok());
  const auto engine = MakeGpuEngine(*graph_, *model, options_).value();
  const auto feed = HostFeed::Make(graph_, options_, {.workers = 2}).value();
  const auto steps = static_cast<uint32_t>(engine->steps_per_epoch());
  ASSERT_GT(steps, 4u);
  std::vector<uint32_t> reported_steps;
  StepWatch watch{.step = [&](uint32_t step, double loss) {
                    EXPECT_GT(loss, 0);
                    reported_steps.push_back(step);
                    return step == 2;
                  },
                  .ahead = 2};
  const FedSteps first = engine->TrainFedSteps(0, 0, 2, watch, *feed).value();
  EXPECT_EQ(first.steps.done, 2u);
  EXPECT_FALSE(first.steps.stopped);
  const FedSteps second = engine->TrainFedSteps(0, 2, steps, watch, *feed).value();
  EXPECT_TRUE(second.steps.stopped);
  EXPECT_GE(second.steps.done, 3u);
  EXPECT_LE(second.steps.done, 3u + HostFeed::kHeld);
  feed->Stop();  // as when another process resumes
  const FedSteps third = engine->TrainFedSteps(0, second.steps.done, steps, watch, *feed).value();
  EXPECT_EQ(third.steps.done, steps);
  ASSERT_EQ(reported_steps.size(), steps);
  for (uint32_t i = 0; i < steps; ++i) EXPECT_EQ(reported_steps[i], i);
  EXPECT_EQ(engine->Progress()->loss_sum, whole_engine->Progress()->loss_sum);
  auto computed = MakeModel(Shape("sage")).value(), expected = MakeModel(Shape("sage")).value();
  ASSERT_TRUE(engine->ExportTo(*computed).ok());
  ASSERT_TRUE(whole_engine->ExportTo(*expected).ok());
  for (size_t i = 0; i < computed->parameters().size(); ++i) {
    EXPECT_EQ(computed->parameters()[i]->value, expected->parameters()[i]->value);
  }
}

TEST_F(Feed, BatchesThatDoNotFitTakeTheLargerEnvelope) {
  const Outcome expected = Run(Shape("sage"), /*first_fed=*/false, /*second_fed=*/false);
  options_.envelope = 0.9;
  int64_t larger = 0;
  EXPECT_EQ(Run(Shape("sage"), /*first_fed=*/true, /*second_fed=*/true, &larger), expected);
  EXPECT_GT(larger, 0);
}

TEST_F(Feed, WhereTheDeviceKeepsFeaturesDoesNotMatter) {
  const Outcome expected = Run(Shape("sage"), /*first_fed=*/false, /*second_fed=*/false);
  options_.storage = {.tier = FeatureTier::kCached, .cache_rows = 20, .misses = MissPath::kStaged, .staging_rows = 16};
  EXPECT_EQ(Run(Shape("sage"), /*first_fed=*/true, /*second_fed=*/false), expected);
}

TEST_F(Feed, AnOutlinesGraphComesToTheHostWhereverItsFeaturesAre) {
  const auto whole_graph = OpenGraph("synthetic:arxiv?scale=0.003&seed=3").value();
  const auto outline = OutlineSyntheticGraph(whole_graph->name()).value();
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
    EXPECT_TRUE(std::ranges::equal(here->structure().row_offsets, whole_graph->structure().row_offsets));
    EXPECT_TRUE(std::ranges::equal(here->structure().columns, whole_graph->structure().columns));
    const FeatureView host_features = here->features(), expected = whole_graph->features();
    ASSERT_EQ(host_features.stride_bytes, expected.stride_bytes);
    EXPECT_EQ(
        std::memcmp(host_features.rows, expected.rows, static_cast<size_t>(expected.num_rows * expected.stride_bytes)),
        0);
    const auto feed = HostFeed::Make(here, options_, {.workers = 1}).value();
    EXPECT_TRUE(engine->TrainFedEpoch(0, *feed).ok());
  }
}

TEST_F(Feed, RoomIsCountedForTheLargestBatches) {
  // The hops have 16, 80 and then all 180 nodes of the graph. There are the rows of three batches, and a quarter more.
  EXPECT_GE(FedBatchBytes({4, 3, 2}, 16, 180, 32), 3 * 180 * 32);
  EXPECT_LE(FedBatchBytes({4, 3, 2}, 16, 180, 32), 3 * 5 / 4 * (180 * (32 + 16 + 12 + 16 + 4) + 16 * 1024));
  EXPECT_GT(FedBatchBytes({15, 10, 5}, 1024, int64_t{111} << 20, 256), int64_t{3} * 1024 * 16 * 11 * 6 * 256);
}

}  // namespace
}  // namespace hone::gnn::cuda
