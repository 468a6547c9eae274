// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests steps of several virtual shards on one GPU. Every model follows the CPU's trainer with the same shards,
// whatever their number. An envelope that is too small loses nothing. Class weights and clipping match the CPU's. The
// node table is cleared before its tags repeat.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

using Weights = std::map<std::string, std::vector<float>>;

class ShardsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = CommunityGraph({.nodes = 150, .classes = 4, .degree = 7, .width = 12, .seed = 4});
    model_.kind = "sage-ri";
    model_.layers = 2;
    model_.hidden = 16;
    model_.seed = 3;
    train_.fanouts = {4, 3};
    train_.eval_fanouts = {6, 6};
    train_.batch = 12;
    train_.eval_batch = 20;
    train_.epochs = 1;
    train_.learning_rate = 0.01;
    train_.seed = 11;
    gpu_.fp32 = true;
    gpu_.ahead = 2;
  }
  struct Ran {
    EpochReport last;
    std::vector<double> losses;  // one per step
    Weights weights;
  };
  static Ran RunAll(Result<std::unique_ptr<Trainer>> trainer_or_error) {
    Ran ran;
    EXPECT_TRUE(trainer_or_error.ok()) << trainer_or_error.status().message();
    if (!trainer_or_error.ok()) return ran;
    const auto result = (*trainer_or_error)
                            ->Run({.step =
                                       [&](const StepReport& step) {
                                         if (!step.validating) ran.losses.push_back(step.loss);
                                       },
                                   .epoch = [&](const EpochReport& epoch) { ran.last = epoch; }});
    EXPECT_TRUE(result.ok()) << result.status().message();
    ran.weights = WeightsOf((*trainer_or_error)->model());
    return ran;
  }
  static Weights WeightsOf(Model<float>& model) {
    Weights weights;
    for (const Parameter<float>* p : model.parameters()) weights[p->name] = p->value;
    return weights;
  }
  std::unique_ptr<Model<float>> NewModel() const {
    ModelOptions shape = model_;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    return MakeModel(shape).value();
  }
  GpuEngineOptions Engine() const {
    GpuEngineOptions options;
    options.fanouts = options.eval_fanouts = train_.fanouts;
    options.batch = static_cast<int32_t>(train_.batch);
    options.seed = train_.seed;
    options.fp32 = true;
    return options;
  }
  Ran OnCpu() const { return RunAll(MakeTrainer(graph_, model_, train_, {.threads = 1})); }
  Ran OnGpu() const { return RunAll(MakeGpuTrainer(graph_, model_, train_, {}, gpu_)); }

  // Compares losses and running statistics to rounding. Weights are not compared, because Adam makes full steps of
  // gradients that are only rounding.
  static void ExpectSame(const Ran& one_run, const Ran& other_run) {
    ASSERT_EQ(one_run.losses.size(), other_run.losses.size());
    for (size_t s = 0; s < one_run.losses.size(); ++s) {
      EXPECT_NEAR(one_run.losses[s], other_run.losses[s], (s < 3 ? 1e-4 : 1e-3) * other_run.losses[s]) << "step " << s;
    }
    EXPECT_NEAR(one_run.last.loss, other_run.last.loss, 1e-3 * other_run.last.loss);
    EXPECT_NEAR(one_run.last.valid_accuracy, other_run.last.valid_accuracy, 0.05);
    ExpectStatistics(one_run.weights, other_run.weights);
  }
  static void ExpectStatistics(const Weights& one_run, const Weights& other_run) {
    for (const auto& [name, values] : other_run) {
      const std::vector<float>& other = one_run.at(name);
      ASSERT_EQ(other.size(), values.size()) << name;
      if (name.ends_with("num_batches_tracked")) {
        EXPECT_EQ(other, values) << name;
      } else if (name.find("running_") != std::string::npos) {
        double largest_magnitude = 0;
        for (const float value : values)
          largest_magnitude = std::max(largest_magnitude, std::abs(static_cast<double>(value)));
        for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(other[i], values[i], 5e-3 * largest_magnitude) << name;
      }
    }
  }

  std::shared_ptr<const Graph> graph_;
  ModelOptions model_;
  TrainOptions train_;
  GpuTrainerOptions gpu_;
};

