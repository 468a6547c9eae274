// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests modelled times of whole launches: a kernel always has the same time, and the first-level cache and shuffles
// have the right effects. sim_model_test.cc tests the arithmetic of the model alone.
#include <gtest/gtest.h>

#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

// Returns a figure of the step's profile.
double ProfileFigure(SimBench& bench, const ResolvedStep& step, const std::string& figure) {
  ResolvedPlan plan;
  plan.steps = {step};
  ProfileRequest request;
  request.program = &bench.program();
  request.plan = &plan;
  request.bindings = &bench.bindings();
  request.limit_seconds = 60;
  const ProfileOutcome outcome = bench.session().Profile(request).value();
  HONE_CHECK(outcome.kernels.size() == 1, outcome.launch.detail);
  return outcome.kernels[0].values.at(figure);
}

// --- one number ---

// Rows of 256 bytes; x, index and out are all larger than a tile of sampled memory.
constexpr int kRows = 1 << 20, kOut = 1 << 18, kFanout = 8;
constexpr char kGather[] = R"(
  __global__ void gather(const float* x, const int* index, float* out) {
    const long long v = blockIdx.x * 8ll + threadIdx.x / 32;
    float a = 0, b = 0;
    for (int j = 0; j < 8; ++j) {
      const long long n = index[v * 8 + j];
      a += x[n * 64 + threadIdx.x % 32];
      b += x[n * 64 + 32 + threadIdx.x % 32];
    }
    out[v * 64 + threadIdx.x % 32] = a;
    out[v * 64 + 32 + threadIdx.x % 32] = b;
  })";

void BindGather(SimBench& bench) {
  bench.NewSampled({{"x", int64_t{kRows} * 256}, {"index", int64_t{kOut} * kFanout * 4}, {"out", int64_t{kOut} * 256}});
  bench.DrawIndices("index", kRows);
}

ResolvedStep GatherStep(const char* kernel = "gather", int64_t blocks = kOut / 8) {
  return SimBench::Step(kernel, {blocks}, {256}, {SimBench::T("x"), SimBench::T("index"), SimBench::T("out")});
}

TEST(ModelledTime, IsTheSameInEveryProcessWithAnyNumberOfThreadsAtAnyAddress) {
  double first = 0;
  for (const int workers : {1, 2, 4, 2, 1}) {
    SimBench bench("", workers);
    for (int i = 0; i < workers; ++i)
      bench.New("before" + std::to_string(i), 100'000 * (i + 1));  // shifts later tensors
    bench.Load(kGather, {"gather"});
    BindGather(bench);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const double us = bench.ModelledMicroseconds(GatherStep());
      if (first == 0) first = us;
      EXPECT_EQ(us, first) << workers << " workers, repeat " << repeat;
    }
    // The same source is compared with itself, on the same tensors: another image in another process.
    bench.Load(kGather, {"gather"});
    EXPECT_EQ(first / bench.ModelledMicroseconds(GatherStep()), 1.0) << workers;
  }
}

TEST(ModelledTime, WhatAKernelWritesToOneTensorTurnsUpInNoOther) {
  SimBench bench;
  bench.Load(kGather, {"gather"});
  BindGather(bench);
  const auto indices = [&] {
    std::vector<int> values(1 << 20);  // a tile's worth
    HONE_CHECK(bench.session().CopyToHost(values.data(), bench.View("index").address, 4 << 20).ok(), "copying failed");
    return values;
  };
  const std::vector<int> before = indices();
  bench.ModelledMicroseconds(GatherStep());
  EXPECT_EQ(indices(), before);
}

