// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests wgmma on the simulated GPU: products by every layout of shared memory that it emulates, beside sums on the
// host, and defects of order, each found at its line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Returns a function `name(d, a, b)` that issues m64nNkK, with descriptors for both factors, or for b alone and four
// registers of a. `more`: what follows the predicate.
std::string Instruction(const std::string& name, int n, const std::string& kind, bool registers,
                        const std::string& more) {
  std::string list, operands;
  for (int i = 0; i < n / 2; ++i) {
    list += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+f\"(d[{}])", i == 0 ? "" : ", ", i);
  }
  const int next = n / 2;
  const std::string a =
      registers ? fmt::format("{{%{}, %{}, %{}, %{}}}", next, next + 1, next + 2, next + 3) : fmt::format("%{}", next);
  const int b = next + (registers ? 4 : 1);
  return fmt::format(
      "__device__ void {}(float* d, {} a, unsigned long long b, int add) {{\n"
      "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, %{}, 0; wgmma.mma_async.sync.aligned.m64n{}{} {{{}}}, {}, %{}, "
      "p, {};}}\"\n"
      "      : {} : {}, \"l\"(b), \"r\"(add));\n}}\n",
      name, registers ? "const unsigned*" : "unsigned long long", b + 1, n, kind, list, a, b, more, operands,
      registers ? "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])" : "\"l\"(a)");
}

constexpr char kCommon[] = R"(
__device__ unsigned At(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ unsigned long long Tile(unsigned start, unsigned leading, unsigned stride, unsigned long long swizzle) {
  return start >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 | static_cast<unsigned long long>(stride >> 4) << 32 | swizzle << 62;
}
__device__ void Results(const float* d, float* y, int n) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < n / 2; ++i) {
    y[(threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8) * n + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
  }
}
// Rows of 128, 64 or 32 bytes, whose chunks of 16 are exchanged by bits of the row.
__device__ void Fill(unsigned char* to, const unsigned char* from, int rows, int width) {
  for (int i = threadIdx.x; i < rows * width; i += blockDim.x) {
    const int r = i / width, c = i % width, line = i / 128;  // a line is 128 bytes of a tile
    const int chunk = c / 16 ^ (width == 128 ? r % 8 : width == 64 ? line % 4 : line % 2);
    to[r * width + chunk * 16 + c % 16] = from[i];
  }
}
__device__ void Ready() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void Wait() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
)";

// Small integers in a format: e4m3, bf16 or f16.
std::vector<uint8_t> Encoded(const std::vector<int>& values, const std::string& format) {
  std::vector<uint8_t> bytes;
  for (const int v : values) {
    const int magnitude = v < 0 ? -v : v;  // 0, 1, 2
    if (format == "e4m3") {
      bytes.push_back(static_cast<uint8_t>((v < 0 ? 0x80 : 0) | (magnitude == 0 ? 0 : magnitude == 1 ? 0x38 : 0x40)));
    } else {
      const int one = format == "bf16" ? 0x3f80 : 0x3c00;
      const int bits = (v < 0 ? 0x8000 : 0) | (magnitude == 0 ? 0 : magnitude == 1 ? one : 0x4000);
      bytes.push_back(static_cast<uint8_t>(bits));
      bytes.push_back(static_cast<uint8_t>(bits >> 8));
    }
  }
  return bytes;
}

std::vector<int> Numbers(int count, int step) {
  std::vector<int> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = i * step % 7 % 5 - 2 + (i % 11 == 0 && i * step % 7 % 5 < 4 ? 1 : 0);
  return values;
}

std::vector<float> Product(const std::vector<int>& a, const std::vector<int>& b, int n, int k, int sign) {
  std::vector<float> y;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += a[static_cast<size_t>(row * k + i)] * b[static_cast<size_t>(column * k + i)];
      y.push_back(static_cast<float>(sign * sum));
    }
  }
  return y;
}