TEST_F(ShardsOnGpu, EveryModelFollowsTheCpusWithAnyNumberOfShards) {
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (const int shards : {2, 3, 4}) {  // with 3, steps begin in any buffer, and the summation tree is lopsided
      SCOPED_TRACE(std::string(kind) + " with " + std::to_string(shards) + " shards");
      model_.kind = kind;
      train_.shards = shards;
      ExpectSame(OnGpu(), OnCpu());
    }
  }
}

TEST_F(ShardsOnGpu, AShardMayHaveNoSeed) {
  train_.shards = 5;
  train_.batch = 17;
  ASSERT_EQ(graph_->train_nodes().size() % (5 * 17), 3u);  // number of seeds in the last step
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    SCOPED_TRACE(kind);
    model_.kind = kind;
    ExpectSame(OnGpu(), OnCpu());
  }
}

TEST_F(ShardsOnGpu, ClassWeightsAndClippingAreTheCpus) {
  train_.class_weights = {0.5, 2, 1, 3};
  train_.clip_norm = 0.2;
  for (const int shards : {1, 2}) {
    SCOPED_TRACE(shards);
    train_.shards = shards;
    const Ran clipped = OnGpu();
    ExpectSame(clipped, OnCpu());
    if (shards > 1) continue;
    train_.clip_norm = 0;
    EXPECT_NE(OnGpu().losses, clipped.losses);
    train_.clip_norm = 0.2;
  }
}

TEST_F(ShardsOnGpu, AnEnvelopeTooSmallForAShardLosesNothing) {
  graph_ = CommunityGraph({.nodes = 400, .classes = 4, .degree = 7, .width = 8, .seed = 4});
  model_.layers = 3;
  model_.hidden = 8;
  GpuEngineOptions options = Engine();
  options.fanouts = options.eval_fanouts = {3, 9, 4};
  options.batch = 32;
  for (const int shards : {2, 3}) {
    SCOPED_TRACE(shards);
    options.shards = shards;
    std::vector<EpochOnDevice> epochs;
    std::vector<Weights> weights;
    for (const double envelope : {1.2, 0.5}) {
      options.envelope = envelope;
      auto model = NewModel();
      const auto engine = MakeGpuEngine(*graph_, *model, options).value();
      epochs.push_back(engine->TrainEpoch(1).value());
      ASSERT_TRUE(engine->ExportTo(*model).ok());
      weights.push_back(WeightsOf(*model));
    }
    EXPECT_EQ(epochs[0].larger, 0);
    EXPECT_GT(epochs[1].larger, 0);
    EXPECT_EQ(epochs[1].steps, epochs[0].steps);
    EXPECT_NEAR(epochs[1].mean_loss, epochs[0].mean_loss, 1e-3 * epochs[0].mean_loss);
    EXPECT_EQ(epochs[1].accuracy, epochs[0].accuracy);
    ExpectStatistics(weights[1], weights[0]);  // no shard counted twice
  }
}

TEST_F(ShardsOnGpu, ATagThatComesAgainFindsNothingOfItsFirstTime) {
  auto model = NewModel();
  const GpuEngineOptions options = Engine();
  const auto engine = MakeGpuEngine(*graph_, *model, options).value();
  const auto other = MakeGpuEngine(*graph_, *model, options).value();
  // Both engines first use the table's tags from 1 on. The loop below sets a tag that is about to wrap around, so that
  // the same tags come again.
  ASSERT_TRUE(engine->TrainEpoch(0).ok());
  ASSERT_TRUE(other->TrainEpoch(0).ok());
  for (const uint32_t tag : {0xffffffffu, 0xfffffffdu, (1u << 30) - 2}) {
    ASSERT_TRUE(engine->SetTableTag(tag).ok());
    for (uint32_t epoch = 1; epoch < 3; ++epoch) {
      const NeighborSample one_run = engine->SampleStep(epoch, 2).value(), theirs = other->SampleStep(epoch, 2).value();
      EXPECT_EQ(one_run.nodes, theirs.nodes);
      EXPECT_EQ(engine->TrainEpoch(epoch)->mean_loss, other->TrainEpoch(epoch)->mean_loss) << tag;
    }
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