TEST(ModelledTime, DoesNotDependOnWhichBlockComesFirstToAnAtomic) {
  double first = 0;
  for (const int workers : {1, 2, 4, 4, 2, 1}) {
    SimBench bench("", workers);
    // The drawn numbers decide which rows a block reads, and whether neighbours share them.
    bench.Load(R"(
      __global__ void k(const float* x, int* next, float* out) {
        __shared__ int mine;
        if (threadIdx.x == 0) mine = atomicAdd(next, 1 + blockIdx.x % 5);
        __syncthreads();
        const long long row = (long long)mine * mine % 4096 * 37;
        float sum = 0;
        for (int j = 0; j < 8; ++j) sum += x[(row + j * (mine % 3)) * 128 + threadIdx.x];
        out[(long long)blockIdx.x * 128 + threadIdx.x] = sum;
      })",
               {"k"});
    bench.NewSampled({{"x", int64_t{256} << 20}, {"out", int64_t{1000} * 512}});
    bench.Workspace("next", 4, 0);
    ResolvedStep clear;
    clear.is_memset = true;
    clear.target = "next";
    clear.memset_bytes = 4;
    const LaunchOutcome outcome = bench.RunSteps(
        {clear, SimBench::Step("k", {1000}, {128}, {SimBench::T("x"), SimBench::W("next"), SimBench::T("out")})}, true);
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    if (first == 0) first = outcome.cost->time_us;
    EXPECT_EQ(outcome.cost->time_us, first) << workers;
  }
}

TEST(ModelledTime, OfACooperativeGridDoesNotDependOnTheThreads) {
  double first = 0;
  for (const int workers : {1, 2, 3}) {
    SimBench bench("", workers);
    bench.Load(R"(
      #include <cooperative_groups.h>

      __global__ void k(const float* x, float* part, float* y) {
        float s = 0;
        for (int i = threadIdx.x; i < 4096; i += 64) s += x[blockIdx.x % 3 * 4096 + i];
        part[blockIdx.x * 64 + threadIdx.x] = s;
        cooperative_groups::this_grid().sync();
        for (int i = threadIdx.x; i < 4096; i += 64) s += x[blockIdx.x % 3 * 4096 + i];
        for (int i = threadIdx.x; i < 40 * 64; i += 64) s += part[i];
        y[blockIdx.x * 64 + threadIdx.x] = s;
      })",
               {"k"});
    bench.Input("x", std::vector<float>(3 * 4096, 1.0f));
    bench.Output("part", 40 * 64 * 4);
    bench.Output("y", 40 * 64 * 4);
    const LaunchOutcome outcome = bench.RunSteps(
        {SimBench::Step("k", {40}, {64}, {SimBench::T("x"), SimBench::T("part"), SimBench::T("y")}, 0, true)}, true);
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    if (first == 0) first = outcome.cost->time_us;
    EXPECT_EQ(outcome.cost->time_us, first) << workers;
  }
}

TEST(ModelledTime, OfALargeCooperativeLaunchComesFromASample) {
  SimBench bench("", 1);
  bench.Load(R"(
    #include <cooperative_groups.h>
    __global__ void k(const float* x, float* part, float* y, long long n) {
      float s = 0;
      for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) s += x[i];
      part[blockIdx.x * 256 + threadIdx.x] = s;
      cooperative_groups::this_grid().sync();
      const float other = part[(gridDim.x - 1 - blockIdx.x) * 256 + threadIdx.x];
      for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = x[i] + other;
    })",
             {"k"});
  constexpr int64_t kElements = int64_t{1} << 29, kBlocks = 1056;
  bench.NewSampled({{"x", 4 * kElements}, {"y", 4 * kElements}, {"part", kBlocks * 1024}});
  // All of its 1.6 billion accesses would take more than ten seconds.
  const LaunchOutcome outcome = bench.RunSteps(
      {SimBench::Step("k", {kBlocks}, {256}, {SimBench::T("x"), SimBench::T("part"), SimBench::T("y"), SimBench::I(kElements)}, 0, true)}, true, 10);
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  EXPECT_LT(outcome.cost->sampled_block_fraction, 0.5);
  EXPECT_FALSE(outcome.cost->comparable) << "blocks read what others would have written";
  EXPECT_TRUE(outcome.findings.empty());
  const double bytes = 12.0 * kElements, bytes_a_us = 4.8e6;  // an H200's memory
  EXPECT_GT(outcome.cost->time_us, bytes / bytes_a_us);
  EXPECT_LT(outcome.cost->time_us, 2 * bytes / bytes_a_us);
}

