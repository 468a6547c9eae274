// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the trainer on small community graphs: that it learns, repeats its results, and resumes where it was stopped.
#include "hone/gnn/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "gnn/infer/safetensors.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

struct Setting {
  ModelOptions model{.kind = "sage", .hidden = 32, .layers = 2, .seed = 3};
  TrainOptions train{
      .fanouts = {5, 5}, .eval_fanouts = {10, 10}, .batch = 128, .epochs = 2, .learning_rate = 0.01, .seed = 11};
  RunOptions run{.threads = 2};
};

std::unique_ptr<Trainer> MakeTrainerOf(const std::shared_ptr<const Graph>& graph, const Setting& setting) {
  Result<std::unique_ptr<Trainer>> trainer_or_error = MakeTrainer(graph, setting.model, setting.train, setting.run);
  EXPECT_TRUE(trainer_or_error.ok()) << trainer_or_error.status().message();
  return std::move(trainer_or_error).value();
}

std::string RefusalOf(const std::shared_ptr<const Graph>& graph, const Setting& setting) {
  Result<std::unique_ptr<Trainer>> trainer_or_error = MakeTrainer(graph, setting.model, setting.train, setting.run);
  EXPECT_FALSE(trainer_or_error.ok());
  if (trainer_or_error.ok()) return {};
  EXPECT_EQ(trainer_or_error.status().code(), StatusCode::kInvalidArgument);
  return trainer_or_error.status().message();
}

// Returns all weights of a finished run's model.
std::vector<float> Weights(Trainer& trainer) {
  std::vector<float> parameter_values;
  for (const Parameter<float>* parameter : trainer.model().parameters()) {
    parameter_values.insert(parameter_values.end(), parameter->value.begin(), parameter->value.end());
  }
  return parameter_values;
}

std::vector<float> WeightsAfter(const std::shared_ptr<const Graph>& graph, const Setting& setting) {
  const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph, setting);
  const Result<TrainResult> result = trainer->Run({});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return Weights(*trainer);
}

TEST(Trainer, LearnsWhatTheFeaturesAloneDoNotTell) {
  // The features are too noisy to distinguish the four classes by themselves; the mean of neighbors does.
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 2000, .classes = 4, .noise = 4});
  Setting setting;
  setting.train.epochs = 12;
  setting.train.plateau = true;
  setting.train.plateau_patience = 10;
  const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph, setting);
  std::vector<EpochReport> epochs;
  const Result<TrainResult> result = trainer->Run({.epoch = [&](const EpochReport& e) { epochs.push_back(e); }});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->end, TrainResult::End::kFinished);
  ASSERT_EQ(epochs.size(), 12u);
  EXPECT_LT(epochs.back().loss, 0.6 * epochs.front().loss);
  EXPECT_LT(epochs.back().learning_rate, 0.01 + 1e-12);

  std::vector<int32_t> nearest;  // the best possible prediction without edges: the nearest class centroid
  for (NodeId v : graph->test_nodes()) nearest.push_back(NearestCentroid(*graph, v));
  const double without_edges = Accuracy(nearest, graph->test_nodes(), graph->labels());
  const Result<Predictions> exact = Predict(graph, trainer->model(), graph->test_nodes(), {.exact = true});
  ASSERT_TRUE(exact.ok()) << exact.status().message();
  const double with_edges = Accuracy(PredictedClasses(*exact), graph->test_nodes(), graph->labels());
  EXPECT_LT(without_edges, 0.75);
  EXPECT_GT(with_edges, without_edges + 0.15);
  EXPECT_GT(with_edges, 0.85);
  EXPECT_NEAR(result->best_valid, with_edges, 0.08);
}

