// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests rows shared by the GPUs of several ranks, each a separate process with an emulated GPU. Every rank reads all
// rows, training gives the bits of one GPU that keeps its features itself, and all ranks refuse with the same reason.
#include "gnn/cuda/graph/peer_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/files/file.h"
#include "gnn/cuda/base/peer_sockets.h"
#include "gnn/cuda/emulated/rank_processes.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/cuda/engine/gpu_trainer.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPage = 4096;  // the granularity of the emulated device
constexpr int64_t kMebi = int64_t{1} << 20;

TEST(PeerLayout, DealsPiecesOutToAllRanks) {
  // papers100M's features over four GPUs are 1,695 pieces of 16 MiB.
  const PeerLayout papers = LayOutOverPeers(111059956 * int64_t{256}, 2 * kMebi, 4);
  EXPECT_EQ(papers.piece, 16 * kMebi);
  EXPECT_EQ(papers.pieces(), 1695);
  EXPECT_EQ(papers.BytesOf(0), 424 * papers.piece);
  EXPECT_EQ(papers.BytesOf(2), 424 * papers.piece);
  EXPECT_EQ(papers.BytesOf(3), 423 * papers.piece);
  // The graph's labelled nodes, the first 1.5 million rows, are 24 pieces: six per rank.
  int owned[4] = {};
  for (int64_t number = 0; number < 24; ++number) ++owned[papers.Owner(number)];
  for (const int count : owned) EXPECT_EQ(count, 6);
}

TEST(PeerLayout, CoversTheBytesWithWholeGranules) {
  for (const int64_t bytes : {int64_t{1}, kPage, kPage + 1, int64_t{1000003}, int64_t{300} << 30}) {
    for (const int ranks : {2, 3, 8}) {
      const PeerLayout layout = LayOutOverPeers(bytes, kPage, ranks);
      SCOPED_TRACE(std::to_string(bytes) + " over " + std::to_string(ranks));
      EXPECT_EQ(layout.piece % kPage, 0);
      EXPECT_GE(layout.pieces() * layout.piece, bytes);
      EXPECT_LT((layout.pieces() - 1) * layout.piece, bytes);
      EXPECT_LE(layout.pieces(), 4097);
      int64_t total_rows = 0;
      for (int r = 0; r < ranks; ++r) {
        total_rows += layout.BytesOf(r);
        EXPECT_LE(layout.BytesOf(r), layout.BytesOf(0));
        EXPECT_LE(layout.BytesOf(0) - layout.BytesOf(r), layout.piece);
      }
      EXPECT_EQ(total_rows, layout.pieces() * layout.piece);
    }
  }
}

class PeersAsRanks : public testing::Test {
 protected:
  void SetUp() override { emulated::SetOrder(0); }
  // Runs `body` on all ranks. Returns rank 0's result; the other ranks must have succeeded unless `expect_others` is
  // false.
  static Status OnRanks(int count, const RankBody& body, bool expect_others = true) {
    std::vector<int> others;
    const Status status = OnRankProcesses(count, body, &others);
    for (const int other : others) EXPECT_TRUE(other == 0 || !expect_others) << other;
    return status;
  }
};

unsigned char ByteAt(int64_t at) { return static_cast<unsigned char>((at * 2654435761u) >> 24); }

// Makes an array of `bytes` and fills this rank's part.
Status MakeFilled(Communicator& ranks, int64_t bytes, PeerRows& rows) {
  HONE_RETURN_IF_ERROR(rows.Make(ranks, bytes));
  HONE_RETURN_IF_ERROR(rows.FillOwn([&](int64_t first, int64_t end) {
    for (int64_t at = first; at < end; ++at) rows.get()[at] = ByteAt(at);
    return Status::Ok();
  }));
  return ranks.Barrier("filled");
}

Status ExpectAllBytes(const PeerRows& rows, int64_t bytes) {
  for (int64_t at = 0; at < bytes; ++at) {
    if (rows.get()[at] != ByteAt(at)) return Status::Internal("byte " + std::to_string(at) + " is another");
  }
  return Status::Ok();
}