// --- the first-level cache ---

// Each thread reads the 64 features of its position twice, four floats a load, as the seed of tasks/rmsnorm does: a
// warp re-reads 32 KiB, a full multiprocessor of 64 warps 2 MiB, for any block size.
TEST(ModelledTime, RowsReReadBeyondTheFirstLevelCacheMissWithEveryBlockSize) {
  SimBench bench;
  bench.Load(R"(
    __global__ void k(const float4* x, float4* y) {
      const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
      float s = 0;
      for (int f = 0; f < 64; ++f) { const float4 v = x[f * 65536ll + p]; s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
      for (int f = 0; f < 64; ++f) { float4 v = x[f * 65536ll + p]; v.x *= s; v.y *= s; v.z *= s; v.w *= s; y[f * 65536ll + p] = v; }
    })",
             {"k"});
  bench.NewSampled({{"x", int64_t{64} << 20}, {"y", int64_t{64} << 20}});
  std::vector<double> times;
  for (const int64_t block : {128, 256, 512, 1024}) {
    const ResolvedStep step = SimBench::Step("k", {65536 / block}, {block}, {SimBench::T("x"), SimBench::T("y")});
    EXPECT_EQ(ProfileFigure(bench, step, "l1_hit_rate"), 0) << block;
    times.push_back(bench.ModelledMicroseconds(step));
    EXPECT_NEAR(times.back(), times.front(), 0.05 * times.front()) << block;
  }
}

// Each block has a row of 8 KiB: all resident blocks' rows fit, so the second pass hits.
TEST(ModelledTime, RowsReReadWithinTheFirstLevelCacheHit) {
  SimBench bench;
  bench.Load(R"(
    __global__ void k(const float4* x, float4* y) {
      const long long row = blockIdx.x * 512ll;
      float s = 0;
      for (int c = threadIdx.x; c < 512; c += blockDim.x) { const float4 v = x[row + c]; s += v.x * v.x + v.w; }
      for (int c = threadIdx.x; c < 512; c += blockDim.x) { float4 v = x[row + c]; v.x *= s; y[row + c] = v; }
    })",
             {"k"});
  bench.NewSampled({{"x", int64_t{64} << 20}, {"y", int64_t{64} << 20}});
  for (const int64_t block : {256, 512}) {
    const ResolvedStep step = SimBench::Step("k", {8192}, {block}, {SimBench::T("x"), SimBench::T("y")});
    EXPECT_EQ(ProfileFigure(bench, step, "l1_hit_rate"), 50) << block;
  }
}

// --- shuffles ---

constexpr char kGathers[] = R"(
  #define LANE (threadIdx.x % 32)
  __global__ void plain(const float* x, const int* index, float* out) {
    const long long v = blockIdx.x * 8ll + threadIdx.x / 32;
    float a = 0;
    for (int j = 0; j < 32; ++j) a += x[(long long)index[v * 32 + j] * 64 + LANE];
    out[v * 64 + LANE] = a;
  }
  __global__ void broadcast(const float* x, const int* index, float* out) {
    const long long v = blockIdx.x * 8ll + threadIdx.x / 32;
    float a = 0;
    const int mine = index[v * 32 + LANE];
    #pragma unroll 8
    for (int j = 0; j < 32; ++j) a += x[(long long)__shfl_sync(0xffffffffu, mine, j) * 64 + LANE];
    out[v * 64 + LANE] = a;
  }
  // The sum of what was loaded decides what is loaded next: every shuffle waits.
  __global__ void chained(const float* x, const int* index, float* out) {
    const long long v = blockIdx.x * 8ll + threadIdx.x / 32;
    int n = index[v * 32 + LANE];
    float a = 0;
    for (int j = 0; j < 32; ++j) {
      a += x[(long long)(__shfl_sync(0xffffffffu, n, j) & 1048575) * 64 + LANE];
      n = n * 5 + (int)(a * 3 + LANE);
    }
    out[v * 64 + LANE] = a;
  })";

