// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests samples of blocks: which are run, what they write, and when they represent the whole launch.
// tests/cheats/timed_*.cu are candidates that skip work at timed shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tuner/device/block_shares.h"
#include "tuner/device/sim/sim_test_bench.h"
#include "tuner/device/sim/worker/block_sample.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr int64_t kFloats = int64_t{4} << 20;  // 16 MiB: four tiles

class SampleBench : public SimBench {
 public:
  SampleBench() {
    NewSampled({{"x", kFloats * 4}});
    ReadOnly("x");
    NewWritten("y", kFloats * 4);
  }
  LaunchOutcome Sample(const std::string& kernel, int64_t blocks, uint64_t key) {
    HONE_CHECK(PoisonTensor("y").ok(), "poisoning failed");
    ResolvedPlan plan;
    plan.steps = {Step(kernel, {blocks}, {256}, {T("x"), T("y")})};
    const LaunchRequest request{
        .plan = &plan, .bindings = &bindings(), .limit_seconds = 120, .sample_blocks = true, .sample_key = key};
    Result<LaunchOutcome> outcome = session().Launch(program(), request);
    HONE_CHECK(outcome.ok(), outcome.status().message());
    return *outcome;
  }
};

constexpr char kKernels[] = R"(
  __device__ unsigned next;
  __global__ void copies(const float* x, float* y) { const int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i] + 1; }
  __global__ void odd_blocks(const float* x, float* y) { const int i = blockIdx.x * 256 + threadIdx.x; if (blockIdx.x % 2) y[i] = x[i]; }
  __global__ void adds(const float* x, float* y) { const int i = blockIdx.x * 256 + threadIdx.x; atomicAdd(y + i, x[i]); }
  __global__ void reads(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i] + y[(i + 999999) % (4 << 20)];
  }
  // One of two neighboring blocks writes for both: which one, a hash decides.
  __global__ void uneven(const float* x, float* y) {
    const unsigned pair = blockIdx.x / 2, first = (pair * 0x9e3779b1u >> 13 ^ pair * 0x85ebca6bu >> 7) & 1;
    if (blockIdx.x % 2 != first) return;
    for (int j = 0; j < 2; ++j) y[pair * 512 + j * 256 + threadIdx.x] = x[pair * 512 + j * 256 + threadIdx.x];
  }
  __global__ void queue(const float* x, float* y) {
    __shared__ unsigned chunk;
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) chunk = atomicAdd(&next, 1u);
      __syncthreads();
      if (chunk >= 4096) return;
      for (int j = 0; j < 4; ++j) y[chunk * 1024 + j * 256 + threadIdx.x] = x[chunk * 1024 + j * 256 + threadIdx.x];
    }
  })";

TEST(SimSample, BlocksDrawnByASecretAreOthersForEachSecret) {
  const std::array<uint32_t, 3> grid{100, 50, 2};
  const std::vector<uint64_t> a = sim::DrawBlocks(grid, 64, 1), b = sim::DrawBlocks(grid, 64, 2);
  EXPECT_EQ(a, sim::DrawBlocks(grid, 64, 1));
  const std::set<uint64_t> distinct(a.begin(), a.end());
  EXPECT_EQ(distinct.size(), a.size());
  EXPECT_LE(a.size(), 68u);
  for (const uint64_t corner : {0u, 99u, 4900u, 9999u}) EXPECT_TRUE(distinct.contains(corner)) << corner;
  std::set<uint64_t> both(a.begin(), a.end());
  both.insert(b.begin(), b.end());
  EXPECT_GT(both.size(), 110u);
  for (const uint64_t block : a) EXPECT_LT(block, 10000u);
  EXPECT_EQ(sim::DrawBlocks({3, 2, 1}, 64, 9).size(), 6u);
}

