// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples of blocks: which are run, what they write, and when that says something of the whole launch. Candidates that
// spare themselves work at timed shapes are tests/cheats/timed_*.cu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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
    HONE_CHECK(Poisoned("y").ok(), "poisoning failed");
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
  EXPECT_EQ(std::set<uint64_t>(a.begin(), a.end()).size(), 64u);
  std::set<uint64_t> both(a.begin(), a.end());
  both.insert(b.begin(), b.end());
  EXPECT_GT(both.size(), 110u);
  for (const uint64_t block : a) EXPECT_LT(block, 10000u);
  EXPECT_EQ(sim::DrawBlocks({3, 2, 1}, 64, 9).size(), 6u);
}

TEST(SimSample, WhatItsBlocksWroteIsKnown) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "odd_blocks", "adds", "reads", "queue"});
  const LaunchOutcome even = bench.Sample("copies", kFloats / 256, 7);
  ASSERT_EQ(even.status, LaunchStatus::kOk) << even.detail;
  EXPECT_TRUE(even.cost->comparable);
  EXPECT_NEAR(even.cost->written_share, 1, 1e-9);
  EXPECT_LT(even.cost->sampled_block_fraction, 0.01);
  // Exactly those bytes, and each of its own memory: the tensor is four tiles long.
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

TEST(SimSample, OfAQueueGivesNoTime) {
  SampleBench bench;
  bench.Load(kKernels, {"copies", "odd_blocks", "adds", "reads", "queue"});
  ResolvedPlan plan;
  const auto time = [&](const char* kernel, int64_t blocks) {
    HONE_CHECK(bench.Poisoned("y").ok(), "poisoning failed");
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
  // A time is the same before and after a secret sample.
  const double before = time("copies", kFloats / 256).us_per_plan;
  bench.Sample("copies", kFloats / 256, 11);
  EXPECT_EQ(time("copies", kFloats / 256).us_per_plan, before);
}

}  // namespace
}  // namespace hone
