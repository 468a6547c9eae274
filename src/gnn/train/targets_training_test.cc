// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests training on several labels or values a node: models learn them, resume to the bit, and are validated by their
// own metrics; losses and metrics of other targets are refused with the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/file.h"
#include "gnn/train/run_position.h"
#include "gnn/train/standard_targets.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/metrics.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Graph> GraphWithTargets(TargetKind kind) {
  return CommunityGraph({.nodes = 900, .classes = 4, .noise = 2, .targets = kind});
}

TrainOptions TargetRun(int epochs) {
  return {
      .fanouts = {5, 5}, .eval_fanouts = {10, 10}, .batch = 128, .epochs = epochs, .learning_rate = 0.01, .seed = 11};
}
const ModelOptions kTargetModel{.hidden = 32, .layers = 2, .dropout = 0.1, .seed = 3};

std::vector<EpochReport> TrainOnTargets(const std::shared_ptr<const Graph>& graph, const TrainOptions& options,
                                        const RunOptions& run = {.threads = 2}) {
  auto trainer = MakeTrainer(graph, kTargetModel, options, run);
  EXPECT_TRUE(trainer.ok()) << trainer.status().message();
  std::vector<EpochReport> epochs;
  TrainEvents events;
  events.epoch = [&](const EpochReport& epoch) { epochs.push_back(epoch); };
  const auto result = (*trainer)->Run(events);
  EXPECT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->best_valid, MetricOf((*trainer)->options(), epochs[static_cast<size_t>(result->best_epoch)]));
  return epochs;
}

TEST(TargetsTraining, SeveralLabelsAreLearnedAndMeasured) {
  const auto graph = GraphWithTargets(TargetKind::kMultiLabel);
  const std::vector<EpochReport> epochs = TrainOnTargets(graph, TargetRun(10));
  const EpochReport& last = epochs.back();
  EXPECT_LT(last.loss, 0.5 * epochs.front().loss);
  EXPECT_GT(last.valid_micro_f1, 0.9);
  EXPECT_GT(last.valid_macro_f1, 0.9);
  EXPECT_GT(last.valid_accuracy, 0.9);
  EXPECT_GT(last.valid_auc, 0.95);
  EXPECT_GT(last.valid_average_precision, 0.95);
  EXPECT_GT(last.train_accuracy, 0.7);
  EXPECT_TRUE(std::isnan(last.valid_rmse));
  for (const Metric metric : {Metric::kAccuracy, Metric::kRocAuc, Metric::kAveragePrecision, Metric::kMacroF1}) {
    TrainOptions options = TargetRun(1);
    options.metric = metric;
    TrainOnTargets(graph, options);
  }
}

TEST(TargetsTraining, ValuesAreLearnedWithEachLossAndTheSmallestErrorIsBest) {
  const auto graph = GraphWithTargets(TargetKind::kValues);
  for (const Loss loss : {Loss::kSquared, Loss::kAbsolute, Loss::kHuber}) {
    SCOPED_TRACE(LossName(loss));
    TrainOptions options = TargetRun(12);
    options.loss = loss;
    options.metric = loss == Loss::kSquared ? Metric::kAuto : Metric::kMae;
    const std::vector<EpochReport> epochs = TrainOnTargets(graph, options);
    const EpochReport& last = epochs.back();
    EXPECT_LT(last.valid_rmse, 0.8);  // the standard deviation of the values is 1.4
    EXPECT_LT(last.valid_mae, 0.7);
    EXPECT_TRUE(std::isnan(last.train_accuracy) && std::isnan(last.valid_micro_f1));
    double least = 1e30;
    for (const EpochReport& epoch : epochs) {
      const double value = loss == Loss::kSquared ? epoch.valid_rmse : epoch.valid_mae;
      EXPECT_EQ(epoch.best, value < least) << epoch.epoch;
      least = std::min(least, value);
    }
  }
}