TEST(Trainer, TheBestOfTwoClassesMayBeChosenByTheAreaUnderTheCurve) {
  Setting setting;
  setting.train.epochs = 4;
  setting.train.metric = Metric::kRocAuc;
  const std::unique_ptr<Trainer> trainer =
      MakeTrainerOf(CommunityGraph({.nodes = 800, .classes = 2, .noise = 4}), setting);
  double best = 0;
  int best_epoch = -1;
  const Result<TrainResult> result = trainer->Run({.epoch = [&](const EpochReport& e) {
    EXPECT_GT(e.valid_auc, 0.5);
    EXPECT_EQ(e.best, e.valid_auc > best);
    if (e.best) best_epoch = e.epoch;
    best = std::max(best, e.valid_auc);
  }});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->best_valid, best);
  EXPECT_EQ(result->best_epoch, best_epoch);
  TrainOptions four = setting.train;
  four.fanouts = four.eval_fanouts = {4, 4};
  EXPECT_THAT(MakeTrainer(CommunityGraph({.nodes = 100}), {.kind = "sage", .layers = 2}, four, {}).status().message(),
              testing::HasSubstr("--metric auc is of two classes"));
}

TEST(Trainer, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 1500});
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (int layers : {2, 3}) {
      if (layers == 2 && std::string(kind) != "sage") continue;
      Setting setting;
      setting.model.kind = kind;
      setting.model.layers = layers;
      setting.train.fanouts.assign(static_cast<size_t>(layers), 4);
      setting.train.eval_fanouts.assign(static_cast<size_t>(layers), 4);
      setting.train.clip_norm = 1;
      setting.run = {.threads = 1};
      const std::vector<float> one = WeightsAfter(graph, setting);
      for (const RunOptions& run : {RunOptions{.threads = 2}, RunOptions{.threads = 4, .workers = 3, .queue = 2}}) {
        setting.run = run;
        EXPECT_EQ(WeightsAfter(graph, setting), one)
            << kind << ", " << layers << " layers, " << run.threads << " threads";
      }
    }
  }
}

TEST(Trainer, FollowsItsSeed) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 600});
  Setting setting;
  setting.train.epochs = 1;
  const std::vector<float> first = WeightsAfter(graph, setting);
  EXPECT_EQ(WeightsAfter(graph, setting), first);
  setting.train.seed = 12;
  EXPECT_NE(WeightsAfter(graph, setting), first);
}

// The model has no randomness in its layers and uses all neighbors. Two shards of a step therefore equal one step of
// twice the seeds, except for rounding; also if a third of the seeds have no label, unevenly divided among the shards.
TEST(Trainer, TwoShardsOfAStepAreTheStepWithoutShards) {
  for (const int unlabelled_every : {0, 3}) {
    const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 800, .unlabelled_every = unlabelled_every});
    Setting setting;
    setting.model.dropout = 0;
    setting.train.fanouts = {kAllNeighbors, kAllNeighbors};
    if (unlabelled_every == 0) setting.train.class_weights = {1, 2, 0.5, 1};
    // Adam's step does not depend on the size of the gradients. With weight decay it does, so a wrong factor is
    // noticed.
    setting.train.weight_decay = 0.1;
    setting.train.epochs = 1;
    setting.train.eval_every = 0;
    double losses[2];
    std::vector<float> weights[2];
    for (int shards : {1, 2}) {
      setting.train.shards = shards;
      setting.train.batch = 200 / shards;
      const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph, setting);
      ASSERT_TRUE(trainer->Run({.epoch = [&](const EpochReport& e) { losses[shards - 1] = e.loss; }}).ok());
      weights[shards - 1] = Weights(*trainer);
    }
    EXPECT_NEAR(losses[0], losses[1], 1e-5 * losses[0]);
    // Adam divides by the root of a small second moment, so rounding of 1e-7 may grow; a wrong normaliser gives > 1e-2.
    for (size_t i = 0; i < weights[0].size(); ++i) ASSERT_NEAR(weights[0][i], weights[1][i], 2e-3) << i;
  }
}

TEST(Trainer, LowersItsRateWhereTheLossDoesNotFallEveryStep) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 800, .noise = 4});
  Setting setting;
  setting.train.plateau = true;
  setting.train.plateau_patience = 0;
  setting.train.plateau_factor = 0.5;
  setting.train.epochs = 4;
  double rate = 0;
  ASSERT_TRUE(
      MakeTrainerOf(graph, setting)->Run({.epoch = [&](const EpochReport& e) { rate = e.learning_rate; }}).ok());
  EXPECT_LE(rate, 0.005);
  EXPECT_GT(rate, 0);
}

