// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the gather through the GPUs' own memory: its result on every rank, turn after turn and in a replayed graph;
// training with it; and that a rank is released if it waits for a lost rank. Ranks are processes whose kernels wait for
// one another.
#include "gnn/cuda/update/peer_exchange.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/emulated/rank_processes.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

float ValueOf(int rank, int turn, int64_t i) { return static_cast<float>(rank * 1000 + turn * 10) + static_cast<float>(i % 7); }

// Returns OK if `out`, which this rank has gathered, holds all ranks' values of `turn`.
Status CheckGathered(const DeviceArray<float>& out, int ranks, int64_t count, int turn) {
  std::vector<float> values;
  HONE_RETURN_IF_ERROR(out.Download(values));
  for (int r = 0; r < ranks; ++r) {
    for (int64_t i = 0; i < count; ++i) {
      if (values[static_cast<size_t>(r * count + i)] != ValueOf(r, turn, i)) return Status::Internal("another value in turn " + std::to_string(turn));
    }
  }
  return Status::Ok();
}

Status SetIn(DeviceArray<float>& in, int rank, int turn, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = ValueOf(rank, turn, i);
  return in.Upload(values.data(), count);
}

TEST(PeerExchangeAsRanks, BringsEverybodyThePartsOfAll) {
  emulated::SetOrder(0);
  std::vector<int> others;
  const Status status = OnRankProcesses(
      3,
      [](Communicator& ranks, GradientExchange&) -> Status {
        HONE_ASSIGN_OR_RETURN(const std::shared_ptr<GradientExchange> exchange, MakePeerExchange(ranks));
        int turn = 0;
        for (const int64_t count : {int64_t{4}, int64_t{1000}, int64_t{400}}) {  // fewer than blocks, more, fewer
          DeviceArray<float> in, out;
          HONE_RETURN_IF_ERROR(out.Allocate(ranks.size() * count));
          for (const int last = turn + 3; turn < last; ++turn) {
            HONE_RETURN_IF_ERROR(SetIn(in, ranks.rank(), turn, count));
            HONE_RETURN_IF_ERROR(exchange->AllGather(in.get(), out.get(), count, DeviceElement::kFloat32, nullptr));
            HONE_RETURN_IF_ERROR(CheckGathered(out, ranks.size(), count, turn));
          }
          // The gather is captured once and replayed with other values each time.
          Stream stream;
          HONE_RETURN_IF_ERROR(stream.Make());
          HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
          HONE_RETURN_IF_ERROR(exchange->AllGather(in.get(), out.get(), count, DeviceElement::kFloat32, stream.handle));
          cudaGraph_t graph = nullptr;
          HONE_CUDA_RETURN_IF_ERROR(cudaStreamEndCapture(stream.handle, &graph));
          GraphExec replay;
          HONE_CUDA_RETURN_IF_ERROR(cudaGraphInstantiate(&replay.handle, graph));
          cudaGraphDestroy(graph);
          for (const int last = turn + 3; turn < last; ++turn) {
            HONE_RETURN_IF_ERROR(SetIn(in, ranks.rank(), turn, count));
            HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(replay.handle, stream.handle));
            HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
            HONE_RETURN_IF_ERROR(CheckGathered(out, ranks.size(), count, turn));
          }
        }
        if (exchange->AllGather(nullptr, nullptr, 3, DeviceElement::kFloat32, nullptr).ok()) return Status::Internal("12 bytes");
        return Status::Ok();
      },
      &others);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(others, (std::vector<int>{0, 0}));
}

