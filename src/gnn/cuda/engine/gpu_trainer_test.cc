// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the GPU trainer with the CPU's: the same epochs to rounding, checkpoints that either resumes, resumption to
// the bit, stopping, plateau, early end, and the report of a loss that is not a number.
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/engine/gpu_trainer.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>

#include "base/files/file.h"
#include "gnn/infer/safetensors.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {
namespace {

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = CommunityGraph({.nodes = 220, .degree = 8});
    model_.kind = "sage";
    model_.layers = 2;
    model_.hidden = 16;
    model_.seed = 3;
    train_.fanouts = {4, 3};
    train_.eval_fanouts = {6, 6};
    train_.batch = 32;  // 5 steps per epoch, the last one smaller
    train_.eval_batch = 20;
    train_.epochs = 2;
    train_.learning_rate = 0.01;
    train_.seed = 11;
    gpu_.fp32 = true;
    gpu_.ahead = 2;
  }
  std::string Folder(const std::string& name) const {
    std::filesystem::create_directories(folder_ / name);
    return folder_ / name;
  }
  std::unique_ptr<Trainer> Make(const RunOptions& run = {}) const {
    auto trainer = MakeGpuTrainer(graph_, model_, train_, run, gpu_);
    EXPECT_TRUE(trainer.ok()) << trainer.status().message();
    return trainer.ok() ? std::move(trainer).value() : nullptr;
  }
  static std::vector<EpochReport> RunAll(Trainer& trainer) {
    std::vector<EpochReport> epochs;
    const Result<TrainResult> result = trainer.Run({.epoch = [&](const EpochReport& e) { epochs.push_back(e); }});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return epochs;
  }
  static std::string Bytes(const std::string& folder) { return ReadFile(folder + "/last.safetensors").value(); }
  // Returns the largest difference between the F32 tensors of two checkpoints, relative to the tensor's largest value.
  static double Difference(const std::string& a, const std::string& b) {
    const TensorFile first = ReadTensorFile(a + "/last.safetensors").value();
    const TensorFile second = ReadTensorFile(b + "/last.safetensors").value();
    EXPECT_EQ(first.tensors.size(), second.tensors.size());
    double worst = 0;
    for (const StoredTensor& tensor : first.tensors) {
      const StoredTensor* other = second.Find(tensor.name);
      if (other == nullptr || other->shape != tensor.shape) return 1e9;
      if (tensor.dtype != "F32") continue;
      const std::vector<float> x = FloatValues(tensor).value(), y = FloatValues(*other).value();
      double largest_magnitude = 0, difference = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        largest_magnitude = std::max(largest_magnitude, std::abs(static_cast<double>(x[i])));
        difference = std::max(difference, std::abs(static_cast<double>(x[i]) - y[i]));
      }
      if (difference > 0) worst = std::max(worst, difference / largest_magnitude);
    }
    return worst;
  }

  std::shared_ptr<const Graph> graph_;
  ModelOptions model_;
  TrainOptions train_;
  GpuTrainerOptions gpu_;
  TemporaryDirectory folder_ = std::move(MakeTemporaryDirectory()).value();
};