TEST(Trainer, AveragesRunningStatisticsOverShards) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 800});
  Setting setting;
  setting.model.kind = "gin";
  setting.train.shards = 3;
  setting.train.batch = 50;
  setting.train.epochs = 1;
  const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph, setting);
  ASSERT_TRUE(trainer->Run({}).ok());
  bool found_epoch = false;
  for (const Parameter<float>* parameter : trainer->model().parameters()) {
    if (!parameter->name.ends_with("running_var")) continue;
    found_epoch = true;
    for (float value : parameter->value) EXPECT_TRUE(std::isfinite(value) && value > 0);
  }
  EXPECT_TRUE(found_epoch);
}

class Checkpoints : public testing::Test {
 protected:
  // Runs without interruption, with checkpoints in `name`; returns the last checkpoint's bytes.
  std::string WholeRun(const Setting& given_setting, const std::string& name) {
    Setting setting = given_setting;
    setting.run.checkpoint = scratch_ / name;
    EXPECT_TRUE(MakeTrainerOf(graph_, setting)->Run({}).ok());
    return ReadFile(setting.run.checkpoint + "/last.safetensors").value();
  }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
  std::shared_ptr<const Graph> graph_ = CommunityGraph({.nodes = 900});
};

TEST_F(Checkpoints, StoppedAfterAnyStepAndResumedEndsWithTheSameBytes) {
  for (const char* kind : {"sage", "gin"}) {
    Setting setting;
    setting.model.kind = kind;
    setting.train.plateau = true;
    setting.train.plateau_patience = 2;
    setting.train.eval_every = 2;
    setting.train.epochs = 3;
    const std::string uninterrupted_checkpoint = WholeRun(setting, "whole");
    const std::string best = ReadFile(scratch_ / "whole/best.safetensors").value();
    // Stops the run repeatedly, each time when it asks for the third time whether to stop (after a step or a validation
    // batch).
    const std::string folder = scratch_ / (std::string("stopped-") + kind);
    setting.run.checkpoint = folder;
    std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph_, setting);
    int stops = 0;
    for (;; ++stops) {
      ASSERT_LT(stops, 100);
      int stop_questions = 0;
      const Result<TrainResult> part = trainer->Run({.stop = [&] { return ++stop_questions == 3; }});
      ASSERT_TRUE(part.ok()) << part.status().message();
      if (part->end == TrainResult::End::kFinished) break;
      Result<std::unique_ptr<Trainer>> resumed =
          ResumeTrainer(graph_, folder, {.threads = 1 + stops % 3, .checkpoint = folder});
      ASSERT_TRUE(resumed.ok()) << resumed.status().message();
      trainer = std::move(*resumed);
    }
    EXPECT_GE(stops, 3);
    EXPECT_TRUE(ReadFile(folder + "/last.safetensors").value() == uninterrupted_checkpoint) << kind;
    EXPECT_TRUE(ReadFile(folder + "/best.safetensors").value() == best) << kind;
  }
}

TEST_F(Checkpoints, MoreEpochsGoOnAsOneLongRun) {
  Setting setting;
  setting.train.epochs = 4;
  const std::string uninterrupted_checkpoint = WholeRun(setting, "long");
  setting.train.epochs = 2;
  WholeRun(setting, "short");
  Result<std::unique_ptr<Trainer>> resumed =
      ResumeTrainer(graph_, scratch_ / "short", {.checkpoint = scratch_ / "short"}, 4);
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  EXPECT_EQ((*resumed)->next_epoch(), 2);
  ASSERT_TRUE((*resumed)->Run({}).ok());
  EXPECT_TRUE(ReadFile(scratch_ / "short/last.safetensors").value() == uninterrupted_checkpoint);
}

