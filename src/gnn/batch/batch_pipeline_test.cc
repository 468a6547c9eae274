// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the pipeline: the contents of batches, their order, and every way of interrupting it.
#include "hone/gnn/batch_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "gnn/sample/counting_allocator.h"
#include "gnn/sample/huge_buffer.h"
#include "gnn/sample/reference_sampler.h"
#include "gnn/sample/test_graphs.h"

namespace hone::gnn {
namespace {

std::shared_ptr<const Graph> SmallGraph() {
  static const auto graph = std::make_shared<const TestGraph>(RandomCsr(2000, 12, 1));
  return graph;
}

std::unique_ptr<BatchPipeline> Make(const BatchPipelineOptions& options) {
  Result<std::unique_ptr<BatchPipeline>> pipeline = BatchPipeline::Make(SmallGraph(), options);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
  return std::move(pipeline).value();
}

BatchPipelineOptions Options(int workers) {
  BatchPipelineOptions options;
  options.sampler.fanouts = {5, 3};
  options.batch = 64;
  options.seed = 9;
  options.workers = workers;
  return options;
}

std::vector<NodeId> FirstNodes(int count) {
  std::vector<NodeId> nodes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) nodes[static_cast<size_t>(i)] = i;
  return nodes;
}

BatchLease Take(BatchPipeline& pipeline) {
  Result<BatchLease> lease = pipeline.Next();
  EXPECT_TRUE(lease.ok()) << lease.status().message();
  return lease.ok() ? std::move(lease).value() : BatchLease();
}

// The contents of a batch, for comparing batches.
struct Digest {
  BatchKey key;
  int64_t index;
  std::vector<NodeId> nodes;
  std::vector<int32_t> columns, labels;
  std::string features;
  bool operator==(const Digest& o) const {
    return key.seed == o.key.seed && key.epoch == o.key.epoch && key.step == o.key.step && key.shard == o.key.shard &&
           index == o.index && nodes == o.nodes && columns == o.columns && labels == o.labels && features == o.features;
  }
};

Digest DigestOf(const MiniBatch& batch) {
  const FeatureRows& rows = batch.features;
  return {
      batch.key,
      batch.index,
      batch.sample.nodes,
      batch.sample.rows.front().columns,
      batch.labels,
      std::string(reinterpret_cast<const char*>(rows.rows), static_cast<size_t>(rows.num_rows * rows.stride_bytes))};
}

std::vector<Digest> TakeEpoch(BatchPipeline& pipeline) {
  std::vector<Digest> batches;
  for (BatchLease lease = Take(pipeline); lease; lease = Take(pipeline)) batches.push_back(DigestOf(*lease));
  return batches;
}

TEST(BatchPipeline, BatchesHoldTheSampleTheRowsAndTheLabelsOfTheirSeeds) {
  const auto pipeline = Make(Options(2));
  const std::vector<NodeId> seeds = FirstNodes(500);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds, .epoch = 3}).ok());
  EXPECT_EQ(pipeline->StepsPerEpoch(500), 8);
  std::vector<NodeId> met;
  for (int64_t step = 0; step < 8; ++step) {
    const BatchLease lease = Take(*pipeline);
    ASSERT_TRUE(lease);
    const MiniBatch& batch = *lease;
    EXPECT_EQ(batch.index, step);
    EXPECT_EQ(batch.key.step, step);
    EXPECT_EQ(batch.key.epoch, 3u);
    std::vector<NodeId> expected_seeds;
    for (int64_t i = step * 64; i < std::min<int64_t>(500, step * 64 + 64); ++i) {
      expected_seeds.push_back(seeds[static_cast<size_t>(PermutedIndex(9, 3, 500, i))]);
    }
    met.insert(met.end(), expected_seeds.begin(), expected_seeds.end());
    const NeighborSample expected = ReferenceSample(SmallGraph()->structure(), Options(1).sampler, expected_seeds,
                                                    {.seed = 9, .epoch = 3, .step = static_cast<uint32_t>(step)});
    ASSERT_EQ(batch.sample.nodes, expected.nodes);
    ASSERT_EQ(batch.features.num_rows, batch.sample.num_nodes());
    EXPECT_EQ(batch.features.width, 20);
    for (int64_t i = 0; i < batch.features.num_rows; ++i) {
      const auto* row = reinterpret_cast<const uint16_t*>(batch.features.Row(i));
      ASSERT_EQ(row[19], batch.sample.nodes[static_cast<size_t>(i)] + 19);
    }
    ASSERT_EQ(batch.labels.size(), expected_seeds.size());
    for (size_t i = 0; i < batch.labels.size(); ++i) ASSERT_EQ(batch.labels[i], expected_seeds[i] % 7);
    EXPECT_GT(batch.sample_seconds, 0);
    EXPECT_GT(batch.slice_seconds, 0);
  }
  EXPECT_FALSE(Take(*pipeline));
  std::sort(met.begin(), met.end());
  EXPECT_EQ(met, seeds) << "an epoch meets every seed once";
}

