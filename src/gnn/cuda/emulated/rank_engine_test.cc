// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests two ranks with an emulated GPU each. They give the same bits as one rank, checkpoints included; they stop if
// one rank is asked to; and when one rank is killed, the other leaves a checkpoint.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/files/file.h"
#include "gnn/cuda/emulated/rank_processes.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/infer/safetensors.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

class TwoRanksOnGpus : public testing::Test {
 protected:
  void SetUp() override {
    emulated::SetOrder(0);
    graph_ = CommunityGraph({.nodes = 150, .classes = 4, .degree = 7, .width = 12, .seed = 4});
    model_.kind = "sage-ri";
    model_.layers = 2;
    model_.hidden = 16;
    model_.seed = 3;
    train_.fanouts = {4, 3};
    train_.eval_fanouts = {6, 6};
    train_.batch = 8;
    train_.eval_batch = 10;
    train_.epochs = 2;
    train_.learning_rate = 0.01;
    train_.plateau = true;
    train_.plateau_patience = 1;
    train_.seed = 11;
    gpu_.fp32 = true;
    gpu_.ahead = 3;
  }
  std::string Folder(const std::string& name) const {
    std::filesystem::create_directories(folder_ / name);
    return folder_ / name;
  }
  static std::string Bytes(const std::string& folder) { return ReadFile(folder + "/last.safetensors").value(); }

  using Body = std::function<Result<TrainResult>(const RunOptions& run, const GpuTrainerOptions& gpu, int rank)>;
  // Runs `body` on two ranks. Returns rank 0's result; *other is the exit status of rank 1's process.
  Result<TrainResult> OnTwoRanks(const std::string& checkpoint, const Body& body, int* other) {
    std::vector<int> others;
    Result<TrainResult> result = Status::Internal("it did not run");
    (void)OnRankProcesses(
        2,
        [&](Communicator& ranks, GradientExchange& gpus) {
          GpuTrainerOptions gpu = gpu_;
          gpu.exchange = &gpus;
          result = body({.threads = 1, .checkpoint = checkpoint, .communicator = &ranks}, gpu, ranks.rank());
          return result.status();
        },
        &others);
    *other = others[0];
    return result;
  }
  Result<TrainResult> Train(const RunOptions& run, const GpuTrainerOptions& gpu, const TrainEvents& events,
                            const std::string& also = {}) const {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, MakeGpuTrainer(graph_, model_, train_, run, gpu));
    if (HeldBy(*trainer).host_shared != (shares_rows_ && run.communicator != nullptr)) {
      return Status::Internal("rows are shared, or not, against expectation");
    }
    Result<TrainResult> result = trainer->Run(events);
    if (!also.empty()) HONE_RETURN_IF_ERROR(trainer->Save(also + "/last.safetensors"));
    return result;
  }
  // Trains on one rank and on two, and compares the checkpoints.
  void ExpectTheSameBits(const std::string& name) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(Train({.checkpoint = Folder(name + "-1")}, gpu_, {}).ok());
    const std::string two = Folder(name + "-2"), child = Folder(name + "-child");
    int status = 0;
    const Result<TrainResult> result = OnTwoRanks(
        two,
        [&](const RunOptions& run, const GpuTrainerOptions& gpu, int rank) {
          return Train(run, gpu, {}, rank == 1 ? child : "");
        },
        &status);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(status, 0);
    EXPECT_EQ(Bytes(Folder(name + "-1")), Bytes(two));
    EXPECT_EQ(Bytes(two), Bytes(child));
  }

  // Kills rank 1 in the second epoch, and expects that rank 0 has saved a whole step from which the run resumes to the
  // same bits.
  void ExpectAWholeStepIsLeft(const std::string& name) {
    train_.shards = 2;
    train_.batch = 4;  // 11 steps per epoch
    ASSERT_TRUE(Train({.checkpoint = Folder(name + "whole")}, gpu_, {}).ok());
    const std::string folder = Folder(name + "lost");
    int status = 0;
    const Result<TrainResult> lost = OnTwoRanks(
        folder,
        [&](const RunOptions& run, const GpuTrainerOptions& gpu, int rank) {
          return Train(run, gpu, {.step = [rank](const StepReport& step) {
                         if (rank == 1 && step.epoch == 1 && step.step == 5) _exit(7);
                       }});
        },
        &status);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
    ASSERT_FALSE(lost.ok());
    for (const char* part : {"rank 1 on host h", "in epoch 2 after step", "--resume"}) {
      EXPECT_NE(lost.status().message().find(part), std::string::npos) << lost.status().message();
    }
    const auto resumed = ResumeGpuTrainer(graph_, folder, {.checkpoint = folder}, gpu_).value();
    EXPECT_EQ(resumed->next_epoch(), 1);
    EXPECT_GT(resumed->next_step(), 0);
    EXPECT_LT(resumed->next_step(), 11);
    ASSERT_TRUE(resumed->Run({}).ok());
    EXPECT_EQ(Bytes(folder), Bytes(Folder(name + "whole")));
  }

  std::shared_ptr<const Graph> graph_;
  ModelOptions model_;
  TrainOptions train_;
  GpuTrainerOptions gpu_;
  bool shares_rows_ = false;  // whether the ranks share one copy in host memory
  TemporaryDirectory folder_ = std::move(MakeTemporaryDirectory()).value();
};