TEST_F(Checkpoints, EndEarlyWhenValidationsStopGettingBetter) {
  Setting setting;
  setting.train.epochs = 60;
  setting.train.early_stop = 2;
  setting.run.checkpoint = scratch_ / "early";
  const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph_, setting);
  int epochs = 0;
  const Result<TrainResult> result = trainer->Run({.epoch = [&](const EpochReport&) { ++epochs; }});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, TrainResult::End::kEarlyStop);
  EXPECT_EQ(result->best_epoch, epochs - 3);
  // The best checkpoint's predictions are those that its validation counted. Resuming a run that has ended does
  // nothing.
  Result<LoadedModel> best = LoadModel(scratch_ / "early", {});
  ASSERT_TRUE(best.ok()) << best.status().message();
  EXPECT_EQ(best->epoch, result->best_epoch + 1);
  EXPECT_EQ(best->graph_fingerprint, GraphFingerprint(*graph_));
  const Result<Predictions> valid =
      Predict(graph_, *best->model, graph_->valid_nodes(), {.fanouts = best->eval_fanouts, .seed = best->seed});
  EXPECT_EQ(Accuracy(PredictedClasses(*valid), graph_->valid_nodes(), graph_->labels()), result->best_valid);
  Result<std::unique_ptr<Trainer>> resumed = ResumeTrainer(graph_, scratch_ / "early", {});
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ((*resumed)->Run({}).value().epochs, epochs);
}

TEST_F(Checkpoints, AreRefusedForAnotherGraphOrWhenDamaged) {
  Setting setting;
  const std::string bytes = WholeRun(setting, "run");
  const std::string path = scratch_ / "run/last.safetensors";
  const auto refusal = [&](const std::shared_ptr<const Graph>& graph) {
    Result<std::unique_ptr<Trainer>> resumed = ResumeTrainer(graph, path, {});
    EXPECT_FALSE(resumed.ok());
    EXPECT_EQ(resumed.status().code(), StatusCode::kInvalidArgument);
    return resumed.status().message();
  };
  EXPECT_NE(refusal(CommunityGraph({.nodes = 900, .seed = 2})).find("another graph"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomically(path, bytes.substr(0, bytes.size() - 10)).ok());
  EXPECT_NE(refusal(graph_).find("safetensors"), std::string::npos);
  EXPECT_EQ(ResumeTrainer(graph_, scratch_ / "nowhere", {}).status().code(), StatusCode::kNotFound);
}

TEST_F(Checkpoints, AStepBeyondTheEpochIsDamage) {
  Setting setting;
  WholeRun(setting, "run");
  const std::string path = scratch_ / "run/last.safetensors";
  TensorFile file = ReadTensorFile(path).value();
  nlohmann::json state = nlohmann::json::parse(file.metadata.at("hone.state"));
  state["epoch"] = 1;
  state["step"] = MakeTrainerOf(graph_, setting)->steps_per_epoch() + 1;
  file.metadata["hone.state"] = state.dump();
  ASSERT_TRUE(WriteTensorFile(path, file).ok());
  const Status status = ResumeTrainer(graph_, path, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the checkpoint is damaged"), std::string::npos) << status.message();
}

TEST_F(Checkpoints, AreWrittenWithinAnEpochWhereAsked) {
  Setting setting;
  setting.train.epochs = 1;
  setting.run.checkpoint = scratch_ / "often";
  setting.run.save_every = 2;
  std::vector<int64_t> saved;  // for each report of a step: the step in the saved file
  const auto look = [&](const StepReport& step) {
    if (step.validating) return;
    const TensorFile file = ReadTensorFile(setting.run.checkpoint + "/last.safetensors").value();
    saved.push_back(nlohmann::json::parse(file.metadata.at("hone.state")).at("step").get<int64_t>());
  };
  const std::unique_ptr<Trainer> trainer = MakeTrainerOf(graph_, setting);
  ASSERT_GE(trainer->steps_per_epoch(), 5);
  ASSERT_TRUE(trainer->Run({.step = look}).ok());
  saved.resize(5);
  EXPECT_EQ(saved, (std::vector<int64_t>{0, 0, 2, 2, 4}));
}

TEST_F(Checkpoints, LeftoversOfKilledRunsAreClearedAway) {
  Setting setting;
  setting.train.epochs = 1;
  for (const char* name : {"last.safetensors.aside-Ab12cd", "best.safetensors.aside-xyz", "notes.aside-1"}) {
    ASSERT_TRUE(WriteFileAtomicallyUnflushed(scratch_ / "left" + "/" + name, "half of a file").ok());
  }
  WholeRun(setting, "left");
  EXPECT_FALSE(FileExists(scratch_ / "left/last.safetensors.aside-Ab12cd"));
  EXPECT_FALSE(FileExists(scratch_ / "left/best.safetensors.aside-xyz"));
  EXPECT_TRUE(FileExists(scratch_ / "left/notes.aside-1")) << "not ours";
}

TEST_F(Checkpoints, AFolderThatCannotBeWrittenIsFoundOutBeforeTheFirstStep) {
  ASSERT_TRUE(WriteFileAtomically(scratch_ / "file", "not a folder").ok());
  Setting setting;
  setting.run.checkpoint = scratch_ / "file/below";
  int steps = 0;
  const Result<TrainResult> result = MakeTrainerOf(graph_, setting)->Run({.step = [&](const StepReport&) { ++steps; }});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kIo);
  EXPECT_NE(result.status().message().find("file/below"), std::string::npos) << result.status().message();
  EXPECT_EQ(steps, 0);
}

TEST_F(Checkpoints, GiveTheirWeightsToANewRun) {
  Setting setting;
  const std::string bytes = WholeRun(setting, "run");
  const std::string path = scratch_ / "run/last.safetensors";
  Result<std::unique_ptr<Trainer>> started = MakeTrainer(graph_, setting.model, setting.train, {}, path);
  ASSERT_TRUE(started.ok()) << started.status().message();
  Result<std::unique_ptr<Trainer>> resumed = ResumeTrainer(graph_, path, {});
  EXPECT_EQ(Weights(**started), Weights(**resumed));
  EXPECT_EQ((*started)->next_epoch(), 0);
  setting.model.hidden = 48;
  const Status status = MakeTrainer(graph_, setting.model, setting.train, {}, path).status();
  EXPECT_NE(status.message().find("convs.0.lin_l.weight"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("--hidden"), std::string::npos) << status.message();
}

TEST(TrainerOptions, RefusalsNameTheOption) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  const auto with = [&](auto change) {
    Setting setting;
    change(setting);
    return RefusalOf(graph, setting);
  };
  using S = Setting&;
  EXPECT_NE(with([](S s) { s.train.fanouts = {5, 0}; }).find("--fanout 5,0: 0 is not a fanout"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.fanouts = {5, 5, 5}; }).find("3 hops and the model 2 layers"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.eval_fanouts = {5}; }).find("--eval-fanout"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.eval_fanouts = {5, 2000}; }).find("1024"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.batch = 0; }).find("--batch is 0"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.epochs = 0; }).find("--epochs"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.learning_rate = std::nan(""); }).find("--lr"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.class_weights = {1, 2}; }).find("4 classes"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.class_weights = {0, 0, 0, 0}; }).find("all 0"), std::string::npos);
  EXPECT_NE(with([](S s) { s.train.early_stop = 1, s.train.eval_every = 0; }).find("--early-stop"), std::string::npos);
  EXPECT_NE(with([](S s) { s.model.kind = "gcn"; }).find("gcn"), std::string::npos);
  EXPECT_NE(with([](S s) { s.model.hidden = 0; }).find("hidden"), std::string::npos);
}