TEST(BatchPipeline, IsTheSameOnOneTwoAndSixteenWorkers) {
  const std::vector<NodeId> seeds = FirstNodes(1500);
  std::vector<Digest> first;
  for (const int workers : {1, 2, 16}) {
    const auto pipeline = Make(Options(workers));
    ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    const std::vector<Digest> batches = TakeEpoch(*pipeline);
    ASSERT_EQ(batches.size(), 24u);
    if (first.empty()) first = batches;
    EXPECT_TRUE(batches == first) << workers << " workers";
  }
}

TEST(BatchPipeline, EpochsFollowEachOtherWithoutDraining) {
  const std::vector<NodeId> seeds = FirstNodes(300);
  const auto pipeline = Make(Options(3));
  for (uint32_t epoch = 0; epoch < 3; ++epoch) ASSERT_TRUE(pipeline->Start({.seeds = seeds, .epoch = epoch}).ok());
  std::set<std::vector<NodeId>> orders;
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    const std::vector<Digest> batches = TakeEpoch(*pipeline);
    ASSERT_EQ(batches.size(), 5u);
    for (const Digest& batch : batches) EXPECT_EQ(batch.key.epoch, epoch);
    orders.insert(batches[0].nodes);
  }
  EXPECT_EQ(orders.size(), 3u) << "epochs shuffle differently";
  EXPECT_FALSE(Take(*pipeline)) << "nothing was started";
}

TEST(BatchPipeline, GoesOnInTheMiddleOfAnEpoch) {
  const std::vector<NodeId> seeds = FirstNodes(700);
  const auto pipeline = Make(Options(2));
  ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
  const std::vector<Digest> epoch_digests = TakeEpoch(*pipeline);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds, .first_step = 7}).ok());
  const std::vector<Digest> remaining_digests = TakeEpoch(*pipeline);
  ASSERT_EQ(remaining_digests.size(), 4u);
  for (size_t i = 0; i < remaining_digests.size(); ++i) EXPECT_TRUE(remaining_digests[i] == epoch_digests[i + 7]);
  EXPECT_EQ(pipeline->Start({.seeds = seeds, .first_step = 12}).code(), StatusCode::kInvalidArgument);
}

TEST(BatchPipeline, DealsAStepToShardsOfNearEqualSizeTheLastTooAndKeepsTheGivenOrder) {
  BatchPipelineOptions options = Options(2);
  options.batch = 10;
  options.shards = 4;
  const std::vector<NodeId> seeds = FirstNodes(49);  // one step of 40 seeds and a last one of 9
  const auto pipeline = Make(options);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds, .shuffle = false}).ok());
  std::vector<int> sizes;
  std::vector<NodeId> met;
  for (BatchLease lease = Take(*pipeline); lease; lease = Take(*pipeline)) {
    EXPECT_EQ(lease->key.shard, sizes.size() % 4);
    EXPECT_EQ(lease->key.step, sizes.size() / 4);
    sizes.push_back(lease->sample.num_seeds());
    met.insert(met.end(), lease->sample.nodes.begin(), lease->sample.nodes.begin() + lease->sample.num_seeds());
  }
  EXPECT_EQ(sizes, (std::vector<int>{10, 10, 10, 10, 2, 2, 2, 3}));
  EXPECT_EQ(met, seeds);
}