TEST_F(PeersAsRanks, EveryRankReadsWhatAllHaveWritten) {
  constexpr int64_t kBytes = 70 * kPage + 777;  // each rank has more pieces than fit in one message
  const size_t before = emulated::AllocatedBytes();
  const Status status = OnRanks(3, [&](Communicator& ranks, GradientExchange&) -> Status {
    {
      PeerRows rows;
      HONE_RETURN_IF_ERROR(MakeFilled(ranks, kBytes, rows));
      HONE_RETURN_IF_ERROR(ExpectAllBytes(rows, kBytes));
      // Only this rank's part may take memory of its device.
      if (emulated::AllocatedBytes() - before != static_cast<size_t>(rows.layout().BytesOf(ranks.rank()))) {
        return Status::Internal("another part than the layout says");
      }
      std::vector<std::byte> copy(3 * static_cast<size_t>(rows.layout().piece));
      HONE_RETURN_IF_ERROR(rows.Download(100, copy));
      if (std::memcmp(copy.data(), rows.get() + 100, copy.size()) != 0) return Status::Internal("another copy");
    }
    return emulated::AllocatedBytes() == before ? Status::Ok() : Status::Internal("memory is left");
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(emulated::Fault(), "");
}

TEST_F(PeersAsRanks, WhatALostRankHadStaysReadable) {
  constexpr int64_t kBytes = 40 * kPage;
  const Status status = OnRanks(2, [&](Communicator& ranks, GradientExchange&) -> Status {
    PeerRows rows;
    HONE_RETURN_IF_ERROR(MakeFilled(ranks, kBytes, rows));
    if (ranks.rank() == 1) _exit(0);
    if (ranks.Barrier("that nobody comes to").ok()) return Status::Internal("rank 1 is there");
    return ExpectAllBytes(rows, kBytes);
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(PeersAsRanks, GeneratedFeaturesAreTheHosts) {
  // A row has 384 bytes, so some rows begin on one GPU and end on the next.
  for (const char* name : {"synthetic:arxiv?nodes=900&seed=2&dtype=float32&features=96", "synthetic:papers100M?nodes=1500&seed=3"}) {
    const auto graph = OpenGraph(name).value();
    const FeatureView features = graph->features();
    const auto bytes = static_cast<size_t>(features.num_rows * features.stride_bytes);
    const auto check = [&](const DeviceGraph& device) -> Status {
      std::vector<std::byte> copy(bytes);
      HONE_RETURN_IF_ERROR(device.peer_rows()->Download(0, copy));
      if (std::memcmp(copy.data(), features.rows, bytes) != 0) return Status::Internal("other features");
      HONE_ASSIGN_OR_RETURN(const std::string fingerprint, FingerprintThrough(*graph, device.Reader()));
      return fingerprint == GraphFingerprint(*graph) ? Status::Ok() : Status::Internal("another fingerprint");
    };
    const Status status = OnRanks(3, [&](Communicator& ranks, GradientExchange&) -> Status {
      DeviceGraph generated, uploaded;
      HONE_RETURN_IF_ERROR(generated.GenerateOverPeers(ParseSyntheticName(name).value(), ranks));
      HONE_RETURN_IF_ERROR(check(generated));
      HONE_RETURN_IF_ERROR(uploaded.UploadOverPeers(*graph, ranks));
      return check(uploaded);
    });
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  }
}

// --- what is refused ---

TEST_F(PeersAsRanks, GpusThatCannotReadOneAnotherAreNamed) {
  for (const emulated::Peers peers : {emulated::Peers::kApart, emulated::Peers::kInvisible}) {
    std::string argument_text;
    const Status status = OnRanks(2, [&](Communicator& ranks, GradientExchange&) -> Status {
      if (ranks.rank() == 1) emulated::SetPeers(peers);
      const Status refused = CheckPeers(ranks);
      argument_text = refused.message();
      return refused.code() == StatusCode::kInvalidArgument ? Status::Ok() : Status::Internal("not refused");
    });
    EXPECT_TRUE(status.ok()) << status.message();
    for (const char* part : {"rank 1 on host h", "rank 0 on host h", "--features device or host"}) {
      EXPECT_NE(argument_text.find(part), std::string::npos) << argument_text;
    }
  }
}

TEST_F(PeersAsRanks, OneRankAloneIsToldSo) {
  const std::unique_ptr<Communicator> solo = MakeSoloCommunicator();
  const Status status = CheckPeers(*solo);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("--gpus N"), std::string::npos) << status.message();
}

TEST_F(PeersAsRanks, ADriverThatCannotShareSaysSoOnAllRanks) {
  std::string argument_text;
  const Status status = OnRanks(3, [&](Communicator& ranks, GradientExchange&) -> Status {
    if (ranks.rank() == 2) emulated::SetMemorySharing(false);
    PeerRows rows;
    const Status refused = rows.Make(ranks, 100 * kPage);
    argument_text = refused.message();
    return refused.code() == StatusCode::kDevice ? Status::Ok() : Status::Internal("not refused");
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_NE(argument_text.find("rank 2 on host h"), std::string::npos) << argument_text;
  EXPECT_NE(argument_text.find("cuMemExportToShareableHandle: operation not supported"), std::string::npos)
      << argument_text;
}

TEST_F(PeersAsRanks, AGpuWithoutRoomForItsPartEndsAllWithItsName) {
  std::string argument_text;
  const Status status = OnRanks(2, [&](Communicator& ranks, GradientExchange&) -> Status {
    if (ranks.rank() == 1) emulated::SetDeviceMemory(emulated::AllocatedBytes() + 20 * kPage);
    PeerRows rows;
    const Status refused = rows.Make(ranks, 100 * kPage);
    argument_text = refused.message();
    return refused.code() == StatusCode::kResourceExhausted ? Status::Ok() : Status::Internal("not refused");
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_NE(argument_text.find("rank 1 on host h"), std::string::npos) << argument_text;
  EXPECT_NE(argument_text.find("this GPU's part of 409600"), std::string::npos) << argument_text;
}

// --- training ---

class PeersAsRanksTrain : public PeersAsRanks {
 protected:
  void SetUp() override {
    PeersAsRanks::SetUp();
    graph_ = CommunityGraph({.nodes = 600, .classes = 4, .degree = 7, .width = 12, .seed = 4});
    model_.kind = "sage";
    model_.layers = 2;
    model_.hidden = 16;
    model_.seed = 3;
    train_.fanouts = {4, 3};
    train_.eval_fanouts = {6, 6};
    train_.batch = train_.eval_batch = 16;
    train_.epochs = 2;
    train_.seed = 11;
    train_.shards = 6;
    gpu_.fp32 = true;
    gpu_.ahead = 3;
  }

  // Returns the bytes of the checkpoint that training on `ranks` ranks leaves; a single rank keeps only its own
  // features.
  std::string Trained(int ranks, const FeatureStorage& storage) {
    const std::string folder = folder_ / std::to_string(++runs_);
    std::filesystem::create_directories(folder);
    GpuTrainerOptions gpu = gpu_;
    gpu.storage = storage;
    const auto train = [&](const RunOptions& run) -> Status {
      HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, MakeGpuTrainer(graph_, model_, train_, run, gpu));
      return trainer->Run(events_).status();
    };
    last_ = ranks == 1 ? train({.checkpoint = folder})
                       : OnRanks(
                             ranks,
                             [&](Communicator& communicator, GradientExchange& gpus) {
                               gpu.exchange = &gpus;
                               return train({.threads = 1, .checkpoint = folder, .communicator = &communicator});
                             },
                             events_.step == nullptr);
    const Result<std::string> bytes = ReadFile(folder + "/last.safetensors");
    return last_.ok() && bytes.ok() ? *bytes : "failed: " + last_.message();
  }

  std::shared_ptr<const Graph> graph_;
  ModelOptions model_;
  TrainOptions train_;
  GpuTrainerOptions gpu_;
  TrainEvents events_;
  Status last_;
  TemporaryDirectory folder_ = std::move(MakeTemporaryDirectory()).value();
  int runs_ = 0;
};

TEST_F(PeersAsRanksTrain, LeaveTheBitsOfOneGpuThatHasAllFeatures) {
  train_.epochs = 1;
  const std::string expected = Trained(1, {});
  ASSERT_NE(expected.substr(0, 6), "failed") << expected;
  for (const int ranks : {2, 3}) {
    for (const int64_t rows : {int64_t{0}, int64_t{100}, int64_t{10000}}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(rows) + " rows cached");
      EXPECT_TRUE(Trained(ranks, {.tier = FeatureTier::kPeers, .cache_rows = rows}) == expected) << last_.message();
    }
  }
}

TEST_F(PeersAsRanksTrain, EveryModelReadsThePeersRows) {
  train_.epochs = 1;
  train_.shards = 2;
  for (const char* kind : {"gat", "gin", "sage-ri"}) {
    model_.kind = kind;
    SCOPED_TRACE(kind);
    const std::string expected = Trained(1, {});
    ASSERT_NE(expected.substr(0, 6), "failed") << expected;
    EXPECT_TRUE(Trained(2, {.tier = FeatureTier::kPeers}) == expected) << last_.message();
    EXPECT_TRUE(Trained(2, {.tier = FeatureTier::kPeers, .cache_rows = 60, .ranking = CacheRanking::kPresampling}) == expected)
        << last_.message();
  }
}

TEST_F(PeersAsRanksTrain, AGraphMadeOnTheGpusTrainsToTheBitsOfOne) {
  graph_ = OutlineSyntheticGraph("synthetic:papers100M?nodes=3000&degree=6&seed=3", 1).value();
  train_.epochs = 1;
  train_.batch = 64;
  train_.eval_every = 0;
  train_.shards = 2;
  const std::string expected = Trained(1, {});
  ASSERT_NE(expected.substr(0, 6), "failed") << expected;
  EXPECT_TRUE(Trained(2, {.tier = FeatureTier::kPeers, .cache_rows = 200}) == expected) << last_.message();
}

TEST_F(PeersAsRanksTrain, ALostRankLeavesTheReasonAndAWholeStep) {
  train_.shards = 2;
  train_.batch = 4;
  const pid_t rank0 = getpid();
  events_.step = [&](const StepReport& step) {
    if (getpid() != rank0 && step.epoch == 1 && step.step == 5) _exit(7);
  };
  (void)Trained(2, {.tier = FeatureTier::kPeers, .cache_rows = 50});
  for (const char* part : {"rank 1 on host h", "in epoch 2 after step", "--resume"}) {
    EXPECT_NE(last_.message().find(part), std::string::npos) << last_.message();
  }
}

TEST_F(PeersAsRanksTrain, OneRankIsRefused) {
  (void)Trained(1, {.tier = FeatureTier::kPeers});
  EXPECT_EQ(last_.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(last_.message().find("need several ranks"), std::string::npos) << last_.message();
}

// Moves features from the GPUs to host memory between epochs, on all ranks.
TEST_F(PeersAsRanksTrain, FeaturesMayMoveOnToTheHost) {
  const auto losses = [&](Communicator* ranks, GradientExchange* gpus) -> Result<std::vector<double>> {
    ModelOptions shape = model_;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    auto model = MakeModel(shape).value();
    GpuEngineOptions options;
    options.fanouts = train_.fanouts;
    options.eval_fanouts = train_.eval_fanouts;
    options.batch = 16;
    options.shards = 2;
    options.ranks = ranks;
    options.exchange = gpus;
    if (ranks != nullptr) options.storage = {.tier = FeatureTier::kPeers};
    HONE_ASSIGN_OR_RETURN(const auto engine, MakeGpuEngine(*graph_, *model, options));
    std::vector<double> result;
    for (uint32_t epoch = 0; epoch < 2; ++epoch) {
      HONE_ASSIGN_OR_RETURN(const EpochOnDevice done, engine->TrainEpoch(epoch));
      result.push_back(done.mean_loss);
      if (ranks == nullptr || epoch == 1) continue;
      HONE_RETURN_IF_ERROR(engine->SetStorage(*graph_, {.tier = FeatureTier::kCached, .cache_rows = 30}));
      if (engine->SetStorage(*graph_, {.tier = FeatureTier::kPeers}).ok()) return Status::Internal("not refused");
    }
    return result;
  };
  const Result<std::vector<double>> expected = losses(nullptr, nullptr);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const Status status = OnRanks(2, [&](Communicator& ranks, GradientExchange& gpus) -> Status {
    HONE_ASSIGN_OR_RETURN(const std::vector<double> losses_of_run, losses(&ranks, &gpus));
    return losses_of_run == *expected ? Status::Ok() : Status::Internal("other losses");
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace hone::gnn::cuda