TEST(TrainerOptions, RefusalsNameWhatTheGraphLacks) {
  EXPECT_NE(RefusalOf(CommunityGraph({.nodes = 300, .train_share = 0}), {}).find("empty training split"),
            std::string::npos);
  EXPECT_NE(RefusalOf(CommunityGraph({.nodes = 300, .valid_share = 0}), {}).find("--eval-every 0"), std::string::npos);
  EXPECT_NE(RefusalOf(CommunityGraph({.nodes = 300, .labels = false}), {}).find("no labels"), std::string::npos);
  EXPECT_NE(RefusalOf(CommunityGraph({.nodes = 300, .features = false}), {}).find("features of 0 of its 300"),
            std::string::npos);
}

TEST(Trainer, StopsWhenTheLossIsNotANumberAndSaysWhere) {
  const std::shared_ptr<const Graph> graph =
      CommunityGraph({.nodes = 300, .bad_feature = std::numeric_limits<float>::quiet_NaN()});
  Setting setting;
  const Result<TrainResult> result = MakeTrainerOf(graph, setting)->Run({});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  for (const char* part : {"is nan in epoch 1 at step 1 ", "--lr", "NaN"}) {
    EXPECT_NE(result.status().message().find(part), std::string::npos) << result.status().message();
  }
}

}  // namespace
}  // namespace hone::gnn