TEST(BatchPipeline, TwoProcessesWithHalfOfTheShardsPrepareWhatOneDoes) {
  BatchPipelineOptions options = Options(1);
  options.batch = 16;
  options.shards = 4;
  const std::vector<NodeId> seeds = FirstNodes(150);
  const auto digests = [&](int first, int local) {
    options.first_shard = first;
    options.local_shards = local;
    const auto pipeline = Make(options);
    EXPECT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    return TakeEpoch(*pipeline);
  };
  const std::vector<Digest> both_digests = digests(0, 4), low = digests(0, 2), high = digests(2, 0);
  ASSERT_EQ(both_digests.size(), 12u);
  ASSERT_EQ(low.size(), 6u);
  ASSERT_EQ(high.size(), 6u);
  for (size_t step = 0; step < 3; ++step) {
    for (size_t shard = 0; shard < 4; ++shard) {
      const Digest& half = shard < 2 ? low[step * 2 + shard] : high[step * 2 + shard - 2];
      EXPECT_EQ(half.key.shard, shard);
      EXPECT_EQ(half.nodes, both_digests[step * 4 + shard].nodes);
    }
  }
}

TEST(BatchPipeline, AFailureComesInItsTurn) {
  BatchPipelineOptions options = Options(4);
  options.batch = 10;
  std::vector<NodeId> seeds = FirstNodes(60);
  seeds[25] = 999999;
  const auto pipeline = Make(options);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds, .shuffle = false}).ok());
  for (int batch = 0; batch < 6; ++batch) {
    Result<BatchLease> lease = pipeline->Next();
    ASSERT_EQ(lease.ok(), batch != 2) << batch;
    if (batch == 2) {
      EXPECT_EQ(lease.status().code(), StatusCode::kInvalidArgument);
      EXPECT_NE(lease.status().message().find("999999"), std::string::npos);
    } else {
      EXPECT_EQ((*lease)->index, batch);
    }
  }
  EXPECT_FALSE(Take(*pipeline));
}

TEST(BatchPipeline, EndsInTheMiddleOfAnEpoch) {
  const std::vector<NodeId> seeds = FirstNodes(2000);
  for (const int batches_taken : {0, 1, 5}) {
    const auto pipeline = Make(Options(4));
    ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    for (int i = 0; i < batches_taken; ++i) EXPECT_TRUE(Take(*pipeline));
  }
}

TEST(BatchPipeline, CancelDropsWhatWasStartedAndTheNextEpochIsWhole) {
  const auto pipeline = Make(Options(4));
  const std::vector<NodeId> expected_seeds = FirstNodes(640);
  ASSERT_TRUE(pipeline->Start({.seeds = expected_seeds, .epoch = 1}).ok());
  const std::vector<Digest> expected = TakeEpoch(*pipeline);
  for (int batches_taken = 0; batches_taken < 4; ++batches_taken) {
    std::vector<NodeId> seeds = FirstNodes(1000);
    ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    ASSERT_TRUE(pipeline->Start({.seeds = seeds, .epoch = 5}).ok());
    for (int i = 0; i < batches_taken; ++i) EXPECT_TRUE(Take(*pipeline));
    pipeline->Cancel();
    std::fill(seeds.begin(), seeds.end(), -1);  // must not be read any more
    ASSERT_TRUE(pipeline->Start({.seeds = expected_seeds, .epoch = 1}).ok());
    EXPECT_TRUE(TakeEpoch(*pipeline) == expected);
  }
}

