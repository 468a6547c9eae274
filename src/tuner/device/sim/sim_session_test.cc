// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels through compiler, child and session: right results, refused launches, separate memory.
#include "tuner/device/sim/sim_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using testing::HasSubstr;

std::vector<float> TestValues(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 977) * 0.25f - 100.0f;
  return values;
}

TEST(SimSession, RunsAVectorKernel) {
  SimBench bench;
  bench.Load(R"(
    __global__ void scale(const float* x, float* y, float a, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = a * x[i];
    })", {"scale"});
  const std::vector<float> x = TestValues(1000);
  bench.Input("x", x);
  bench.Output("y", 4000);
  const LaunchOutcome outcome = bench.Run("scale", {8}, {128}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(2.5f), SimBench::I(1000)});
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  const std::vector<float> y = bench.Read<float>("y");
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 2.5f * x[i]) << i;
  ASSERT_TRUE(outcome.cost);
  EXPECT_EQ(outcome.cost->accesses, 2000);
  EXPECT_GT(outcome.cost->time_us, 0);
}

std::string FindingsText(const LaunchOutcome& outcome) {
  std::string outcome_text = outcome.detail;
  for (const Finding& f : outcome.findings) outcome_text += "\n  " + f.kind + " " + f.location + " " + f.message;
  return outcome_text;
}

TEST(SimSession, AHangTimesOutAndTheNextLaunchWorks) {
  SimBench bench;
  bench.Load(R"(
    __global__ void hang(float* y) { volatile int go = 1; while (go) {} y[0] = 1; }
    __global__ void fine(float* y) { y[threadIdx.x] = 2; })", {"hang", "fine"});
  bench.Output("y", 128);
  const LaunchOutcome hung =
      bench.RunSteps({SimBench::Step("hang", {1}, {32}, {SimBench::T("y")})}, /*sample=*/false, 0.5);
  EXPECT_EQ(hung.status, LaunchStatus::kTimedOut) << FindingsText(hung);
  const LaunchOutcome fine = bench.Run("fine", {1}, {32}, {SimBench::T("y")});
  EXPECT_EQ(fine.status, LaunchStatus::kOk) << FindingsText(fine);
  EXPECT_EQ(bench.Read<float>("y")[31], 2);
}

TEST(SimSession, ASpinOnAFlagThatNobodySetsTimesOut) {
  SimBench bench;
  bench.Load("__global__ void k(volatile int* flag, float* y) { while (*flag == 0) {} y[0] = 1; }", {"k"});
  bench.Input("flag", std::vector<int>{0}, false);
  bench.Output("y", 4);
  const LaunchOutcome hung =
      bench.RunSteps({SimBench::Step("k", {2}, {64}, {SimBench::T("flag"), SimBench::T("y")})}, /*sample=*/false, 0.5);
  EXPECT_EQ(hung.status, LaunchStatus::kTimedOut) << FindingsText(hung);
}

TEST(SimSession, ACrashInMachineCodeIsAnOutcomeAndTheNextLaunchWorks) {
  SimBench bench;
  bench.Load(R"(
    __global__ void crash(float* y, int n) { y[threadIdx.x] = 7 / n; }
    __global__ void fine(float* y) { y[threadIdx.x] = 2; })", {"crash", "fine"});
  bench.Output("y", 128);
  EXPECT_EQ(bench.Run("crash", {1}, {32}, {SimBench::T("y"), SimBench::I(0)}).status, LaunchStatus::kCrashed);
  EXPECT_EQ(bench.Run("fine", {1}, {32}, {SimBench::T("y")}).status, LaunchStatus::kOk);
  EXPECT_FALSE(bench.session().lost());
}