TEST_F(OnGpu, RatesByEpochAndTheChosenMetricAreTheCpuTrainers) {
  train_.epochs = 4;
  train_.schedule = Schedule::kStep;
  train_.schedule_every = 2;
  train_.schedule_factor = 0.5;
  train_.warmup = 1;
  train_.metric = Metric::kMacroF1;
  const std::vector<EpochReport> cpu_reports = RunAll(*MakeTrainer(graph_, model_, train_, {.threads = 1}).value());
  const std::vector<EpochReport> gpu_reports = RunAll(*Make());
  ASSERT_EQ(gpu_reports.size(), cpu_reports.size());
  double best = -1;
  for (size_t e = 0; e < gpu_reports.size(); ++e) {
    EXPECT_EQ(gpu_reports[e].learning_rate, cpu_reports[e].learning_rate) << e;
    EXPECT_NEAR(gpu_reports[e].loss, cpu_reports[e].loss, 1e-3 * cpu_reports[e].loss) << e;
    EXPECT_NEAR(gpu_reports[e].valid_macro_f1, cpu_reports[e].valid_macro_f1, 0.05) << e;
    EXPECT_EQ(gpu_reports[e].best, gpu_reports[e].valid_macro_f1 > best) << e;
    best = std::max(best, gpu_reports[e].valid_macro_f1);
  }
  EXPECT_EQ(gpu_reports[0].learning_rate, 0.005);
  EXPECT_EQ(gpu_reports[3].learning_rate, 0.005);

  // Stops after two epochs and resumes with another learning rate.
  TrainOptions half_the_epochs = train_;
  half_the_epochs.epochs = 2;
  const std::string folder = Folder("half");
  RunAll(*MakeGpuTrainer(graph_, model_, half_the_epochs, {.checkpoint = folder}, gpu_).value());
  const std::vector<EpochReport> resumed_reports = RunAll(*ResumeGpuTrainer(graph_, folder, {}, gpu_, 4, 0.04).value());
  ASSERT_EQ(resumed_reports.size(), 2u);
  EXPECT_EQ(resumed_reports[0].learning_rate, 0.04);
  EXPECT_EQ(resumed_reports[1].learning_rate, 0.02);

  train_.metric = Metric::kRocAuc;
  EXPECT_NE(CheckForGpu(train_, {}, gpu_).message().find("--metric auc"), std::string::npos);
}

TEST_F(OnGpu, EpochsFollowTheCpuTrainers) {
  train_.plateau = true;
  train_.plateau_patience = 0;
  train_.weight_decay = 1e-3;
  train_.learning_rate = 0.03;  // so high that some later step's loss is above the best so far
  for (const char* kind : {"sage", "sage-ri"}) {
    SCOPED_TRACE(kind);
    model_.kind = kind;
    auto cpu = MakeTrainer(graph_, model_, train_, {.threads = 1}).value();
    const std::vector<EpochReport> cpu_reports = RunAll(*cpu);
    const auto gpu = Make();
    ASSERT_NE(gpu, nullptr);
    EXPECT_EQ(gpu->steps_per_epoch(), cpu->steps_per_epoch());
    const std::vector<EpochReport> gpu_reports = RunAll(*gpu);
    ASSERT_EQ(gpu_reports.size(), cpu_reports.size());
    for (size_t e = 0; e < gpu_reports.size(); ++e) {
      EXPECT_NEAR(gpu_reports[e].loss, cpu_reports[e].loss, 1e-3 * cpu_reports[e].loss) << e;
      EXPECT_NEAR(gpu_reports[e].train_accuracy, cpu_reports[e].train_accuracy, 0.02) << e;
      EXPECT_NEAR(gpu_reports[e].valid_accuracy, cpu_reports[e].valid_accuracy, 0.04) << e;
      EXPECT_DOUBLE_EQ(gpu_reports[e].learning_rate, cpu_reports[e].learning_rate) << e;
    }
    EXPECT_LT(gpu_reports.back().learning_rate, train_.learning_rate);
  }
}