TEST(SimSample, NoBlockGivesATimeForWhereItLies) {
  const std::array<uint32_t, 3> grid{128, 50, 2};
  EXPECT_EQ(sim::TimedBlocks(grid, 5), sim::TimedBlocks(grid, 5));
  EXPECT_EQ(sim::TimedBlocks({8, 8, 1}, 5).size(), 64u);
  std::map<uint64_t, int> met, first;
  for (uint64_t key = 1; key <= 400; ++key) {
    const std::vector<uint64_t> blocks = sim::TimedBlocks(grid, key);
    ASSERT_EQ(blocks.size(), sim::kSampledBlocks);
    std::set<uint64_t> strata;
    for (const uint64_t block : blocks) {
      ++met[block];
      strata.insert(block / 200);
    }
    EXPECT_EQ(strata.size(), 64u) << key;
    ++first[blocks[0] / 200];
  }
  // Each block is chosen twice on average. A cheat could skip a block that is always or never in the sample, or a
  // stratum that always comes first.
  for (const auto& [block, times] : met) EXPECT_LT(times, 20) << block;
  for (const auto& [stratum, times] : first) EXPECT_LT(times, 40) << stratum;
}

// A kernel that reads only the first megabytes, repeatedly, would be right if contents repeated at a known distance.
TEST(SimSample, NoDistanceIsKnownAtWhichLargeInputsRepeat) {
  SampleBench bench;
  const auto draw = [&](const char* name, uint64_t key) {
    DrawRequest request;
    request.view = bench.View(name);
    request.view.dtype = DType::kFloat32;
    request.view.elements = kFloats;
    request.view.shape = {kFloats};
    request.values.scale = 1;
    request.key = key;
    HONE_CHECK(bench.session().Draw(request).ok(), "drawing failed");
    return bench.Read<float>(name);
  };
  const std::vector<float> x = draw("x", 3);
  for (const int64_t distance :
       {int64_t{4} << 20, int64_t{256} << 10, int64_t{8} << 20, int64_t{1} << 20, int64_t{4096}}) {
    int64_t same = 0, all = 0;
    for (int64_t i = 0; i + distance / 4 < kFloats; i += 509, ++all)
      same += x[static_cast<size_t>(i)] == x[static_cast<size_t>(i + distance / 4)];
    EXPECT_LT(same, all / 20) << distance;
  }
  // Every reader sees the same values at every address: a tensor that is updated in place has the contents of its copy.
  EXPECT_EQ(draw("y", 3), x);
  EXPECT_EQ(draw("x", 3), x);
  EXPECT_NE(draw("x", 4), x);
  bench.Load(R"(__global__ void compares(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i] == y[i];
  })",
             {"compares"});
  draw("x", 3);
  draw("y", 3);
  ResolvedPlan plan;
  plan.steps = {SimBench::Step("compares", {kFloats / 256}, {256}, {SimBench::T("x"), SimBench::T("y")})};
  const LaunchRequest request{
      .plan = &plan, .bindings = &bench.bindings(), .limit_seconds = 120, .sample_blocks = true, .sample_key = 5};
  const Result<LaunchOutcome> outcome = bench.session().Launch(bench.program(), request);
  ASSERT_TRUE(outcome.ok() && outcome->status == LaunchStatus::kOk) << outcome->detail;
  const std::vector<float> y = bench.Read<float>("y");
  for (const uint64_t block : sim::DrawBlocks({kFloats / 256, 1, 1}, 64, 5)) EXPECT_EQ(y[block * 256], 1) << block;
}

TEST(SimSample, WhatItsBlocksWroteIsKnown) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "odd_blocks", "adds", "reads", "queue"});
  const LaunchOutcome even = bench.Sample("copies", kFloats / 256, 7);
  ASSERT_EQ(even.status, LaunchStatus::kOk) << even.detail;
  EXPECT_TRUE(even.cost->comparable);
  EXPECT_NEAR(even.cost->written_share, 1, 1e-9);
  EXPECT_LT(even.cost->sampled_block_fraction, 0.01);
  // Exactly these bytes are written, each in its own memory: the tensor is four tiles long.
  const std::vector<float> y = bench.Read<float>("y");
  size_t written = 0, all = 0;
  for (const uint64_t block : sim::DrawBlocks({kFloats / 256, 1, 1}, 64, 7)) {
    for (size_t i = block * 256; i < block * 256 + 256; ++i) written += y[i] != 0;
  }
  for (const float v : y) all += v != 0;
  EXPECT_EQ(written, all);
  EXPECT_GT(written, 63 * 256u);
}