TEST(SimSession, LaunchesThatAGpuRefusesAreRefused) {
  SimBench bench;
  bench.Load("__global__ void k(float* y) { y[0] = 1; }", {"k"});
  bench.Output("y", 4);
  const auto status = [&](std::vector<int64_t> grid, std::vector<int64_t> block, int64_t shared) {
    return bench.Run("k", std::move(grid), std::move(block), {SimBench::T("y")}, shared).status;
  };
  EXPECT_EQ(status({1}, {4096}, 0), LaunchStatus::kLaunchError);
  EXPECT_EQ(status({1}, {64, 32}, 0), LaunchStatus::kLaunchError);
  EXPECT_EQ(status({0}, {32}, 0), LaunchStatus::kLaunchError);
  EXPECT_EQ(status({1, 70000}, {32}, 0), LaunchStatus::kLaunchError);
  EXPECT_EQ(status({1}, {32}, 228 * 1024), LaunchStatus::kResourceLimit);
  EXPECT_EQ(status({1}, {32}, 227 * 1024), LaunchStatus::kOk);
  ResolvedStep step = SimBench::Step("k", {8}, {32}, {SimBench::T("y")});
  step.cluster = {2, 1, 1};
  EXPECT_EQ(bench.RunSteps({step}).status, LaunchStatus::kUnsupported);
  EXPECT_EQ(bench.Run("other", {1}, {32}, {}).status, LaunchStatus::kLaunchError);
}

TEST(SimSession, MemoryThatDoesNotExistIsRefused) {
  SimBench bench;
  EXPECT_EQ(bench.session().Allocate({{int64_t{2} << 40, 256, false}}, 1).status().code(), StatusCode::kDevice);
  EXPECT_EQ(bench.session().Allocate({{-1, 256, false}}, 1).status().code(), StatusCode::kDevice);
}

TEST(SimSession, BlocksAreAlignedAsAskedAndNoMore) {
  SimBench bench;
  const auto arena = bench.session().Allocate({{100, 16, true}, {100, 256, true}, {100, 512, false}, {0, 256, false}}, 3).value();
  EXPECT_EQ(arena->address(0) % 32, 16u);
  EXPECT_EQ(arena->address(1) % 512, 256u);
  EXPECT_EQ(arena->address(2) % 512, 0u);
  EXPECT_EQ(arena->blocks(), 4u);
}

TEST(SimSession, GapsNoticeAndAreRepaired) {
  SimBench bench;
  const auto arena = bench.session().Allocate({{1000, 16, true}, {1000, 16, true}}, 3).value();
  EXPECT_EQ(*bench.session().CheckGaps(*arena), std::nullopt);
  *reinterpret_cast<char*>(arena->address(0) + 1000) ^= 1;
  const std::optional<std::string> damage = *bench.session().CheckGaps(*arena);
  ASSERT_TRUE(damage);
  EXPECT_THAT(*damage, HasSubstr("block 0"));
  EXPECT_EQ(*bench.session().CheckGaps(*arena), std::nullopt);
}

TEST(SimSession, GlobalsGoBackBeforeEveryLaunch) {
  SimBench bench;
  bench.Load(R"(
    __device__ int counter = 5;
    __device__ float cache[4];
    __global__ void k(float* y, int write) { y[0] = counter + cache[1]; if (write) { counter = 100; cache[1] = 3; } })", {"k"});
  bench.Output("y", 4);
  EXPECT_GT(bench.program().WritableGlobalBytes(), 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(bench.Run("k", {1}, {1}, {SimBench::T("y"), SimBench::I(i == 1 ? 0 : 1)}).status, LaunchStatus::kOk);
    EXPECT_EQ(bench.Read<float>("y")[0], 5);
    EXPECT_EQ(*bench.session().GlobalsChanged(bench.program()), i != 1);
  }
}

TEST(SimSession, GlobalsLastFromStepToStepOfOnePlan) {
  SimBench bench;
  bench.Load(R"(
    __device__ int handed = 0;
    __global__ void first() { handed = 42; }
    __global__ void second(float* y) { y[0] = handed; })", {"first", "second"});
  bench.Output("y", 4);
  ASSERT_EQ(bench.RunSteps({SimBench::Step("first", {1}, {1}, {}), SimBench::Step("second", {1}, {1}, {SimBench::T("y")})}).status, LaunchStatus::kOk);
  EXPECT_EQ(bench.Read<float>("y")[0], 42);
}