// One epoch, five steps, of every file. Losses agree to fp32 rounding, which Adam amplifies, and so do the classes that
// the two checkpoints predict, but for nodes whose two largest logits are equal to rounding: one in a hundred at most.
TEST_F(OnGpu, EveryModelFileOfTheExamplesTrainsAsOnTheCpu) {
  train_.epochs = 1;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/examples/gnn_models")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 4u);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<ModelSpec> spec = ReadModelSpec(file);
    ASSERT_TRUE(spec.ok()) << spec.status().message();
    model_ = SpecOptions(std::make_shared<const ModelSpec>(*spec), LayersOf(*spec).value());
    model_.seed = 3;
    train_.fanouts.assign(static_cast<size_t>(model_.layers), 4);
    train_.eval_fanouts.assign(static_cast<size_t>(model_.layers), 6);
    const std::string name = file.stem();
    const auto cpu = MakeTrainer(graph_, model_, train_, {.threads = 1, .checkpoint = Folder(name + ".cpu")}).value();
    const std::vector<EpochReport> cpu_reports = RunAll(*cpu);
    const auto gpu = Make({.checkpoint = Folder(name + ".gpu")});
    ASSERT_NE(gpu, nullptr);
    const std::vector<EpochReport> gpu_reports = RunAll(*gpu);
    ASSERT_EQ(cpu_reports.size(), 1u);
    ASSERT_EQ(gpu_reports.size(), 1u);
    EXPECT_NEAR(gpu_reports[0].loss, cpu_reports[0].loss, 1e-3 * cpu_reports[0].loss);
    EXPECT_NEAR(gpu_reports[0].train_accuracy, cpu_reports[0].train_accuracy, 0.01);
    EXPECT_NEAR(gpu_reports[0].valid_accuracy, cpu_reports[0].valid_accuracy, 0.03);  // 44 nodes: one may differ
    std::vector<NodeId> nodes(static_cast<size_t>(graph_->structure().num_nodes));
    std::iota(nodes.begin(), nodes.end(), 0);
    const auto classes = [&](const std::string& folder) {
      const LoadedModel loaded = LoadModel(Folder(folder) + "/last.safetensors", {}).value();
      return PredictedClasses(Predict(graph_, *loaded.model, nodes, {.exact = true}).value());
    };
    const std::vector<int32_t> of_cpu = classes(name + ".cpu"), of_gpu = classes(name + ".gpu");
    size_t different = 0;
    for (size_t i = 0; i < nodes.size(); ++i) different += of_cpu[i] != of_gpu[i] ? 1 : 0;
    EXPECT_LE(different, nodes.size() / 100);
    EXPECT_GT(std::set<int32_t>(of_cpu.begin(), of_cpu.end()).size(), 1u) << "one class for all would agree by itself";
  }
}

TEST_F(OnGpu, ACheckpointOfEitherTrainerIsGoneOnFromByTheOther) {
  model_.kind = "sage-ri";
  const auto stop_after = [](int steps) {
    auto steps_left = std::make_shared<int>(steps);
    return [steps_left] { return --*steps_left <= 0; };
  };
  // Trains three times: on the CPU throughout; on the CPU, then the GPU; on the GPU, then the CPU.
  auto uninterrupted = MakeTrainer(graph_, model_, train_, {.threads = 1, .checkpoint = Folder("whole")}).value();
  ASSERT_TRUE(uninterrupted->Run({}).ok());
  auto first = MakeTrainer(graph_, model_, train_, {.threads = 1, .checkpoint = Folder("there")}).value();
  ASSERT_TRUE(first->Run({.stop = stop_after(3)}).ok());
  Result<std::unique_ptr<Trainer>> second =
      ResumeGpuTrainer(graph_, Folder("there"), {.checkpoint = Folder("there")}, gpu_);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ((*second)->next_step(), 3);
  ASSERT_TRUE((*second)->Run({}).ok());
  gpu_.ahead = 1;
  const auto third = Make({.checkpoint = Folder("back")});
  ASSERT_NE(third, nullptr);
  ASSERT_TRUE(third->Run({.stop = stop_after(3)}).ok());
  Result<std::unique_ptr<Trainer>> fourth =
      ResumeTrainer(graph_, Folder("back"), {.threads = 1, .checkpoint = Folder("back")});
  ASSERT_TRUE(fourth.ok()) << fourth.status().message();
  EXPECT_EQ((*fourth)->next_step(), 3);
  ASSERT_TRUE((*fourth)->Run({}).ok());
  // Adam divides by the gradient's own magnitude and so amplifies rounding. Another sample or mask would give a
  // difference of 1.
  EXPECT_LT(Difference(Folder("whole"), Folder("there")), 0.02);
  EXPECT_LT(Difference(Folder("whole"), Folder("back")), 0.02);
}