TEST(SimSample, IsNotComparedWhereItSaysNothingOfTheWhole) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "odd_blocks", "adds", "reads", "queue"});
  EXPECT_FALSE(bench.Sample("odd_blocks", kFloats / 256, 7).cost->comparable) << "half of the outputs is nobody's";
  EXPECT_FALSE(bench.Sample("adds", kFloats / 256, 7).cost->comparable) << "others add to the same";
  EXPECT_FALSE(bench.Sample("reads", kFloats / 256, 7).cost->comparable) << "others write what it reads";
  EXPECT_TRUE(bench.Sample("copies", kFloats / 256, 8).cost->comparable);
}

TEST(SimSample, SharesBelowTheAverageMayBeChanceIfBlocksDiffer) {
  const auto of = [](int without, int with, double share) {
    std::vector<double> shares(static_cast<size_t>(without), 0.0);
    shares.insert(shares.end(), static_cast<size_t>(with), share);
    return SummarizeShares(shares);
  };
  EXPECT_DOUBLE_EQ(of(40, 24, 2).mean, 0.75);
  EXPECT_NEAR(of(40, 24, 2).error, std::sqrt((40 * 0.75 * 0.75 + 24 * 1.25 * 1.25) / 63 / 64), 1e-12);
  EXPECT_TRUE(of(40, 24, 2).MayBeAll()) << "half of the blocks write twice their share";
  EXPECT_FALSE(of(32, 32, 1).MayBeAll()) << "half of the blocks write nothing";
  EXPECT_FALSE(of(0, 64, 0.75).MayBeAll()) << "each block leaves a quarter out";
  EXPECT_FALSE(of(200, 120, 1.5).MayBeAll()) << "uneven, and nearly half is left out";
  EXPECT_FALSE(SummarizeShares({}).MayBeAll());
}

TEST(SimSample, OfBlocksThatShareTheWorkUnevenlyGivesATime) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "uneven"});
  ResolvedPlan plan;
  int below = 0;
  std::vector<double> times;
  for (uint64_t key = 1; key <= 60; ++key) {
    HONE_CHECK(bench.PoisonTensor("y").ok(), "poisoning failed");
    plan.steps = {SimBench::Step("uneven", {kFloats / 256}, {256}, {SimBench::T("x"), SimBench::T("y")})};
    SampleRequest request;
    request.program = &bench.program();
    request.plan = &plan;
    request.sets = {&bench.bindings()};
    request.limit_seconds = 120;
    request.block_key = key;
    const SampleOutcome outcome = bench.session().TimeSample(request).value();
    ASSERT_EQ(outcome.launch.status, LaunchStatus::kOk) << key << ": " << outcome.launch.detail;
    EXPECT_TRUE(outcome.launch.cost->comparable) << key;
    below += outcome.launch.cost->written_share < 0.8;
    times.push_back(outcome.us_per_plan);
  }
  EXPECT_GT(below, 0);
  // A sample that did less than its share counts for less of the grid, so times differ little.
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  EXPECT_LT(*most, 1.6 * *least);
}

TEST(SimSample, OfAQueueGivesNoTime) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "odd_blocks", "adds", "reads", "queue"});
  ResolvedPlan plan;
  const auto time = [&](const char* kernel, int64_t blocks) {
    HONE_CHECK(bench.PoisonTensor("y").ok(), "poisoning failed");
    plan.steps = {SimBench::Step(kernel, {blocks}, {256}, {SimBench::T("x"), SimBench::T("y")})};
    SampleRequest request;
    request.program = &bench.program();
    request.plan = &plan;
    request.sets = {&bench.bindings()};
    request.limit_seconds = 120;
    return bench.session().TimeSample(request).value();
  };
  const SampleOutcome queue = time("queue", 1000);
  EXPECT_EQ(queue.launch.status, LaunchStatus::kUnsupported);
  EXPECT_THAT(queue.launch.detail, HasSubstr("cannot time this launch"));
  EXPECT_EQ(time("odd_blocks", kFloats / 256).launch.status, LaunchStatus::kUnsupported);
  // The time is the same before and after a secret sample.
  const double before = time("copies", kFloats / 256).us_per_plan;
  bench.Sample("copies", kFloats / 256, 11);
  EXPECT_EQ(time("copies", kFloats / 256).us_per_plan, before);
}

}  // namespace
}  // namespace hone