TEST(SimSession, ReferencesAreNotVisibleToACandidate) {
  SimBench bench;
  bench.Load(R"(
    __global__ void k(float* y, unsigned long long secret) { y[0] = *reinterpret_cast<double*>(secret); })", {"k"});
  bench.Output("y", 4);
  const auto arena = bench.session().Allocate({{64, 256, false}}, 9).value();
  ASSERT_TRUE(bench.session().Fill(arena->address(0), 64, 0).ok());
  const LaunchOutcome outcome = bench.Run("k", {1}, {1}, {SimBench::T("y"), SimBench::I(arena->address(0))});
  EXPECT_EQ(outcome.status, LaunchStatus::kCrashed);
  EXPECT_THAT(outcome.detail, HasSubstr("past the end of 'y'"));
}

TEST(SimSession, CooperativeGridsMeet) {
  SimBench bench;
  bench.Load(R"(
    #include <cooperative_groups.h>

    __global__ void k(const float* x, float* part, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x, b = blockIdx.x;
      s[t] = x[b * 64 + t];
      __syncthreads();
      if (t == 0) { float sum = 0; for (int i = 0; i < 64; ++i) sum += s[i]; part[b] = sum; }
      cooperative_groups::this_grid().sync();
      float total = 0;
      for (int i = 0; i < gridDim.x; ++i) total += part[i];
      y[b * 64 + t] = s[t] / total;
    })", {"k"});
  std::vector<float> x(40 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) + 1;
  bench.Input("x", x);
  bench.Output("part", 40 * 4);
  bench.Output("y", static_cast<int64_t>(x.size()) * 4);
  const std::vector<ResolvedArgument> args{SimBench::T("x"), SimBench::T("part"), SimBench::T("y"), SimBench::I(0)};
  const LaunchOutcome outcome =
      bench.RunSteps({SimBench::Step("k", {40}, {64}, args, /*shared_bytes=*/0, /*cooperative=*/true)});
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  const float total = std::accumulate(x.begin(), x.end(), 0.0f);
  const std::vector<float> y = bench.Read<float>("y");
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], x[i] / total, 1e-6) << i;  // each block kept its shared
                                                                                     // memory
  // Without the `cooperative` flag the launch is refused at the barrier's line; one whose blocks cannot all be resident
  // never starts.
  EXPECT_EQ(bench.RunSteps({SimBench::Step("k", {40}, {64}, args)}).status, LaunchStatus::kCrashed);
  EXPECT_EQ(
      bench.RunSteps({SimBench::Step("k", {132 * 33}, {64}, args, /*shared_bytes=*/0, /*cooperative=*/true)}).status,
      LaunchStatus::kLaunchError);
}

TEST(SimSession, ABlockMayWaitForALaterOne) {
  SimBench bench("", 1);
  bench.Load(R"(
    __global__ void k(int* flag, float* y) {
      if (blockIdx.x == 0) { while (atomicAdd(flag, 0) == 0) {} __threadfence(); y[0] = 5; }
      if (blockIdx.x == 3 && threadIdx.x == 0) { __threadfence(); atomicExch(flag, 1); }
    })", {"k"});
  bench.Input("flag", std::vector<int>{0}, false);
  bench.Output("y", 4);
  const LaunchOutcome outcome = bench.Run("k", {4}, {32}, {SimBench::T("flag"), SimBench::T("y")});
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  EXPECT_EQ(bench.Read<float>("y")[0], 5);
}

