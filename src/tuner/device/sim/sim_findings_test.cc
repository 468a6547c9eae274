// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests planted defects, each found at its line, and clean kernels of the same shapes without findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Returns "candidate.cu:N" for the line of `source` with the comment `mark`.
std::string PlaceOfMark(const std::string& source, const std::string& mark = "// HERE") {
  const size_t at = source.find(mark);
  HONE_CHECK(at != std::string::npos, "the source has no line marked " + mark);
  return "candidate.cu:" + std::to_string(1 + std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

std::vector<float> TestValues(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>((i * 37) % 101) * 0.125f - 6.0f;
  return values;
}

// Launches on float tensors x (input, n) and y (output, n); kernel k(x, y, n).
LaunchOutcome RunSource(const std::string& source, int64_t grid, int64_t block, int n, int64_t shared = 0,
                  std::vector<float>* result = nullptr) {
  SimBench bench;
  bench.Load(source, {"k"});
  bench.Input("x", TestValues(static_cast<size_t>(n)));
  bench.Output("y", n * 4);
  LaunchOutcome outcome = bench.Run("k", {grid}, {block}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(n)}, shared);
  if (result != nullptr) *result = bench.Read<float>("y");
  return outcome;
}

testing::AssertionResult Finds(const LaunchOutcome& outcome, LaunchStatus status, const std::string& kind,
                               const std::string& location) {
  if (outcome.status != status) {
    return testing::AssertionFailure() << "status " << static_cast<int>(outcome.status) << ": " << outcome.detail;
  }
  std::string findings_text;
  for (const Finding& f : outcome.findings) {
    if (f.kind == kind && f.location == location) return testing::AssertionSuccess();
    findings_text += f.kind + " at " + f.location + ": " + f.message + "\n";
  }
  return testing::AssertionFailure() << "no " << kind << " at " << location << ", but:\n" << findings_text;
}

testing::AssertionResult EndsCleanly(const LaunchOutcome& outcome) {
  if (outcome.status == LaunchStatus::kOk) return testing::AssertionSuccess();
  return testing::AssertionFailure() << outcome.detail;
}

// --- defects ---

TEST(SimFindings, WriteOutOfBounds) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float v = x[i < n ? i : 0];
      y[i] = v;  // HERE
    })";
  const LaunchOutcome outcome = RunSource(source, 4, 64, 200);
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
  EXPECT_THAT(outcome.detail, HasSubstr("0 bytes past the end of 'y' (800 bytes)"));
  EXPECT_THAT(outcome.detail, HasSubstr("block (3, 0, 0) thread (8, 0, 0)"));
}

TEST(SimFindings, ReadOutOfBounds) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float right = x[i + 1];  // HERE
      y[i] = right;
    })";
  EXPECT_TRUE(Finds(RunSource(source, 2, 32, 64), LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
}

TEST(SimFindings, NullPointer) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      float* p = n > 1000000 ? y : nullptr;
      p[threadIdx.x] = x[0];  // HERE
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 32, 64);
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
  EXPECT_THAT(outcome.detail, HasSubstr("null pointer"));
}

TEST(SimFindings, SharedOutOfBounds) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      extern __shared__ float s[];
      s[threadIdx.x] = x[threadIdx.x];  // HERE
      __syncthreads();
      y[threadIdx.x] = s[threadIdx.x];
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 64, 64, 32 * 4);
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
  EXPECT_THAT(outcome.detail, HasSubstr("shared memory"));
  EXPECT_TRUE(EndsCleanly(RunSource(source, 1, 64, 64, 64 * 4)));
}

TEST(SimFindings, StaticSharedOutOfBounds) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[32];
      s[threadIdx.x] = x[threadIdx.x];  // HERE
      __syncthreads();
      y[threadIdx.x] = s[threadIdx.x];
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 64, 64), LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
}

TEST(SimFindings, MisalignedVectorLoad) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      float4 v = *reinterpret_cast<const float4*>(x + 1 + 4 * threadIdx.x);  // HERE
      v.x += 1;
      y[threadIdx.x] = v.x + v.y + v.z + v.w;
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 8, 64), LaunchStatus::kCrashed, "misaligned", PlaceOfMark(source)));
}