TEST(SimWarpGroup, ProductsOfEveryLayout) {
  const std::string source = std::string(kCommon) +
                             Instruction("Wide", /*n=*/64, "k32.f32.e4m3.e4m3", /*registers=*/false, "1, 1") +
                             Instruction("Half", /*n=*/24, "k16.f32.bf16.bf16", /*registers=*/false, "-1, 1, 0, 0") +
                             Instruction("Narrow", /*n=*/8, "k16.f32.f16.f16", /*registers=*/false, "1, 1, 0, 0") +
                             Instruction("Plain", /*n=*/16, "k16.f32.f16.f16", /*registers=*/true, "-1, -1, 0") + R"(
// The static arrays of these kernels stand before the dynamic memory of the other kernels, more than a block can have.
template <int kNumber>
__global__ void other(float* y) {
  __shared__ float kept[12000];
  for (int i = threadIdx.x; i < 12000; i += blockDim.x) kept[i] = y[i] + kNumber;
  __syncthreads();
  y[threadIdx.x] = kept[11999 - threadIdx.x];
}
extern __shared__ unsigned char raw[];
__device__ unsigned char* Begin() { return raw + ((1024 - At(raw) % 1024) % 1024); }
__global__ void wide(const unsigned char* a, const unsigned char* b, float* y) {
  unsigned char* const tile = Begin();
  Fill(tile, a, 64, 128);
  Fill(tile + 8192, b, 64, 128);
  Ready();
  float d[32];
  for (int s = 0; s < 4; ++s) Wide(d, Tile(At(tile) + s * 32, 16, 1024, 1), Tile(At(tile) + 8192 + s * 32, 16, 1024, 1), s > 0);
  Wait();
  Results(d, y, 64);
}
__global__ void half_wide(const unsigned char* a, const unsigned char* b, float* y) {
  unsigned char* const tile = Begin();
  Fill(tile, a, 64, 64);
  Fill(tile + 4096, b, 24, 64);
  Ready();
  float d[12];
  for (int s = 0; s < 2; ++s) Half(d, Tile(At(tile) + s * 32, 16, 512, 2), Tile(At(tile) + 4096 + s * 32, 16, 512, 2), s > 0);
  Wait();
  Results(d, y, 24);
}
__global__ void narrow(const unsigned char* a, const unsigned char* b, float* y) {
  unsigned char* const tile = Begin();
  Fill(tile, a, 64, 32);
  Fill(tile + 2048, b, 8, 32);
  Ready();
  float d[4];
  Narrow(d, Tile(At(tile), 16, 256, 3), Tile(At(tile) + 2048, 16, 256, 3), 0);
  Wait();
  Results(d, y, 8);
}
// b without a swizzle: 8 rows of 16 bytes stand together, the second half of k 512 bytes on. a comes from registers.
__global__ void plain(const unsigned char* a, const unsigned char* b, float* y) {
  unsigned char* const tile = Begin();
  for (int i = threadIdx.x; i < 16 * 32; i += 128) tile[i % 32 / 16 * 512 + i / 32 / 8 * 128 + i / 32 % 8 * 16 + i % 16] = b[i];
  Ready();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  unsigned of_a[4];
  for (int i = 0; i < 4; ++i) of_a[i] = *reinterpret_cast<const unsigned*>(a + (row + i % 2 * 8) * 32 + i / 2 * 16 + t * 4);
  float d[8] = {100, 100, 100, 100, 100, 100, 100, 100};
  Plain(d, of_a, Tile(At(tile), 512, 128, 0), 1);
  Wait();
  Results(d, y, 16);
})";
  SimBench bench;
  bench.Load(source, {"wide", "half_wide", "narrow", "plain", "other<0>", "other<1>", "other<2>", "other<3>",
                      "other<4>", "other<5>"});
  const auto run = [&](const std::string& kernel, const std::string& format, int n, int k, int sign) {
    const std::vector<int> a = Numbers(64 * k, 3), b = Numbers(n * k, 5);
    bench.Input("a", Encoded(a, format));
    bench.Input("b", Encoded(b, format));
    bench.Output("y", 64 * n * 4);
    const LaunchOutcome outcome =
        bench.Run(kernel, {1}, {128}, {SimBench::T("a"), SimBench::T("b"), SimBench::T("y")}, 17 * 1024);
    EXPECT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    std::vector<float> expected = Product(a, b, n, k, sign);
    if (kernel == "plain") {
      for (float& value : expected) value += 100;
    }
    EXPECT_EQ(bench.Read<float>("y"), expected) << kernel;
  };
  run("wide", "e4m3", 64, 128, 1);
  run("half_wide", "bf16", 24, 32, -1);
  run("narrow", "f16", 8, 16, 1);
  run("plain", "f16", 16, 16, 1);
}

// A kernel of one product m64n8k32, with one defect or none; a and b are bytes of 8-bit floats, 64 and 8 rows of 32.
std::string Small() {
  return std::string(kCommon) + R"(
template <int kDefect>
__global__ void k(const unsigned char* a, const unsigned char* b, float* y) {
  __shared__ __align__(1024) unsigned char tile[64 * 32 + 8 * 32];
  if (kDefect == 2) asm volatile("fence.proxy.async.shared::cta;");
  Fill(tile, a, 64, 32);
  Fill(tile + 2048, b, 8, 32);
  if (kDefect != 1 && kDefect != 2 && kDefect != 8) asm volatile("fence.proxy.async;");
  if (kDefect != 3) __syncthreads();
  if (kDefect == 8) asm volatile("fence.proxy.async;");
  if (kDefect != 4) asm volatile("wgmma.fence.sync.aligned;");
  float d[4];
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 0, 1, 1;"  // HERE
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(Tile(At(tile), 16, 256, 3)), "l"(Tile(At(tile) + (kDefect == 7 ? 1 << 16 : 2048), 16, 256, 3)));
  asm volatile("wgmma.commit_group.sync.aligned;");
  if (kDefect == 6 || kDefect == 9) {
    __syncthreads();
    tile[(threadIdx.x + 32) % 128] = 77;
    if (kDefect == 9) __syncthreads();
  }
  if (kDefect != 5) asm volatile("wgmma.wait_group.sync.aligned 0;");
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = d[i];
})";
}