TEST_F(TwoRanksOnGpus, LeaveTheBitsOfOne) {
  for (const int shards : {2, 6}) {  // 6: three per rank, which are not a whole branch of the tree
    train_.shards = shards;
    ExpectTheSameBits("sage-ri-" + std::to_string(shards));
  }
  train_.shards = 4;
  train_.epochs = 1;
  train_.class_weights = {0.5, 2, 1, 3};
  train_.clip_norm = 0.3;
  for (const char* kind : {"sage", "gat", "gin"}) {
    model_.kind = kind;
    ExpectTheSameBits(kind);
  }
}

// Tests one copy of the rows per rank, and one copy for both ranks, for a loaded graph and for a generated one.
TEST_F(TwoRanksOnGpus, KeepFeaturesInTheHostsMemory) {
  train_.shards = 2;
  train_.epochs = 1;
  gpu_.storage = {.tier = FeatureTier::kCached, .cache_rows = 20, .misses = MissPath::kStaged};
  ExpectTheSameBits("a copy each");
  const FeatureView rows = graph_->features();
  gpu_.storage.host_bytes = rows.num_rows * rows.stride_bytes * 3 / 2;  // no room for two copies
  shares_rows_ = true;
  ExpectTheSameBits("one for both");
  graph_ = OutlineSyntheticGraph("synthetic:arxiv?scale=0.003&seed=3").value();
  train_.batch = 128;
  train_.eval_every = 0;
  gpu_.storage.host_bytes = 0;
  shares_rows_ = false;
  ExpectTheSameBits("made, a copy each");
  shares_rows_ = true;
  gpu_.storage.host_bytes = graph_->features().num_rows * graph_->features().stride_bytes * 3 / 2;
  ExpectTheSameBits("made, one for both");
}

TEST_F(TwoRanksOnGpus, TrainOnBatchesOfTheHostsCores) {
  model_.kind = "sage";
  train_.shards = 4;
  train_.clip_norm = 0.3;
  ASSERT_TRUE(Train({.checkpoint = Folder("gpu")}, gpu_, {}).ok());
  gpu_.host_batches = true;
  ExpectTheSameBits("fed");
  EXPECT_EQ(Bytes(Folder("gpu")), Bytes(Folder("fed-1")));
}

TEST_F(TwoRanksOnGpus, RepeatAStepTogetherWhenOneDoesNotFit) {
  graph_ = CommunityGraph({.nodes = 400, .classes = 4, .degree = 7, .width = 8, .seed = 4});
  model_.layers = 3;
  model_.hidden = 8;
  train_.fanouts = {3, 9, 4};
  train_.eval_every = 0;
  train_.epochs = 1;
  train_.batch = 32;
  train_.shards = 2;
  gpu_.envelope = 0.9;  // so small that three steps in four are repeated
  ExpectTheSameBits("envelope");
}

TEST_F(TwoRanksOnGpus, StopTogetherWhenOneIsAskedTo) {
  train_.shards = 2;
  ASSERT_TRUE(Train({.checkpoint = Folder("whole")}, gpu_, {}).ok());
  const std::string folder = Folder("stopped");
  int status = 0;
  const Result<TrainResult> stopped = OnTwoRanks(
      folder,
      [&](const RunOptions& run, const GpuTrainerOptions& gpu, int rank) -> Result<TrainResult> {
        int ranks_left = 2;
        HONE_ASSIGN_OR_RETURN(const TrainResult result,
                              Train(run, gpu, {.stop = [&] { return rank == 1 && --ranks_left <= 0; }}));
        if (result.end != TrainResult::End::kStopped) return Status::Internal("it did not stop");
        return result;
      },
      &status);
  ASSERT_TRUE(stopped.ok()) << stopped.status().message();
  EXPECT_EQ(status, 0);
  // A single rank resumes where two have stopped.
  const auto resumed = ResumeGpuTrainer(graph_, folder, {.checkpoint = folder}, gpu_).value();
  EXPECT_EQ(resumed->next_epoch(), 0);
  EXPECT_LT(resumed->next_step(), resumed->steps_per_epoch());
  ASSERT_TRUE(resumed->Run({}).ok());
  EXPECT_EQ(Bytes(folder), Bytes(Folder("whole")));
}

TEST_F(TwoRanksOnGpus, ALostOneLeavesAWholeStepToGoOnFrom) {
  for (const bool fed : {false, true}) {
    SCOPED_TRACE(fed ? "batches from the host's cores" : "batches of the device's own");
    model_.kind = fed ? "sage" : "sage-ri";
    gpu_.host_batches = fed;
      ExpectAWholeStepIsLeft(fed ? "fed-" : "own-");
  }
}

TEST_F(TwoRanksOnGpus, RefuseToStartWithoutEachOther) {
  train_.shards = 3;
  std::vector<std::unique_ptr<Communicator>> hosts = ConnectedRanks(2);
  const auto refusal = [&] {
    return MakeGpuTrainer(graph_, model_, train_, {.communicator = hosts[0].get()}, gpu_).status().message();
  };
  EXPECT_NE(refusal().find("multiple of 2"), std::string::npos) << refusal();
  train_.shards = 4;
  EXPECT_NE(refusal().find("communicator of the GPUs"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace hone::gnn::cuda