TEST(SimFindings, MisalignedVectorStore) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
      *reinterpret_cast<float4*>(y + 2) = v;  // HERE
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 1, 64), LaunchStatus::kCrashed, "misaligned", PlaceOfMark(source)));
}

TEST(SimFindings, MissingBarrierBetweenWriteAndRead) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      s[t] = x[t];
      y[t] = s[63 - t];  // HERE
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 64, 64);
  // The first thread reads unwritten memory; later ones race with the writers.
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kRuleViolation, "shared_race", PlaceOfMark(source)));
}

TEST(SimFindings, MissingBarrierAtTheLoopsEnd) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      float sum = 0;
      for (int i = 0; i < n / 64; ++i) {
        s[t] = x[i * 64 + t];  // HERE
        __syncthreads();
        sum += s[63 - t];
      }
      y[t] = sum;
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 64, 256), LaunchStatus::kRuleViolation, "shared_race", PlaceOfMark(source)));
}

TEST(SimFindings, MissingSyncwarp) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[32];
      int t = threadIdx.x;
      s[t] = x[t];
      float v = __shfl_xor_sync(0xffffffffu, s[t], 1);
      y[t] = s[(t + 1) & 31] + v;  // HERE
    })";
  // A shuffle synchronizes the lanes but does not order memory.
  EXPECT_TRUE(Finds(RunSource(source, 1, 32, 32), LaunchStatus::kRuleViolation, "shared_race", PlaceOfMark(source)));
}

TEST(SimFindings, SyncwarpIsNotEnoughAcrossWarps) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      s[t] = x[t];
      __syncwarp();
      y[t] = s[(t + 32) & 63];  // HERE
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 64, 64), LaunchStatus::kRuleViolation, "shared_race", PlaceOfMark(source)));
}

TEST(SimFindings, AtomicAgainstPlainWrite) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ int count;
      if (threadIdx.x == 0) count = 0;
      atomicAdd(&count, 1);  // HERE
      __syncthreads();
      y[threadIdx.x] = count;
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 64, 64), LaunchStatus::kRuleViolation, "shared_race", PlaceOfMark(source)));
}

TEST(SimFindings, UninitialisedShared) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      if (t < 63) s[t] = x[t];
      __syncthreads();
      y[t] = s[t];  // HERE
    })";
  EXPECT_TRUE(
      Finds(RunSource(source, 1, 64, 64), LaunchStatus::kRuleViolation, "uninitialised_read", PlaceOfMark(source)));
}

TEST(SimFindings, SharedDoesNotSurviveTheBlock) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[32];
      int t = threadIdx.x;
      if (blockIdx.x == 0) s[t] = x[t];
      __syncthreads();
      y[blockIdx.x * 32 + t] = s[t];  // HERE
    })";
  EXPECT_TRUE(
      Finds(RunSource(source, 2, 32, 64), LaunchStatus::kRuleViolation, "uninitialised_read", PlaceOfMark(source)));
}

TEST(SimFindings, UninitialisedOutput) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int t = threadIdx.x;
      y[t] += x[t];  // HERE
    })";
  EXPECT_TRUE(
      Finds(RunSource(source, 1, 32, 32), LaunchStatus::kRuleViolation, "uninitialised_read", PlaceOfMark(source)));
}

TEST(SimFindings, InputWritten) {
  const std::string source = R"(
    __global__ void k(float* x, float* y, int n) {
      int t = threadIdx.x;
      y[t] = x[t];
      x[t] = 0;  // HERE
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 32, 32), LaunchStatus::kRuleViolation, "input_written", PlaceOfMark(source)));
}

TEST(SimFindings, BarrierInADivergentBranch) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int t = threadIdx.x;
      if (t < 16) __syncthreads();  // HERE
      y[t] = x[t];
    })";
  EXPECT_TRUE(
      Finds(RunSource(source, 1, 64, 64), LaunchStatus::kRuleViolation, "divergent_barrier", PlaceOfMark(source)));
}

TEST(SimFindings, TwoBranchesWithABarrierEach) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int t = threadIdx.x;
      if (t < 32) {
        y[t] = 1;
        __syncthreads();  // HERE
      } else {
        y[t] = x[t];
        __syncthreads();
      }
    })";
  EXPECT_TRUE(
      Finds(RunSource(source, 1, 64, 64), LaunchStatus::kRuleViolation, "divergent_barrier", PlaceOfMark(source)));
}