TEST(SimSession, ASampleRunsEdgesAndSaysItsShare) {
  SimBench bench;
  bench.Load("__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) y[i] = x[i]; }", {"k"});
  const int n = 100000 * 128 - 5;
  bench.New("x", int64_t{n} * 4, /*sampled=*/true);
  bench.New("y", int64_t{n} * 4, /*sampled=*/true);
  DrawRequest draw;
  draw.view = bench.View("x");
  draw.view.dtype = DType::kFloat32;
  draw.view.shape = {n};
  draw.view.elements = n;
  draw.key = 3;
  ASSERT_TRUE(bench.session().Draw(draw).ok());
  const LaunchOutcome outcome = bench.RunSteps(
      {SimBench::Step("k", {100000}, {128}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(n)})}, /*sample=*/true);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  EXPECT_DOUBLE_EQ(outcome.cost->sampled_block_fraction, 64.0 / 100000);
  EXPECT_NEAR(outcome.cost->dram_bytes, 2.0 * n * 4, 0.01 * n);
  // A defect of the last block alone is still found: the sample always contains this block.
  bench.Load("__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * 128 + threadIdx.x; y[i] = x[i]; }", {"k"});
  const LaunchOutcome bad = bench.RunSteps(
      {SimBench::Step("k", {100000}, {128}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(n)})}, /*sample=*/true);
  EXPECT_EQ(bad.status, LaunchStatus::kCrashed) << FindingsText(bad);
}

ResolvedStep ProductStep(const std::string& a, const std::string& b, const std::string& out, int64_t m, int64_t n,
                         int64_t k) {
  ResolvedStep step;
  step.call = ResolvedCall{.a = {a, 0, 4 * m * k}, .b = {b, 0, 4 * k * n}, .out = {out, 0, 4 * m * n}, .m = m, .n = n, .k = k};
  return step;
}

TEST(SimSession, LibraryCallsStandBetweenLaunches) {
  SimBench bench;
  bench.Load("__global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }", {"twice"});
  bench.Input("x", std::vector<float>{1, 2, 3, 4});
  bench.Input("w", std::vector<float>{1, 0, 2, 1});
  bench.Workspace("h", 16, 0xa5);
  bench.Workspace("g", 16, 0xa5);
  bench.Output("y", 16);
  const LaunchOutcome outcome = bench.RunSteps({SimBench::Step("twice", {1}, {4}, {SimBench::T("x"), SimBench::W("h")}),
                                                ProductStep("h", "w", "g", 2, 2, 2),
                                                SimBench::Step("twice", {1}, {4}, {SimBench::W("g"), SimBench::T("y")})});
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  EXPECT_EQ(bench.Read<float>("y"), (std::vector<float>{20, 8, 44, 16}));
  EXPECT_GT(outcome.cost->calls_us, 0);
  EXPECT_LT(outcome.cost->calls_us, outcome.cost->time_us);
}

TEST(SimSession, ALibraryCallThatReadsWhatNobodyWroteIsNamed) {
  SimBench bench;
  bench.Load("__global__ void k() {}", {"k"});
  bench.Input("x", std::vector<float>{1, 2, 3, 4});
  bench.Workspace("h", 16, 0xa5);
  bench.Output("y", 16);
  const LaunchOutcome outcome = bench.RunSteps({ProductStep("x", "h", "y", 2, 2, 2)});
  EXPECT_EQ(outcome.status, LaunchStatus::kRuleViolation);
  EXPECT_EQ(outcome.detail, "matmul 2x2x2 float32 by cuBLASLt reads 'h' where nobody has written it");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, "uninitialised_read");
}