TEST_F(OnGpu, AStoppedRunGoesOnToTheSameBits) {
  model_.kind = "sage-ri";
  train_.plateau = true;
  train_.plateau_patience = 2;
  gpu_.fp32 = false;
  const auto uninterrupted = Make({.checkpoint = Folder("whole")});
  ASSERT_NE(uninterrupted, nullptr);
  ASSERT_TRUE(uninterrupted->Run({}).ok());
  auto part = Make({.checkpoint = Folder("part")});
  int64_t at = 0;
  for (int runs = 0;; ++runs) {
    ASSERT_LT(runs, 20);
    int stop_questions = 0;
    const Result<TrainResult> result = part->Run({.stop = [&] { return ++stop_questions == 2; }});
    ASSERT_TRUE(result.ok()) << result.status().message();
    if (result->end == TrainResult::End::kFinished) break;
    const int64_t now = part->next_epoch() * part->steps_per_epoch() + part->next_step();
    EXPECT_GE(now, at);          // the question whether to stop may come during validation
    EXPECT_LE(now, at + 2 + 2);  // the second question, plus the steps enqueued by then
    at = now;
    part = ResumeGpuTrainer(graph_, Folder("part"), {.checkpoint = Folder("part")}, gpu_).value();
  }
  EXPECT_EQ(Bytes(Folder("part")), Bytes(Folder("whole")));
}

// The files have the same bytes whichever side made the batches, and however often the run was interrupted. Times of
// stages are reported only for the host's batches.
TEST_F(OnGpu, BatchesFromTheHostsCoresTrainToTheSameBits) {
  const auto uninterrupted = Make({.checkpoint = Folder("whole")});
  ASSERT_NE(uninterrupted, nullptr);
  const std::vector<EpochReport> expected = RunAll(*uninterrupted);
  gpu_.host_batches = true;
  const RunOptions run{.workers = 2, .checkpoint = Folder("fed"), .save_every = 2};
  const auto fed = Make(run);
  ASSERT_NE(fed, nullptr);
  const std::vector<EpochReport> reports = RunAll(*fed);
  ASSERT_EQ(reports.size(), expected.size());
  for (size_t e = 0; e < reports.size(); ++e) {
    EXPECT_EQ(reports[e].loss, expected[e].loss);
    EXPECT_EQ(reports[e].valid_accuracy, expected[e].valid_accuracy);
    EXPECT_GT(reports[e].sampled_nodes, 0);
    EXPECT_GT(reports[e].sampled_edges, 0);
    EXPECT_GT(reports[e].times.sample, 0);
    EXPECT_EQ(expected[e].sampled_nodes, 0);
  }
  EXPECT_EQ(Bytes(Folder("fed")), Bytes(Folder("whole")));
  // Stops after the third step or soon after; another trainer resumes.
  const RunOptions part{.workers = 1, .checkpoint = Folder("part")};
  const auto first = Make(part);
  ASSERT_NE(first, nullptr);
  int64_t steps = 0;
  const auto stopped = first->Run({.step = [&](const StepReport&) { ++steps; }, .stop = [&] { return steps >= 3; }});
  ASSERT_TRUE(stopped.ok()) << stopped.status().message();
  EXPECT_EQ(stopped->end, TrainResult::End::kStopped);
  EXPECT_EQ(first->next_step(), steps);
  auto second = ResumeGpuTrainer(graph_, Folder("part"), part, gpu_);
  ASSERT_TRUE(second.ok()) << second.status().message();
  RunAll(**second);
  EXPECT_EQ(Bytes(Folder("part")), Bytes(Folder("whole")));
}