TEST(ModelledTime, IndicesBroadcastByShufflesDoNotHoldUpTheRows) {
  SimBench bench;
  bench.Load(kGathers, {"plain", "broadcast", "chained"});
  bench.NewSampled({{"x", int64_t{kRows} * 256}, {"index", int64_t{kOut} * 32 * 4}, {"out", int64_t{kOut} * 256}});
  bench.DrawIndices("index", kRows);
  const double plain = bench.ModelledMicroseconds(GatherStep("plain")),
               broadcast = bench.ModelledMicroseconds(GatherStep("broadcast")),
               chained = bench.ModelledMicroseconds(GatherStep("chained"));
  EXPECT_LE(broadcast, plain);
  EXPECT_GT(chained, 1.5 * broadcast);
  const auto in_flight = [&](const char* kernel) {
    return ProfileFigure(bench, GatherStep(kernel), "load_bytes_in_flight");
  };
  EXPECT_GE(in_flight("broadcast"), 4 * in_flight("chained"));
}

// --- what no hook sees ---

// 1024 operations for each of 2^22 threads: 128 us at 33.45e12 operations a second.
constexpr char kArithmetic[] = R"(
  #include <cuda_fp16.h>
  #define AT ((long long)blockIdx.x * 256 + threadIdx.x)
  __global__ void none(const float* x, float* y) { y[AT] = x[AT]; }
  __global__ void fused(const float* x, float* y) {
    float v = x[AT];
    for (int i = 0; i < 1024; ++i) v = v * 1.0001f + 0.5f;
    y[AT] = v;
  }
  __device__ __noinline__ float Apart(float v) {
    for (int i = 0; i < 1024; ++i) v = v * 1.0001f + 0.5f;
    return v;
  }
  __global__ void apart(const float* x, float* y) { y[AT] = Apart(x[AT]); }
  __global__ void special(const float* x, float* y) {
    float v = x[AT];
    for (int i = 0; i < 256; ++i) v = exp2f(v * 0.5f);
    y[AT] = v;
  }
  __global__ void halves(const float* x, float* y) {
    __half v = __float2half_rn(x[AT]);
    const __half a = __float2half_rn(0.99f), b = __float2half_rn(0.5f);
    for (int i = 0; i < 1024; ++i) v = __hfma(v, a, b);
    y[AT] = __half2float(v);
  }
  template <int kKept>
  __device__ __forceinline__ float Reversed(float v, int n) {
    float kept[kKept];
    for (int i = 0; i < n; ++i) kept[i % kKept] = v + i;
    for (int i = n; i-- > 0;) v += kept[i % kKept];
    return v;
  }
  __global__ void few(const float* x, float* y) { y[AT] = Reversed<64>(x[AT], 512); }
  __global__ void many(const float* x, float* y) { y[AT] = Reversed<1024>(x[AT], 512); }
)";

TEST(ModelledTime, ArithmeticTakesTime) {
  SimBench bench;
  bench.Load(kArithmetic, {"none", "fused", "apart", "special", "halves", "few", "many"});
  bench.NewSampled({{"x", int64_t{1} << 24}, {"y", int64_t{1} << 24}});
  const auto time = [&](const char* kernel) {
    return bench.ModelledMicroseconds(SimBench::Step(kernel, {1 << 14}, {256}, {SimBench::T("x"), SimBench::T("y")}));
  };
  const double none = time("none"), fused = time("fused");
  EXPECT_LT(none, 20);
  EXPECT_GT(fused, 128);
  EXPECT_LT(fused, 160);
  EXPECT_EQ(time("fused"), fused);
  EXPECT_NEAR(time("apart"), fused, 0.02 * fused) << "a function of its own is counted as well";
  EXPECT_GT(time("special"), 1.9 * fused) << "a quarter of the operations, by an eighth of the lanes";
  EXPECT_NEAR(time("halves"), 64, 10) << "two at a time";
  // Each thread makes 512 stores and 512 loads: in registers, or in 2 KiB of local memory that no cache holds.
  EXPECT_GT(time("many"), 10 * time("few"));
}

}  // namespace
}  // namespace hone