TEST(SimSession, ALibraryCallIsComputedForAComparisonAndNotForATime) {
  SimBench bench;
  bench.Load("__global__ void k() {}", {"k"});
  constexpr int64_t kSize = 128;
  bench.Input("x", std::vector<float>(kSize * kSize, 2));
  bench.Input("w", std::vector<float>(kSize * kSize, 1));
  ResolvedPlan plan;
  plan.steps = {ProductStep("x", "w", "y", kSize, kSize, kSize)};
  for (const uint64_t key : {uint64_t{0}, uint64_t{7}}) {
    bench.NewWritten("y", kSize * kSize * 4);
    LaunchRequest request{.plan = &plan, .bindings = &bench.bindings(), .limit_seconds = 60, .sample_blocks = true, .sample_key = key};
    const Result<LaunchOutcome> outcome = bench.session().Launch(bench.program(), request);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->cost->comparable, key != 0);
    EXPECT_EQ(bench.Read<float>("y")[0], key != 0 ? 2 * kSize : 0);
    EXPECT_EQ(outcome->cost->written_share, 1);
  }
  // The model takes operations at three quarters of the peak, or the bytes.
  const DeviceFacts& facts = bench.session().facts();
  ResolvedStep large = ProductStep("x", "w", "y", 1 << 14, 1 << 14, 1 << 14);
  large.call->out.bytes = kSize * kSize * 4;  // the size of the bound memory; nothing is computed here
  const double seconds = large.call->flops() / (0.75 * facts.fp32_flops);
  EXPECT_NEAR(bench.ModelledMicroseconds(large), seconds * 1e6, 0.01 * seconds * 1e6);
  const double narrow = bench.ModelledMicroseconds(ProductStep("x", "w", "y", 1 << 14, 1, 1 << 14));
  EXPECT_GT(narrow, 1e6 * 4 * std::pow(2.0, 28) / facts.memory_bandwidth);
  large.call->dtype = DType::kBFloat16;
  EXPECT_LT(bench.ModelledMicroseconds(large), seconds * 1e6 / 5);
}

TEST(SimSession, ALibraryCallOfTooManyOperationsIsUnsupported) {
  SimBench bench;
  bench.Load("__global__ void k() {}", {"k"});
  bench.Input("x", std::vector<float>(4, 1));
  bench.Output("y", 16);
  const LaunchOutcome outcome = bench.RunSteps({ProductStep("x", "x", "y", 1 << 20, 1 << 20, 1 << 20)});
  EXPECT_EQ(outcome.status, LaunchStatus::kUnsupported);
  EXPECT_NE(outcome.detail.find("too many for the simulated GPU"), std::string::npos) << outcome.detail;
}

TEST(SimSession, ASampleThatWaitsForUnsampledBlocksRunsWhole) {
  SimBench bench;
  bench.Load(R"(
    __global__ void k(int* turn, float* y) {
      if (threadIdx.x == 0) { while (atomicAdd(turn, 0) != blockIdx.x) {} y[blockIdx.x] = blockIdx.x; __threadfence(); atomicAdd(turn, 1); }
    })", {"k"});
  bench.Workspace("turn", 4, 0xa5);
  bench.Output("y", 300 * 4);
  // Each block waits for the previous one: the 64 sampled ones cannot finish by themselves.
  ResolvedStep clear;
  clear.is_memset = true;
  clear.target = "turn";
  clear.memset_bytes = 4;
  const LaunchOutcome outcome = bench.RunSteps(
      {clear, SimBench::Step("k", {300}, {32}, {SimBench::W("turn"), SimBench::T("y")})}, /*sample=*/true, 30);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  EXPECT_EQ(outcome.cost->sampled_block_fraction, 1.0);
  EXPECT_EQ(bench.Read<float>("y")[299], 299);
}

TEST(SimSession, TimesAreModelledAndRepeatExactly) {
  SimBench bench;
  bench.Load("__global__ void k(const float4* x, float4* y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i]; }", {"k"});
  bench.Input("x", TestValues(1 << 18));
  bench.Output("y", 4 << 18);
  const ResolvedStep step = SimBench::Step("k", {(1 << 16) / 256}, {256}, {SimBench::T("x"), SimBench::T("y")});
  const double first = bench.ModelledMicroseconds(step);
  EXPECT_GT(first, 1);
  EXPECT_EQ(bench.ModelledMicroseconds(step), first);
  EXPECT_LT(bench.ModelledMicroseconds(step, CacheState::kWarm), first);
  EXPECT_TRUE(bench.session().facts().modelled);
  EXPECT_GT(bench.session().TimeFloor({1e9, 1e9}, 1, CacheState::kCold).value(), 2e9 / 4.8e12 * 1e6);
}