TEST(TargetsTraining, ARunGoesOnToTheBitAndAStepMayHaveShards) {
  for (const TargetKind kind : {TargetKind::kMultiLabel, TargetKind::kValues}) {
    const auto graph = GraphWithTargets(kind);
    const TemporaryDirectory whole_folder = std::move(MakeTemporaryDirectory()).value();
    const TemporaryDirectory parts = std::move(MakeTemporaryDirectory()).value();
    TrainOptions options = TargetRun(4);
    options.shards = 2;
    options.standardize = kind == TargetKind::kValues;
    TrainOnTargets(graph, options, {.threads = 2, .checkpoint = whole_folder.path()});
    options.epochs = 2;
    TrainOnTargets(graph, options, {.threads = 1, .checkpoint = parts.path()});
    auto resumed = ResumeTrainer(graph, parts.path(), {.threads = 2, .checkpoint = parts.path()}, 4);
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    ASSERT_TRUE((*resumed)->Run({}).ok());
    EXPECT_EQ(ReadFile(parts.path() + "/last.safetensors").value(),
              ReadFile(whole_folder.path() + "/last.safetensors").value());

    // Predictions of the trained model have the errors that its validation found.
    const Result<LoadedModel> loaded = LoadModel(whole_folder.path() + "/last.safetensors", {});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->targets, kind);  // so that infer and serve refuse a graph of another kind
    Result<Predictions> exact = Predict(graph, *loaded->model, graph->test_nodes(), {.exact = true});
    ASSERT_TRUE(exact.ok()) << exact.status().message();
    UndoStandardization(*loaded, exact->logits);
    TargetCounts counts(graph->targets());
    for (size_t i = 0; i < graph->test_nodes().size(); ++i) {
      counts.Add(graph->targets().Row(graph->test_nodes()[i]), exact->logits.data() + 3 * i);
    }
    const TargetScores scores = ScoresOf(std::move(counts));
    if (kind == TargetKind::kValues) {
      EXPECT_LT(scores.rmse, 1.4);
      continue;
    }
    EXPECT_GT(scores.accuracy, 0.8);
    const float logit = exact->logits[5];
    LogitsToOutputs(kind, *exact);
    EXPECT_NEAR(exact->logits[5], 1 / (1 + std::exp(-logit)), 1e-6);
  }
}

TEST(TargetsTraining, StandardizedValuesAreMeasuredAndPredictedInTheUnitsOfTheData) {
  const auto graph = CommunityGraph({.nodes = 900,
                                     .classes = 4,
                                     .noise = 2,
                                     .targets = TargetKind::kValues,
                                     .target_scale = 1000,
                                     .target_offset = 250000});
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  TrainOptions options = TargetRun(12);
  EXPECT_THAT(TargetWarnings(*graph, options),
              testing::ElementsAre(testing::AllOf(HasSubstr("column 0"), HasSubstr("--standardize"))));
  options.standardize = true;
  EXPECT_THAT(TargetWarnings(*graph, options), testing::IsEmpty());
  const EpochReport last = TrainOnTargets(graph, options, {.threads = 2, .checkpoint = folder.path()}).back();
  EXPECT_LT(last.loss, 1);
  EXPECT_LT(last.valid_rmse, 800);  // the standard deviation of the values is 1400
  EXPECT_GT(last.valid_rmse, 10);

  const Result<LoadedModel> loaded = LoadModel(folder.path() + "/last.safetensors", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->target_means.size(), 3u);
  EXPECT_NEAR(loaded->target_means[0], 250000, 1500);
  Result<Predictions> predictions =
      Predict(graph, *loaded->model, graph->valid_nodes(), {.fanouts = {10, 10}, .seed = 11});
  ASSERT_TRUE(predictions.ok()) << predictions.status().message();
  UndoStandardization(*loaded, predictions->logits);
  TargetCounts counts(graph->targets());
  for (size_t i = 0; i < graph->valid_nodes().size(); ++i) {
    counts.Add(graph->targets().Row(graph->valid_nodes()[i]), predictions->logits.data() + 3 * i);
  }
  EXPECT_NEAR(ScoresOf(counts).rmse, last.valid_rmse, 1e-3 * last.valid_rmse);
}