TEST_F(OnGpu, TellsOfEveryStepAndSavesWhereItWasAsked) {
  std::vector<int64_t> steps;
  std::vector<std::string> saved;
  const std::string folder = Folder("saves");
  train_.epochs = 1;
  const auto trainer = Make({.checkpoint = folder, .save_every = 2});
  ASSERT_NE(trainer, nullptr);
  const auto seeds = static_cast<int64_t>(graph_->train_nodes().size());
  double sum = 0;
  const Result<TrainResult> result =
      trainer->Run({.step =
                        [&](const StepReport& step) {
                          if (step.validating) return;
                          steps.push_back(step.step);
                          sum += step.loss * static_cast<double>(std::min<int64_t>(32, seeds - step.step * 32));
                          if (saved.empty() || saved.back() != Bytes(folder)) saved.push_back(Bytes(folder));
                        },
                    .epoch =
                        [&](const EpochReport& epoch) {
                          EXPECT_NEAR(epoch.loss, sum / static_cast<double>(seeds), 1e-6 * epoch.loss);
                        }});
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::vector<int64_t> all;
  for (int64_t i = 0; i < trainer->steps_per_epoch(); ++i) all.push_back(i);
  EXPECT_EQ(steps, all);
  EXPECT_EQ(saved.size(), static_cast<size_t>((trainer->steps_per_epoch() + 1) / 2));  // steps 1, 3, 5, …
  EXPECT_TRUE(std::filesystem::exists(folder + "/best.safetensors"));
  EXPECT_EQ(result->best_epoch, 0);
}

TEST_F(OnGpu, EndsEarlyWhenValidationsGetNoBetter) {
  train_.epochs = 30;
  train_.early_stop = 2;
  train_.learning_rate = 0;  // the loss never improves
  const auto trainer = Make();
  ASSERT_NE(trainer, nullptr);
  const Result<TrainResult> result = trainer->Run({});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, TrainResult::End::kEarlyStop);
  EXPECT_EQ(result->epochs, 3);
}

TEST_F(OnGpu, ALossThatIsNotANumberEndsTheRunAndKeepsTheLastState) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 3e38f}) {
    graph_ = CommunityGraph({.nodes = 220, .degree = 8, .bad_feature = bad});
    const std::string folder = Folder("bad");
    const auto trainer = Make({.checkpoint = folder});
    ASSERT_NE(trainer, nullptr);
    const Result<TrainResult> result = trainer->Run({});
    ASSERT_EQ(result.status().code(), StatusCode::kInvalidArgument) << bad;
    for (const char* part :
         {"in epoch 1 at step 1", "learning rate 0.01", "features that are NaN", "last.safetensors"}) {
      EXPECT_NE(result.status().message().find(part), std::string::npos) << result.status().message();
    }
    const TensorFile last_checkpoint = ReadTensorFile(folder + "/last.safetensors").value();
    for (const StoredTensor& tensor : last_checkpoint.tensors) {
      if (tensor.dtype != "F32") continue;
      const std::vector<float> values = FloatValues(tensor).value();
      for (const float value : values) ASSERT_TRUE(std::isfinite(value)) << tensor.name;
    }
  }
}

TEST_F(OnGpu, RefusesWhatItCannotDoAndSaysSo) {
  const auto refusal = [&] {
    const auto trainer = MakeGpuTrainer(graph_, model_, train_, {}, gpu_);
    EXPECT_EQ(trainer.status().code(), StatusCode::kInvalidArgument);
    return trainer.status().message();
  };
  const TrainOptions good = train_;
  train_.frontier = FrontierRule::kNewOnly;
  EXPECT_NE(refusal().find("frontier"), std::string::npos);
  train_ = good;
  train_.fanouts = {1025, 3};
  EXPECT_NE(refusal().find("1025"), std::string::npos);
}

}  // namespace
}  // namespace hone::gnn::cuda