TEST(SimFindings, ShuffleThatSomeLanesSkip) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      float v = x[t];
      if (t & 1) {
        v += __shfl_xor_sync(0xffffffffu, v, 2);  // HERE
      }
      s[t] = v;
      __syncthreads();
      y[t] = s[t ^ 1];
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 32, 64);
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kRuleViolation, "divergent_barrier", PlaceOfMark(source)) ||
              outcome.detail.find(PlaceOfMark(source)) != std::string::npos)
      << outcome.detail;
  EXPECT_EQ(outcome.status, LaunchStatus::kRuleViolation);
}

TEST(SimFindings, Trap) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      if (threadIdx.x == 5) __trap();  // HERE
      y[threadIdx.x] = x[threadIdx.x];
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 32, 32), LaunchStatus::kCrashed, "trap", PlaceOfMark(source)));
}

TEST(SimFindings, Assert) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      assert(x[threadIdx.x] > 1e9f);  // HERE
      y[threadIdx.x] = 0;
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 32, 32);
  EXPECT_TRUE(Finds(outcome, LaunchStatus::kCrashed, "assert", PlaceOfMark(source)));
  EXPECT_THAT(outcome.detail, HasSubstr("x[threadIdx.x] > 1e9f"));
}

TEST(SimFindings, IntegerDivisionByZero) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      y[threadIdx.x] = n / (n - 32 - (int)threadIdx.x);  // HERE
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 8, 32), LaunchStatus::kCrashed, "crash", PlaceOfMark(source)));
}

TEST(SimFindings, IntrinsicsNameTheCandidatesLine) {
  const std::string source = R"(
    __device__ float fetch(const float* p) {
      return __ldg(p);  // HERE
    }
    __global__ void k(const float* x, float* y, int n) {
      y[threadIdx.x] = fetch(x + threadIdx.x + n);
    })";
  EXPECT_TRUE(Finds(RunSource(source, 1, 32, 32), LaunchStatus::kCrashed, "out_of_bounds", PlaceOfMark(source)));
}

// --- clean kernels ---

TEST(SimClean, VectorisedSilu) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i * 4 >= n) return;
      float4 v = reinterpret_cast<const float4*>(x)[i];
      v.x = v.x / (1.0f + __expf(-v.x));
      v.y = v.y / (1.0f + __expf(-v.y));
      v.z = v.z / (1.0f + __expf(-v.z));
      v.w = v.w / (1.0f + __expf(-v.w));
      reinterpret_cast<float4*>(y)[i] = v;
    })";
  const int n = 4096;
  std::vector<float> y;
  const LaunchOutcome outcome = RunSource(source, n / 4 / 128, 128, n, 0, &y);
  ASSERT_TRUE(EndsCleanly(outcome));
  const std::vector<float> x = TestValues(n);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i] / (1 + std::exp(-x[i])), 1e-4) << i;
  // Each thread makes a load and a store of 16 bytes: 16 sectors per warp.
  EXPECT_EQ(outcome.cost->accesses, n / 4 * 2);
  EXPECT_EQ(outcome.cost->requests, n / 4 / 32 * 2);
  EXPECT_EQ(outcome.cost->sectors, n / 4 / 32 * 2 * 16);
}