TEST(SimSession, TheTimeOfASampleDependsNeitherOnTheWorkersNorOnTheirLuck) {
  // Blocks of unequal length share the weights they read: the cost would depend on the order of blocks on one
  // first-level cache.
  const ResolvedStep step =
      SimBench::Step("k", {4000}, {256}, {SimBench::T("w"), SimBench::T("y"), SimBench::I(4096)});
  double first = 0, share = 0;
  for (const int workers : {1, 2, 3, 2, 5}) {
    SimBench bench("", workers);
    bench.Load(R"(
      __global__ void k(const float* w, float* y, int n) {
        float sum = 0;
        const int rounds = 4 + blockIdx.x % 7 * 5;
        for (int r = 0; r < rounds; ++r)
          for (int i = threadIdx.x; i < n; i += 256) sum += w[i];
        y[blockIdx.x * 256 + threadIdx.x] = sum;
      })", {"k"});
    bench.Input("w", TestValues(4096));
    bench.Output("y", 4000 * 256 * 4);
    const LaunchOutcome outcome = bench.RunSteps({step}, /*sample=*/true);
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
    if (first == 0) {
      first = outcome.cost->time_us;
      share = outcome.cost->sampled_block_fraction;
    }
    EXPECT_EQ(outcome.cost->time_us, first) << workers;
    EXPECT_EQ(outcome.cost->sampled_block_fraction, share) << workers;
  }
}

TEST(SimSession, TheBudgetEndsASampleAtTheSameBlock) {
  double share = 0;
  for (const int workers : {1, 2, 4}) {
    SimBench bench("", workers);
    bench.Load(R"(
      __global__ void k(const float* w, float* y, int n) {
        float sum = 0;
        for (int r = 0; r < 2000 + int(blockIdx.x) % 5 * 700; ++r) sum += w[(r + threadIdx.x) % n];
        y[blockIdx.x * 512 + threadIdx.x] = sum;
      })", {"k"});
    bench.Input("w", TestValues(512));
    bench.Output("y", 200 * 512 * 4);
    const LaunchOutcome outcome = bench.RunSteps(
        {SimBench::Step("k", {200}, {512}, {SimBench::T("w"), SimBench::T("y"), SimBench::I(512)})}, /*sample=*/true);
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
    if (share == 0) share = outcome.cost->sampled_block_fraction;
    EXPECT_LT(share, 64.0 / 200) << "the budget was meant to bind";
    EXPECT_EQ(outcome.cost->sampled_block_fraction, share) << workers;
  }
}

// There are 90 blocks, more than one OS thread keeps begun.
TEST(SimSession, ASampleOfAllBlocksMayWaitForLaterOnes) {
  SimBench bench("", 2);
  bench.Load(R"(
    __global__ void k(int* turn, float* y) {
      if (threadIdx.x == 0) { while (atomicAdd(turn, 0) != gridDim.x - 1 - blockIdx.x) {} y[blockIdx.x] = 1; __threadfence(); atomicAdd(turn, 1); }
    })", {"k"});
  bench.Workspace("turn", 4, 0);
  bench.Output("y", 90 * 4);
  const LaunchOutcome outcome =
      bench.RunSteps({SimBench::Step("k", {90}, {32}, {SimBench::W("turn"), SimBench::T("y")})}, /*sample=*/true, 30);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << FindingsText(outcome);
  EXPECT_EQ(bench.Read<float>("y")[0], 1);
}

TEST(SimSession, TooMuchLocalMemoryIsUnsupported) {
  SimBench bench;
  bench.Load(R"(
    __global__ void k(float* y, int n) {
      float local[40000];
      for (int i = 0; i < 40000; ++i) local[(i * 7 + n) % 40000] = i;
      y[threadIdx.x] = local[n];
    })", {"k"});
  bench.Output("y", 64 * 4);
  const LaunchOutcome outcome = bench.Run("k", {1}, {64}, {SimBench::T("y"), SimBench::I(3)});
  EXPECT_EQ(outcome.status, LaunchStatus::kUnsupported) << FindingsText(outcome);
  EXPECT_THAT(outcome.detail, HasSubstr("local memory"));
}