struct Case {
  int defect;
  const char* kind;
  const char* text;
};

TEST(SimWarpGroup, DefectsAreFoundAtTheirLines) {
  const std::string source = Small();
  const std::string line =
      "candidate.cu:" +
      std::to_string(1 +
                     std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(source.find("// HERE")), '\n'));
  SimBench bench;
  bench.Load(source, {"k<0>", "k<1>", "k<2>", "k<3>", "k<4>", "k<5>", "k<6>", "k<7>", "k<8>", "k<9>"});
  const std::vector<int> a = Numbers(64 * 32, 3), b = Numbers(8 * 32, 5);
  bench.Input("a", Encoded(a, "e4m3"));
  bench.Input("b", Encoded(b, "e4m3"));
  const auto run = [&](int defect, int threads) {
    bench.Output("y", 512 * 4);
    return bench.Run(fmt::format("k<{}>", defect), {1}, {threads},
                     {SimBench::T("a"), SimBench::T("b"), SimBench::T("y")});
  };
  for (const int clean : {0, 8}) {  // the reader's own fence after the barrier serves too
    const LaunchOutcome outcome = run(clean, 128);
    EXPECT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  }
  for (const Case& c :
       {Case{1, "shared_race", "no fence.proxy.async between"}, Case{2, "shared_race", "no fence.proxy.async between"},
        Case{3, "shared_race", "no barrier between"}, Case{4, "warp_group", "no wgmma.fence before"},
        Case{5, "warp_group", "without wgmma.wait_group"}, Case{6, "shared_race", "no barrier between"},
        Case{9, "shared_race", "is written before wgmma.wait_group"},
        Case{7, "out_of_bounds", "reads a 16-byte value"}}) {
    const LaunchOutcome outcome = run(c.defect, 128);
    const bool has_finding = std::any_of(outcome.findings.begin(), outcome.findings.end(), [&](const Finding& f) {
      return f.kind == c.kind && f.location == line && f.message.find(c.text) != std::string::npos;
    });
    EXPECT_TRUE(has_finding) << "defect " << c.defect << ": " << outcome.detail
                             << "; findings: " << outcome.findings.size()
                             << (outcome.findings.empty()
                                     ? ""
                                     : " " + outcome.findings[0].message + " at " + outcome.findings[0].location);
  }
  const LaunchOutcome outcome = run(0, 64);
  EXPECT_EQ(outcome.status, LaunchStatus::kCrashed);
  EXPECT_THAT(outcome.detail, HasSubstr("whole warp groups, 128 threads, and the block has 64"));
}

// 256 + 2^-5 has 13 bits after the leading one, 256 + 2^-6 one more.
TEST(SimWarpGroup, SumsOfEightBitFloatsKeepThirteenBits) {
  for (const auto& [code, expected] : {std::pair<uint8_t, float>{0x10, 256.03125f}, {0x08, 256.0f}}) {
    SimBench bench;
    bench.Load(Small(), {"k<0>", "k<1>", "k<2>", "k<3>", "k<4>", "k<5>", "k<6>", "k<7>", "k<8>", "k<9>"});
    std::vector<uint8_t> a(64 * 32), b(8 * 32);
    a[0] = 0x78;
    a[7] = code;
    b[0] = b[7] = 0x38;
    bench.Input("a", a);
    bench.Input("b", b);
    bench.Output("y", 512 * 4);
    const LaunchOutcome outcome = bench.Run("k<0>", {1}, {128}, {SimBench::T("a"), SimBench::T("b"), SimBench::T("y")});
    EXPECT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    EXPECT_EQ(bench.Read<float>("y")[0], expected);
  }
}

TEST(SimWarpGroup, WhatIsNotEmulatedIsUnsupported) {
  const auto compile = [](const std::string& instruction) {
    return SimBench::Compile(
        "__global__ void k(float* y) {\n  float d[4];\n  asm volatile(\"" + instruction +
            "\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(0ull));\n  y[0] = d[0];\n}",
        {"k"});
  };
  CompiledModule module = compile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %4, 1, 1, 1;");
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_THAT(module.digest,
              HasSubstr("line 3: inline PTX 'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8' is not emulated"));
  module = compile("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %4, 1, 1, 1;");
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_THAT(module.digest, HasSubstr("needs 8 registers of results"));
}

}  // namespace
}  // namespace hone