TEST(SimClean, SoftmaxWithShuffles) {
  const std::string source = R"(
    __device__ float reduce_max(float v) {
      for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
      return v;
    }
    __device__ float reduce_sum(float v) {
      for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
      return v;
    }
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float part[32];
      const float* row = x + blockIdx.x * n;
      float m = -1e30f;
      for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
      m = reduce_max(m);
      int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
      if (lane == 0) part[warp] = m;
      __syncthreads();
      m = reduce_max(lane < blockDim.x / 32 ? part[lane] : -1e30f);
      float sum = 0;
      for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - m);
      sum = reduce_sum(sum);
      __syncthreads();
      if (lane == 0) part[warp] = sum;
      __syncthreads();
      sum = reduce_sum(lane < blockDim.x / 32 ? part[lane] : 0.0f);
      for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i] - m) / sum;
    })";
  SimBench bench;
  bench.Load(source, {"k"});
  const std::vector<float> x = TestValues(8 * 300);
  bench.Input("x", x);
  bench.Output("y", 8 * 300 * 4);
  ASSERT_TRUE(EndsCleanly(bench.Run("k", {8}, {128}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(300)})));
  const std::vector<float> y = bench.Read<float>("y");
  for (size_t r = 0; r < 8; ++r) {
    double sum = 0, m = -1e30;
    for (size_t i = 0; i < 300; ++i) m = std::max<double>(m, x[r * 300 + i]);
    for (size_t i = 0; i < 300; ++i) sum += std::exp(x[r * 300 + i] - m);
    for (size_t i = 0; i < 300; ++i) EXPECT_NEAR(y[r * 300 + i], std::exp(x[r * 300 + i] - m) / sum, 1e-6);
  }
}

TEST(SimClean, TiledMatmulWithExternShared) {
  const std::string source = R"(
    __global__ void k(const float* a, const float* b, float* c, int n) {
      extern __shared__ float s[];
      float* sa = s;
      float* sb = s + 16 * 16;
      int tx = threadIdx.x, ty = threadIdx.y;
      int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
      float sum = 0;
      for (int k0 = 0; k0 < n; k0 += 16) {
        sa[ty * 16 + tx] = a[row * n + k0 + tx];
        sb[ty * 16 + tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += sa[ty * 16 + k] * sb[k * 16 + tx];
        __syncthreads();
      }
      c[row * n + col] = sum;
    })";
  SimBench bench;
  bench.Load(source, {"k"});
  const size_t n = 64;
  const std::vector<float> a = TestValues(n * n);
  std::vector<float> b = TestValues(n * n);
  std::reverse(b.begin(), b.end());
  bench.Input("a", a);
  bench.Input("b", b);
  bench.Output("c", static_cast<int64_t>(n * n * 4));
  ASSERT_TRUE(EndsCleanly(bench.Run(
      "k", {4, 4}, {16, 16}, {SimBench::T("a"), SimBench::T("b"), SimBench::T("c"), SimBench::I(static_cast<int>(n))},
      2 * 16 * 16 * 4)));
  const std::vector<float> c = bench.Read<float>("c");
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t l = 0; l < n; ++l) sum += double{a[i * n + l]} * b[l * n + j];
      ASSERT_NEAR(c[i * n + j], sum, 1e-2) << i << " " << j;
    }
  }
}

TEST(SimClean, HistogramWithAtomics) {
  const std::string source = R"(
    __global__ void k(const int* x, int* bins, int n) {
      __shared__ int local[16];
      if (threadIdx.x < 16) local[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i] & 15], 1);
      __syncthreads();
      if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    })";
  SimBench bench;
  bench.Load(source, {"k"});
  std::vector<int> x(5000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 23);
  bench.Input("x", x);
  bench.Input("bins", std::vector<int>(16), false);
  ASSERT_TRUE(EndsCleanly(bench.Run("k", {8}, {128}, {SimBench::T("x"), SimBench::T("bins"), SimBench::I(5000)})));
  std::vector<int> expected(16);
  for (const int v : x) ++expected[static_cast<size_t>(v & 15)];
  EXPECT_EQ(bench.Read<int>("bins"), expected);
}

TEST(SimClean, WarpSynchronousReduction) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int t = threadIdx.x;
      s[t] = x[t];
      __syncthreads();
      if (t < 32) {
        s[t] += s[t + 32];
        __syncwarp();
        for (int d = 16; d > 0; d /= 2) {
          float v = t < d ? s[t + d] : 0.0f;
          __syncwarp();
          if (t < d) s[t] += v;
          __syncwarp();
        }
        if (t == 0) y[0] = s[0];
      }
      if (t < n && t > 0) y[t] = 0;
    })";
  std::vector<float> y;
  ASSERT_TRUE(EndsCleanly(RunSource(source, 1, 64, 64, 0, &y)));
  const std::vector<float> x = TestValues(64);
  EXPECT_FLOAT_EQ(y[0], std::accumulate(x.begin(), x.end(), 0.0f));
}