TEST(TargetsTraining, TrueLabelsWeighAsMuchAsPosWeightSays) {
  const auto graph = GraphWithTargets(TargetKind::kMultiLabel);
  TrainOptions options = TargetRun(4);
  options.pos_weight = {0};  // true labels cost nothing, so that none is worth predicting
  EXPECT_LT(TrainOnTargets(graph, options).back().valid_micro_f1, 0.05);
  options.pos_weight = {1, 0, 1};
  EXPECT_GT(TrainOnTargets(graph, options).back().valid_micro_f1, 0.3);
  options.pos_weight = {1, 2};
  EXPECT_THAT(MakeTrainer(graph, kTargetModel, options, {}).status().message(),
              testing::AllOf(HasSubstr("--pos-weight has 2 numbers"), HasSubstr("3 labels a node")));
  EXPECT_THAT(MakeTrainer(GraphWithTargets(TargetKind::kValues), kTargetModel, options, {}).status().message(),
              HasSubstr("leave the option out"));
}

TEST(TargetsTraining, ColumnsAndSplitsInWhichNothingIsKnownAreWarnedOf) {
  const auto graph = CommunityGraph({.nodes = 100, .targets = TargetKind::kMultiLabel, .target_width = 7});
  EXPECT_THAT(TargetWarnings(*graph, {}), testing::ElementsAre(HasSubstr("in 1 of its 7 columns: 6;")));
  const auto unlabelled = CommunityGraph({.nodes = 100, .unlabelled_every = 1});
  EXPECT_THAT(TargetWarnings(*unlabelled, {}), testing::ElementsAre(HasSubstr("no label of the")));
  EXPECT_THAT(TargetWarnings(*unlabelled, {.eval_every = 0}), testing::IsEmpty());
}

TEST(TargetsTraining, WhatAModelPredictsIsTheGraphsOrWhereThatHasNoLabelsItsOwn) {
  LoadedModel loaded;
  EXPECT_EQ(PredictedTargets(loaded, *CommunityGraph({.nodes = 50, .labels = false})), TargetKind::kClasses);
  loaded.targets = TargetKind::kMultiLabel;
  EXPECT_EQ(PredictedTargets(loaded, *CommunityGraph({.nodes = 50, .labels = false})), TargetKind::kMultiLabel);
  EXPECT_EQ(PredictedTargets(loaded, *GraphWithTargets(TargetKind::kValues)), TargetKind::kValues);
}

TEST(TargetsTraining, LossesAndMetricsOfOtherTargetsAreRefused) {
  const auto refusal = [](TargetKind kind, const TrainOptions& options) {
    return MakeTrainer(GraphWithTargets(kind), kTargetModel, options, {}).status().message();
  };
  TrainOptions options = TargetRun(1);
  options.loss = Loss::kCrossEntropy;
  EXPECT_THAT(
      refusal(TargetKind::kMultiLabel, options),
      testing::AllOf(HasSubstr("--loss cross-entropy"), HasSubstr("several labels a node"), HasSubstr("use bce")));
  options.loss = Loss::kSquared;
  EXPECT_THAT(refusal(TargetKind::kMultiLabel, options), HasSubstr("use bce"));
  EXPECT_THAT(refusal(TargetKind::kClasses, options), HasSubstr("use cross-entropy"));
  options.loss = Loss::kBinaryCrossEntropy;
  EXPECT_THAT(refusal(TargetKind::kValues, options), HasSubstr("use mse, l1 or huber"));
  options = TargetRun(1);
  options.metric = Metric::kMacroF1;
  EXPECT_THAT(refusal(TargetKind::kValues, options), HasSubstr("use rmse or mae"));
  options.metric = Metric::kRmse;
  EXPECT_THAT(refusal(TargetKind::kMultiLabel, options), HasSubstr("use micro-f1"));
  options = TargetRun(1);
  options.class_weights = {1, 2, 3};
  EXPECT_THAT(refusal(TargetKind::kMultiLabel, options), HasSubstr("leave the option out"));
}

}  // namespace
}  // namespace hone::gnn