TEST(SimSession, UnknownGpusAreRefusedWithTheNamesThereAre) {
  SimSessionOptions options;
  options.gpu = "b9000";
  const Result<std::unique_ptr<DeviceSession>> session = MakeSimSession(options);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(), HasSubstr("a100"));
  EXPECT_EQ(SimulatedGpuFacts("a100").value().sm_count, 108);
}

TEST(SimSession, StaticInitialisersRunInTheChildAlone) {
  SimBench bench;
  const CompiledModule module = SimBench::Compile("struct S { S() { volatile int* p = nullptr; *p = 1; } }; S s;\n__global__ void k(float* y) { y[0] = 1; }", {"k"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  CompiledProgram program;
  program.modules[""] = module;
  const Result<DeviceSession::LoadOutcome> loaded = bench.session().Load(program);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded.value().program, nullptr);
  EXPECT_EQ(loaded.value().launch.status, LaunchStatus::kLaunchError);
}

// A sample of the first step's blocks leaves most of the workspace unwritten; the reader is not at fault.
TEST(SimSession, AStepIsNotBlamedForWhatASampleOfTheStepBeforeLeftOut) {
  SimBench bench;
  bench.Load(R"(
__global__ void first(int* w) { w[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void second(const int* w, int* y, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += w[i];
  y[threadIdx.x] = sum;
}
)",
             {"first", "second"});
  constexpr int kBlocks = 4000, n = kBlocks * 32;
  bench.Output("y", 32 * 4);
  bench.New("w", int64_t{n} * 4);
  ASSERT_TRUE(bench.PoisonTensor("w").ok());
  const std::vector<ResolvedStep> steps{SimBench::Step("first", {kBlocks}, {32}, {SimBench::T("w")}),
                                        SimBench::Step("second", {1}, {32}, {SimBench::T("w"), SimBench::T("y"), SimBench::I(n)})};
  const LaunchOutcome sampled = bench.RunSteps(steps, /*sample=*/true);
  EXPECT_EQ(sampled.status, LaunchStatus::kOk) << sampled.detail;
  ASSERT_TRUE(sampled.cost.has_value());
  EXPECT_LT(sampled.cost->sampled_block_fraction, 1);
  // Without the first step it is a fault, sampled or not.
  ASSERT_TRUE(bench.PoisonTensor("w").ok());
  for (const bool sample : {true, false}) EXPECT_NE(bench.RunSteps({steps[1]}, sample).status, LaunchStatus::kOk) << sample;
}

TEST(SimSession, ApproximateFunctionsAreDisplacedByASecretOfTheLaunch) {
  SimBench bench;
  bench.Load(R"(__global__ void values(unsigned* y) {
    const float x = 0.37f * (threadIdx.x + 1);
    y[threadIdx.x * 4] = __float_as_uint(__expf(x));
    y[threadIdx.x * 4 + 1] = __float_as_uint(__logf(x));
    y[threadIdx.x * 4 + 2] = __float_as_uint(__sinf(x));
    y[threadIdx.x * 4 + 3] = __float_as_uint(__frcp_rn(x));
  })", {"values"});
  bench.Output("y", 64 * 16);
  const auto run = [&](bool sample) {
    const LaunchOutcome outcome = bench.RunSteps({SimBench::Step("values", {1}, {64}, {SimBench::T("y")})}, sample);
    HONE_CHECK(outcome.status == LaunchStatus::kOk, outcome.detail);
    EXPECT_FALSE(bench.session().GlobalsChanged(bench.program()).value());
    return bench.Read<unsigned>("y");
  };
  const std::vector<unsigned> first = run(false), second = run(false), timed = run(true);
  EXPECT_EQ(timed, run(true)) << "a launch that gives a time repeats";
  std::array<int, 4> differ{}, differ_from_timed{};
  for (size_t i = 0; i < first.size(); ++i) {
    differ[i % 4] += first[i] != second[i];
    differ_from_timed[i % 4] += first[i] != timed[i];
  }
  for (size_t function = 0; function < 3; ++function) {
    EXPECT_GT(differ[function], 0) << function;
    EXPECT_GT(differ_from_timed[function], 0) << function;
  }
  EXPECT_EQ(differ[3], 0) << "exact functions stay exact";
  EXPECT_TRUE(bench.module().globals.empty()) << "the key is no variable of the candidate's";
}

TEST(SimSession, ADependentStepMayNotReadWhatItHasNotWaitedFor) {
  SimBench bench;
  bench.Load(R"(
    __device__ int tickets;
    __global__ void first(const float* x, float* sums, float* y) {
      sums[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x] + 1;
      y[blockIdx.x * 64 + threadIdx.x] += 1;
      cudaTriggerProgrammaticLaunchCompletion();
    }
    __global__ void never_waits(const float* sums, float* y, float* z) { const int i = blockIdx.x * 64 + threadIdx.x; z[i] = sums[i]; }
    __global__ void never_waits_in_place(const float* sums, float* y, float* z) { const int i = blockIdx.x * 64 + threadIdx.x; z[i] = y[i]; }
    __global__ void waits_too_late(const float* sums, float* y, float* z) {
      const int i = blockIdx.x * 64 + threadIdx.x;
      const float sum = sums[i];
      cudaGridDependencySynchronize();
      z[i] = sum;
    }
    __global__ void waits(const float* sums, float* y, float* z) {
      const int i = blockIdx.x * 64 + threadIdx.x;
      if (threadIdx.x == 0) atomicAdd(&tickets, 1);
      cudaGridDependencySynchronize();
      z[i] = sums[i] + y[i];
    }
    __global__ void waits_by_one_thread(const float* sums, float* y, float* z) {
      const int i = blockIdx.x * 64 + threadIdx.x;
      if (threadIdx.x == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
      __syncthreads();
      z[i] = sums[i] + y[i];
    }
    __global__ void needs_nothing(const float* sums, float* y, float* z) { z[blockIdx.x * 64 + threadIdx.x] = 4; }
  )", {"first", "never_waits", "never_waits_in_place", "waits_too_late", "waits", "waits_by_one_thread", "needs_nothing"});
  constexpr int kBlocks = 4;
  bench.Input("x", std::vector<float>(64, 1));
  bench.Output("sums", kBlocks * 256);
  bench.Output("z", kBlocks * 256);
  const auto run = [&](const char* second, bool dependent) {
    bench.Input("y", std::vector<float>(kBlocks * 64, 1), /*read_only=*/false);
    HONE_CHECK(bench.PoisonTensor("sums").ok() && bench.PoisonTensor("z").ok(), "poisoning failed");
    ResolvedStep step = SimBench::Step(second, {kBlocks}, {64}, {SimBench::T("sums"), SimBench::T("y"), SimBench::T("z")});
    step.programmatic_dependent_launch = dependent;
    return bench.RunSteps({SimBench::Step("first", {kBlocks}, {64}, {SimBench::T("x"), SimBench::T("sums"), SimBench::T("y")}), step});
  };
  for (const char* early : {"never_waits", "never_waits_in_place", "waits_too_late"}) {
    const LaunchOutcome outcome = run(early, true);
    EXPECT_EQ(outcome.status, LaunchStatus::kRuleViolation) << early;
    EXPECT_THAT(outcome.detail, HasSubstr("no thread has waited for that step (cudaGridDependencySynchronize)")) << early;
    EXPECT_EQ(run(early, false).status, LaunchStatus::kOk) << early << " after a step that is over";
  }
  for (const char* right : {"waits", "waits_by_one_thread", "needs_nothing"}) {
    const LaunchOutcome outcome = run(right, true);
    EXPECT_EQ(outcome.status, LaunchStatus::kOk) << right << ": " << outcome.detail;
    EXPECT_THAT(bench.Read<float>("z"), testing::Each(4)) << right;
    EXPECT_THAT(bench.Read<float>("sums"), testing::Each(2)) << right;
    EXPECT_THAT(bench.Read<float>("y"), testing::Each(2)) << right;
  }
}

}  // namespace
}  // namespace hone