TEST(SimClean, AllLanesWriteTheSameValue) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[2];
      float v = x[0];
      s[threadIdx.x / 32] = v;
      __syncthreads();
      y[threadIdx.x] = s[1 - threadIdx.x / 32];
    })";
  EXPECT_TRUE(EndsCleanly(RunSource(source, 1, 64, 64)));
}

TEST(SimClean, NeighboursInOneWord) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ __half h[64];
      __shared__ unsigned char b[64];
      int t = threadIdx.x;
      h[t] = __float2half(x[t]);
      b[t] = t;
      __syncthreads();
      __half2 pair = reinterpret_cast<__half2*>(h)[t / 2];
      y[t] = __low2float(pair) + __high2float(pair) + b[63 - t];
    })";
  EXPECT_TRUE(EndsCleanly(RunSource(source, 1, 64, 64)));
}

TEST(SimClean, EarlyExitBeforeBarriers) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[64];
      int i = blockIdx.x * 64 + threadIdx.x;
      if (i >= n) return;
      s[threadIdx.x] = x[i];
      __syncthreads();
      y[i] = s[threadIdx.x];
    })";
  EXPECT_TRUE(EndsCleanly(RunSource(source, 2, 64, 100)));
}

TEST(SimClean, LastBlockFinishesWithAFence) {
  const std::string source = R"(
    __device__ unsigned done = 0;
    __global__ void k(const float* x, float* y, float* parts, int n) {
      __shared__ bool last;
      __shared__ float s[32];
      float v = x[blockIdx.x * 32 + threadIdx.x];
      for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
      if (threadIdx.x == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
      }
      __syncthreads();
      if (last) {
        __threadfence();
        s[threadIdx.x] = threadIdx.x < gridDim.x ? ((volatile float*)parts)[threadIdx.x] : 0;
        __syncthreads();
        if (threadIdx.x == 0) {
          float sum = 0;
          for (int i = 0; i < gridDim.x; ++i) sum += s[i];
          y[0] = sum;
        }
      }
    })";
  SimBench bench;
  bench.Load(source, {"k"});
  const std::vector<float> x = TestValues(8 * 32);
  bench.Input("x", x);
  bench.Output("y", 4);
  bench.Workspace("parts", 8 * 4, 0xa5);
  for (int again = 0; again < 2; ++again) {  // the counter is back at its initial value at the second launch
    ASSERT_TRUE(EndsCleanly(
        bench.Run("k", {8}, {32}, {SimBench::T("x"), SimBench::T("y"), SimBench::W("parts"), SimBench::I(256)})));
    EXPECT_NEAR(bench.Read<float>("y")[0], std::accumulate(x.begin(), x.end(), 0.0f), 1e-3);
    EXPECT_TRUE(*bench.session().GlobalsChanged(bench.program()));
  }
}

TEST(SimClean, FlagBetweenWarpsWithFences) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[32];
      __shared__ volatile int flag;
      int t = threadIdx.x;
      if (t == 0) flag = 0;
      __syncthreads();
      if (t < 32) {
        while (flag == 0) {}
        __threadfence_block();
        y[t] = s[t];
      } else {
        s[t - 32] = x[t];
        __syncwarp();
        __threadfence_block();
        if (t == 32) flag = 1;
      }
    })";
  std::vector<float> y;
  ASSERT_TRUE(EndsCleanly(RunSource(source, 1, 64, 64, 0, &y)));
  EXPECT_EQ(y[3], TestValues(64)[35]);
}

TEST(SimClean, LargeLocalArraysStayPrivate) {
  const std::string source = R"(
    __global__ void k(const float* x, float* y, int n) {
      float local[256];
      for (int i = 0; i < 256; ++i) local[i] = x[(threadIdx.x + i) % n];
      float sum = 0;
      for (int i = 0; i < 256; ++i) sum += local[(i * 7 + n) & 255];
      y[threadIdx.x] = sum;
    })";
  const LaunchOutcome outcome = RunSource(source, 1, 64, 64);
  ASSERT_TRUE(EndsCleanly(outcome));
  EXPECT_EQ(outcome.cost->accesses, 64 * 257);  // the array's own accesses are not counted
}

}  // namespace
}  // namespace hone