TEST(PeerExchangeAsRanks, WhoWaitsForALostRankIsLetGo) {
  emulated::SetOrder(0);
  std::vector<int> others;
  const Status status = OnRankProcesses(
      2,
      [](Communicator& ranks, GradientExchange&) -> Status {
        HONE_ASSIGN_OR_RETURN(const std::shared_ptr<GradientExchange> exchange, MakePeerExchange(ranks));
        DeviceArray<float> in, out;
        HONE_RETURN_IF_ERROR(SetIn(in, ranks.rank(), 0, 64));
        HONE_RETURN_IF_ERROR(out.Allocate(128));
        HONE_RETURN_IF_ERROR(exchange->AllGather(in.get(), out.get(), 64, DeviceElement::kFloat32, nullptr));
        if (ranks.rank() == 1) _exit(0);
        // The gather is captured, so that the abort comes while it waits. Enqueued after the abort, it would be
        // refused.
        Stream stream;
        HONE_RETURN_IF_ERROR(stream.Make());
        std::atomic<bool> begun = false;
        HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
        emulated::Enqueue(stream.handle, "a sign that it begins", [&] { begun = true; });
        HONE_RETURN_IF_ERROR(exchange->AllGather(in.get(), out.get(), 64, DeviceElement::kFloat32, stream.handle));
        cudaGraph_t graph = nullptr;
        HONE_CUDA_RETURN_IF_ERROR(cudaStreamEndCapture(stream.handle, &graph));
        GraphExec replay;
        HONE_CUDA_RETURN_IF_ERROR(cudaGraphInstantiate(&replay.handle, graph));
        cudaGraphDestroy(graph);
        std::thread watchdog([&] {
          (void)ranks.Barrier("that rank 1 does not come to");
          while (!begun) std::this_thread::yield();
          exchange->Abort();
        });
        const cudaError_t launched = cudaGraphLaunch(replay.handle, stream.handle);
        const cudaError_t ended = launched == cudaSuccess ? cudaStreamSynchronize(stream.handle) : launched;
        begun = true;
        watchdog.join();
        HONE_CUDA_RETURN_IF_ERROR(ended);
        const Status later = exchange->AllGather(in.get(), out.get(), 64, DeviceElement::kFloat32, nullptr);
        return later.code() == StatusCode::kUnavailable ? Status::Ok() : Status::Internal("it goes on");
      },
      &others);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PeerExchangeAsRanks, WhatStandsAgainstItShowsWhenItIsMadeOnAllRanks) {
  emulated::SetOrder(0);
  std::vector<int> others;
  std::string argument_text;
  const Status status = OnRankProcesses(
      2,
      [&](Communicator& ranks, GradientExchange&) -> Status {
        if (ranks.rank() == 1) emulated::SetMemorySharing(false);
        const Status refused = MakePeerExchange(ranks).status();
        argument_text = refused.message();
        return refused.ok() ? Status::Internal("not refused") : ranks.Barrier("to go on another way");
      },
      &others);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(others, std::vector<int>{0});
  EXPECT_NE(argument_text.find("operation not supported"), std::string::npos) << argument_text;
}

struct Training {
  const char* name;
  int ranks, shards;
  double clip_norm = 0;   // above 0: the step is complete and clipped before the update
  double envelope = 1.03; // below 1: all ranks repeat steps
  const char* model = "sage-ri";  // sage-ri has running statistics too
};

class PeerExchangeAsRanksTrains : public testing::TestWithParam<Training> {};

TEST_P(PeerExchangeAsRanksTrains, ToTheBitsOfOneRank) {
  const Training& training = GetParam();
  emulated::SetOrder(0);
  const auto graph = CommunityGraph({.nodes = 300, .classes = 4, .degree = 7, .width = 12, .seed = 4});
  ModelOptions model;
  model.kind = training.model;
  model.layers = 2;
  model.hidden = 32;  // so wide that the parameters take more than one block
  TrainOptions options;
  options.fanouts = options.eval_fanouts = {4, 3};
  options.batch = options.eval_batch = 16;
  options.epochs = 1;
  options.shards = training.shards;
  options.clip_norm = training.clip_norm;
  const std::string folder = testing::TempDir() + "peer_exchange_" + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/one");
  std::filesystem::create_directories(folder + "/several");
  const auto train = [&](const RunOptions& run, const GpuTrainerOptions& gpu) -> Status {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, MakeGpuTrainer(graph, model, options, run, gpu));
    return trainer->Run({}).status();
  };
  ASSERT_TRUE(train({.checkpoint = folder + "/one"}, {.fp32 = true}).ok());
  std::vector<int> others;
  const Status status = OnRankProcesses(
      training.ranks,
      [&](Communicator& ranks, GradientExchange&) -> Status {
        HONE_ASSIGN_OR_RETURN(const std::shared_ptr<GradientExchange> exchange, MakePeerExchange(ranks));
        return train({.threads = 1, .checkpoint = folder + "/several", .communicator = &ranks},
                     {.fp32 = true,
                      .ahead = 3,
                      .envelope = training.envelope,
                      .storage = {.tier = FeatureTier::kPeers},
                      .exchange = exchange.get()});
      },
      &others);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(others, std::vector<int>(static_cast<size_t>(training.ranks - 1), 0));
  EXPECT_TRUE(ReadFile(folder + "/one/last.safetensors").value() == ReadFile(folder + "/several/last.safetensors").value());
  std::filesystem::remove_all(folder);
}

// The runs have one shard per rank; several shards per rank that are a branch; three per rank, which are no branch, so
// that each rank sends two nodes; and three ranks.
INSTANTIATE_TEST_SUITE_P(Runs, PeerExchangeAsRanksTrains,
                         testing::Values(Training{"OneShardEach", 4, 4}, Training{"ABranchEach", 2, 4, 0, 0.95},
                                         Training{"NoBranchEach", 2, 6}, Training{"ThreeRanks", 3, 3, 0.3},
                                         Training{"Clipped", 2, 2, 0.3, 0.95, "sage"}),
                         [](const auto& run) { return std::string(run.param.name); });

}  // namespace
}  // namespace hone::gnn::cuda