TEST(BatchPipeline, SeveralBatchesMayBeOnLoan) {
  BatchPipelineOptions options = Options(2);
  options.queue = 2;
  const std::vector<NodeId> seeds = FirstNodes(640);
  const auto pipeline = Make(options);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
  std::vector<BatchLease> held;
  std::set<const MiniBatch*> objects;
  for (int i = 0; i < 10; ++i) {
    held.push_back(Take(*pipeline));
    objects.insert(&*held.back());
  }
  EXPECT_EQ(objects.size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(held[static_cast<size_t>(i)]->index, i);
  std::thread([&] { held.clear(); }).join();  // released by another thread
}

TEST(BatchPipeline, AllocatesNothingInTheSteadyState) {
  BatchPipelineOptions options = Options(2);
  options.batch = 100;
  const std::vector<NodeId> seeds = FirstNodes(2000);
  const auto pipeline = Make(options);
  // Every batch object and every worker's scratch memory grows to the largest batch it meets, and the assignment
  // varies, so after a few epochs whole epochs without an allocation must occur.
  int quiet = 0;
  for (uint32_t epoch = 0; epoch < 60 && quiet < 3; ++epoch) {
    ASSERT_TRUE(pipeline->Start({.seeds = seeds, .epoch = epoch % 4}).ok());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(Take(*pipeline));
    const int64_t before = AllocationsOfAllThreads(), buffers = HugeBuffer::allocations();
    for (int i = 0; i < 17; ++i) EXPECT_TRUE(Take(*pipeline));
    quiet += AllocationsOfAllThreads() == before && HugeBuffer::allocations() == buffers;
    EXPECT_FALSE(Take(*pipeline));
  }
  EXPECT_EQ(quiet, 3);
}

// All leases are returned at once at an epoch's end, so more batch objects are free than tickets may be ahead.
TEST(BatchPipeline, KeepsTheBuffersOfBatchesThatWereOnLoanForTheNextEpoch) {
  BatchPipelineOptions options = Options(2);
  options.batch = 100;
  const std::vector<NodeId> seeds = FirstNodes(2000);
  const auto pipeline = Make(options);
  int quiet = 0;
  for (int epoch = 0; epoch < 60 && quiet < 3; ++epoch) {
    const int64_t before = HugeBuffer::allocations();
    ASSERT_TRUE(pipeline->Start({.seeds = seeds, .epoch = 0}).ok());
    std::deque<BatchLease> held;
    while (BatchLease lease = Take(*pipeline)) {
      held.push_back(std::move(lease));
      if (held.size() > 4) held.pop_front();
    }
    held.clear();
    quiet = HugeBuffer::allocations() == before ? quiet + 1 : 0;
  }
  EXPECT_EQ(quiet, 3) << "every epoch allocates rows anew";
}

// Stands for a device's transfer stage: copies on Start, and records the calls.
class RecordingStage final : public TransferStage, public BufferAllocator {
 public:
  struct State final : TransferState {
    std::vector<std::byte> copy;
  };
  int ahead() const override { return 2; }
  BufferAllocator* allocator() override { return this; }
  Result<std::byte*> Allocate(size_t bytes) override {
    if (failing) throw std::bad_alloc();
    ++buffers;
    return static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  }
  void Free(std::byte* memory, size_t) noexcept override {
    --buffers;
    std::free(memory);
  }
  Status Start(MiniBatch& batch, std::unique_ptr<TransferState>& state) override {
    if (state == nullptr) state = std::make_unique<State>();
    const FeatureRows& rows = batch.features;
    static_cast<State&>(*state).copy.assign(rows.rows, rows.rows + rows.num_rows * rows.stride_bytes);
    batch.transfer_seconds = 0.5;
    const std::lock_guard lock(mutex);
    started.push_back(batch.index);
    most_ahead = std::max<int64_t>(most_ahead, static_cast<int64_t>(started.size()) - finished);
    return batch.index == refused ? Status::Device("the device is gone") : Status::Ok();
  }
  Status Finish(MiniBatch&, TransferState* state) override {
    EXPECT_NE(state, nullptr);
    const std::lock_guard lock(mutex);
    ++finished;
    return Status::Ok();
  }
  void Release(MiniBatch&, TransferState*) noexcept override { ++released; }

  std::mutex mutex;
  std::vector<int64_t> started;
  int64_t finished = 0, most_ahead = 0, refused = -1;
  std::atomic<int> released{0}, buffers{0};
  std::atomic<bool> failing{false};
};

TEST(BatchPipeline, TransfersStartInOrderAndAheadOfTheConsumer) {
  RecordingStage stage;
  BatchPipelineOptions options = Options(4);
  options.transfer = &stage;
  const std::vector<NodeId> seeds = FirstNodes(640);
  {
    const auto pipeline = Make(options);
    ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    for (int i = 0; i < 10; ++i) {
      const BatchLease lease = Take(*pipeline);
      ASSERT_TRUE(lease);
      const auto* state = static_cast<RecordingStage::State*>(lease.transfer_state());
      ASSERT_EQ(state->copy.size(), static_cast<size_t>(lease->features.num_rows * lease->features.stride_bytes));
      EXPECT_EQ(std::memcmp(state->copy.data(), lease->features.rows, state->copy.size()), 0);
    }
    EXPECT_FALSE(Take(*pipeline));
    EXPECT_EQ(pipeline->TakeTimes().transfer_seconds, 5.0);
  }
  EXPECT_EQ(stage.started, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  // Two transfers are ahead before the consumer asks; one more may begin between taking a batch and Finish.
  EXPECT_LE(stage.most_ahead, 3);
  EXPECT_EQ(stage.released, 10);
  EXPECT_EQ(stage.buffers, 0) << "every buffer went back to the allocator";
}

TEST(BatchPipeline, AFailedTransferAndAFailedAllocationComeInTheirTurn) {
  RecordingStage stage;
  stage.refused = 3;
  BatchPipelineOptions options = Options(2);
  options.transfer = &stage;
  const std::vector<NodeId> seeds = FirstNodes(320);
  const auto pipeline = Make(options);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
  for (int i = 0; i < 5; ++i) {
    const Result<BatchLease> lease = pipeline->Next();
    EXPECT_EQ(lease.status().code(), i == 3 ? StatusCode::kDevice : StatusCode::kOk);
  }
  EXPECT_FALSE(Take(*pipeline));

  RecordingStage poor;
  poor.failing = true;  // throws in a worker
  options.transfer = &poor;
  const auto starved = Make(options);
  ASSERT_TRUE(starved->Start({.seeds = seeds}).ok());
  EXPECT_EQ(starved->Next().status().code(), StatusCode::kResourceExhausted);
}

TEST(BatchPipeline, DroppedBatchesAreReleasedToTheStage) {
  RecordingStage stage;
  BatchPipelineOptions options = Options(4);
  options.transfer = &stage;
  const std::vector<NodeId> seeds = FirstNodes(2000);
  {
    const auto pipeline = Make(options);
    ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
    EXPECT_TRUE(Take(*pipeline));
    EXPECT_TRUE(Take(*pipeline));
  }
  EXPECT_EQ(stage.released, static_cast<int>(stage.started.size()));
  EXPECT_EQ(stage.buffers, 0);
}

TEST(BatchPipeline, ASmallBudgetKeepsBatchesFewButComplete) {
  RecordingStage stage;
  BatchPipelineOptions options = Options(8);
  options.transfer = &stage;
  options.buffer_bytes = 1;  // less than one batch: one at a time
  const std::vector<NodeId> seeds = FirstNodes(1000);
  const auto pipeline = Make(options);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
  EXPECT_EQ(TakeEpoch(*pipeline).size(), 16u);
  EXPECT_LE(stage.buffers, 3) << "one prepared, one on loan, one that waits to be used again";
}

TEST(BatchPipeline, CountsWhatTheConsumerTook) {
  const auto pipeline = Make(Options(1));
  const std::vector<NodeId> seeds = FirstNodes(128);
  ASSERT_TRUE(pipeline->Start({.seeds = seeds}).ok());
  int64_t nodes = 0;
  for (int i = 0; i < 2; ++i) nodes += Take(*pipeline)->sample.num_nodes();
  const PipelineTimes times = pipeline->TakeTimes();
  EXPECT_EQ(times.batches, 2);
  EXPECT_EQ(times.nodes, nodes);
  EXPECT_GT(times.edges, times.batches);
  EXPECT_GT(times.sample_seconds, 0);
  EXPECT_GE(times.wait_seconds, 0);
  EXPECT_EQ(pipeline->TakeTimes().batches, 0);
}

TEST(BatchPipeline, RefusesOptionsOutOfRangeByName) {
  const auto message = [](auto change) {
    BatchPipelineOptions options = Options(1);
    change(options);
    return BatchPipeline::Make(SmallGraph(), options).status().message();
  };
  EXPECT_EQ(message([](auto& o) { o.batch = 0; }), "batch is 0: 1 to 2^30 seeds");
  EXPECT_EQ(message([](auto& o) { o.workers = 0; }), "workers is 0: 1 to 1024 threads");
  EXPECT_EQ(message([](auto& o) { o.shards = 2, o.first_shard = 2; }), "first_shard is 2: 0 to shards - 1");
  EXPECT_EQ(message([](auto& o) { o.local_shards = 2; }), "local_shards is 2: at most shards - first_shard");
  EXPECT_NE(message([](auto& o) { o.sampler.fanouts = {0}; }).find("fanout 0"), std::string::npos);
}

}  // namespace
}  // namespace hone::gnn
