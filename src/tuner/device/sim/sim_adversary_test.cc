// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests device code that tries to evade the simulator: what it finds in memory, what it may write, what counts. Whole
// candidates with their verdicts are in tests/cheats and tests/honest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "tuner/device/sim/image/source_guard.h"
#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using testing::HasSubstr;

// --- contents of unwritten memory ---

TEST(SimAdversary, LocalMemoryDoesNotSurviveFromBlockToBlock) {
  SimBench bench("", 1);  // one OS thread: every block runs on the stacks of the block before it
  bench.Load(R"(
    __global__ void k(int* y) {
      volatile int place[16];
      const bool left = place[5] == 0x1234567;
      for (int j = 0; j < 16; ++j) place[j] = 0x1234567;
      y[blockIdx.x * blockDim.x + threadIdx.x] = left ? 1 : place[5] - 0x1234567;
    })",
             {"k"});
  bench.Output("y", 64 * 32 * 4);
  ASSERT_EQ(bench.Run("k", {64}, {32}, {SimBench::T("y")}).status, LaunchStatus::kOk);
  const std::vector<int> values_seen = bench.Read<int>("y");
  EXPECT_EQ(std::accumulate(values_seen.begin(), values_seen.end(), 0), 0)
      << "threads that found what an earlier block had left";
}

TEST(SimAdversary, AWorkspaceIsFilledWithSomethingElseEachTime) {
  SimBench bench;
  bench.Workspace("w", 4096, 0xa5);
  const uint64_t address = bench.bindings().workspaces.at("w");
  std::set<std::vector<uint8_t>> fills;
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(bench.session().Fill(address, 4096, 0xa5).ok());
    std::vector<uint8_t> bytes(4096);
    ASSERT_TRUE(bench.session().CopyToHost(bytes.data(), address, 4096).ok());
    EXPECT_LT(std::count(bytes.begin(), bytes.end(), bytes[0]), 4096) << "one constant";
    fills.insert(bytes);
  }
  EXPECT_EQ(fills.size(), 12u);
}

TEST(SimAdversary, AWorkspaceEndsWhereThePlanSaysThoughAnotherPlanHasMore) {
  SimBench bench;
  bench.Load("__global__ void k(int* w, int at) { w[at] = 1; }", {"k"});
  bench.Workspace("w", 4096, 0);
  ResolvedPlan plan;
  plan.steps = {SimBench::Step("k", {1}, {1}, {SimBench::W("w"), SimBench::I(256)})};
  ResolvedWorkspace mine;
  mine.name = "w";
  mine.bytes = 1024;
  plan.workspaces = {mine};
  const LaunchRequest request{.plan = &plan, .bindings = &bench.bindings(), .limit_seconds = 60};
  const LaunchOutcome past = bench.session().Launch(bench.program(), request).value();
  EXPECT_EQ(past.status, LaunchStatus::kCrashed) << past.detail;
  plan.steps = {SimBench::Step("k", {1}, {1}, {SimBench::W("w"), SimBench::I(255)})};
  EXPECT_EQ(bench.session().Launch(bench.program(), request)->status, LaunchStatus::kOk);
}

// --- what may be written ---

TEST(SimAdversary, AnInputMayNotBeWrittenByAnyMeans) {
  constexpr char kHead[] = "struct Five { float v[5]; };\n__global__ void k(const float* x, float* y) { float* w = const_cast<float*>(x); y[0] = x[0];\n";
  for (const char* write : {"w[0] = x[1];", "*(volatile float*)w = x[0];", "atomicAdd(w, 0.0f);", "atomicCAS((int*)w, 1, 1);",
                            "__atomic_store_n((int*)w, 3, __ATOMIC_RELAXED);", "*(float4*)w = *(const float4*)(x + 4);",
                            "*(Five*)w = *(const Five*)(x + 8);", "memcpy(w, x + 8, 12);", "memset(w, 0, 20);", "modff(y[0], w + 3);",
                            "asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"(w), \"f\"(y[0]));",
                            "asm volatile(\"red.global.add.u32 [%0], 0;\" :: \"l\"(w));"}) {
    SimBench bench;
    bench.Load(std::string(kHead) + write + "}", {"k"});
    bench.Input("x", std::vector<float>(64, 1.0f));
    bench.Output("y", 4);
    const LaunchOutcome outcome = bench.Run("k", {1}, {1}, {SimBench::T("x"), SimBench::T("y")});
    EXPECT_EQ(outcome.status, LaunchStatus::kRuleViolation) << write << "\n" << outcome.detail;
    EXPECT_THAT(outcome.detail, HasSubstr("input_written")) << write;
    EXPECT_EQ(bench.Read<float>("x"), std::vector<float>(64, 1.0f)) << write;
  }
}

TEST(SimAdversary, ConstantMemoryIsReadAndNotWritten) {
  SimBench bench;
  bench.Load(R"(
    __constant__ float table[3] = {1, 2, 3};
    static __constant__ int count = 7;
    __constant__ const float fixed[2] = {4, 5};
    __device__ int global = 1;
    __global__ void reads(float* y, int i) { y[0] = table[i] + count + fixed[i] + global; }
    __global__ void writes(float* y, int i) { const_cast<float*>(table)[i] = 9; y[0] = table[i]; }
    __global__ void counts(float* y, int i) { atomicAdd(&count, i); y[0] = count; })",
             {"reads", "writes", "counts"});
  bench.Output("y", 4);
  EXPECT_EQ(bench.Run("reads", {1}, {1}, {SimBench::T("y"), SimBench::I(1)}).status, LaunchStatus::kOk);
  EXPECT_EQ(bench.Read<float>("y")[0], 2 + 7 + 5 + 1);
  for (const char* kernel : {"writes", "counts"}) {
    const LaunchOutcome outcome = bench.Run(kernel, {1}, {1}, {SimBench::T("y"), SimBench::I(1)});
    EXPECT_EQ(outcome.status, LaunchStatus::kRuleViolation) << outcome.detail;
    EXPECT_THAT(outcome.detail, HasSubstr("__constant__")) << kernel;
  }
}

// --- what counts ---

TEST(SimAdversary, DeviceGlobalsAreMemoryAndCost) {
  SimBench bench;
  bench.Load(R"(
    __device__ float kept[1 << 20];
    __global__ void plain(const float* x, float* y) {
      const int i = blockIdx.x * 256 + threadIdx.x;
      y[i] = x[i];
    }
    __global__ void through(const float* x, float* y) {
      const int i = blockIdx.x * 256 + threadIdx.x;
      float v = x[i];
      for (int j = 0; j < 64; ++j) {
        volatile float* place = kept + (i * 33 + j * 4099) % (1 << 20);
        v += *place;
      }
      y[i] = v;
    })",
             {"plain", "through"});
  bench.NewSampled({{"x", int64_t{64} << 20}, {"y", int64_t{64} << 20}});
  const auto time = [&](const char* kernel) {
    return bench.ModelledMicroseconds(SimBench::Step(kernel, {65536}, {256}, {SimBench::T("x"), SimBench::T("y")}));
  };
  EXPECT_GT(time("through"), 3 * time("plain"));
}

TEST(SimAdversary, CopiesOfEverySizeAreSeen) {
  for (const int bytes : {3, 8, 12, 20, 48, 64, 200}) {
    SimBench bench;
    bench.Load("__global__ void k(const char* x, char* y, int i) { char own[" + std::to_string(bytes) + "]; memcpy(own, x + i, " +
                   std::to_string(bytes) + "); memcpy(y, own, " + std::to_string(bytes) + "); }",
               {"k"});
    bench.Input("x", std::vector<char>(256, 1));
    bench.Output("y", bytes);
    const LaunchOutcome whole = bench.Run("k", {1}, {1}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(256 - bytes)});
    ASSERT_EQ(whole.status, LaunchStatus::kOk) << whole.detail;
    EXPECT_GE(whole.cost->accesses, 2 * (bytes / 16)) << bytes;
    EXPECT_EQ(bench.Read<char>("y"), std::vector<char>(static_cast<size_t>(bytes), 1));
    EXPECT_EQ(bench.Run("k", {1}, {1}, {SimBench::T("x"), SimBench::T("y"), SimBench::I(257 - bytes)}).status, LaunchStatus::kCrashed)
        << bytes;
  }
}

// --- waiting ---

TEST(SimAdversary, WaitingForEverIsCountedInRoundsNotInSeconds) {
  SimBench bench;
  bench.Load(R"(
    __global__ void waits(unsigned* w) { if (threadIdx.x == 0) while (atomicAdd(w + 1, 0u) == 0u) {} __syncthreads(); w[2] = 1; }
    __global__ void crossed(unsigned* w) {
      if (threadIdx.x == 0) { while (((volatile unsigned*)w)[(blockIdx.x + 1) % gridDim.x] == 0u) {} }
      __syncthreads();
      if (threadIdx.x == 0) w[blockIdx.x] = 1;
    })",
             {"waits", "crossed"});
  bench.Workspace("w", 64, 0);
  for (const auto& [kernel, blocks] : {std::pair{"waits", 1}, {"waits", 6}, {"crossed", 6}}) {
    const LaunchOutcome outcome = bench.RunSteps({SimBench::Step(kernel, {blocks}, {64}, {SimBench::W("w")})}, false, 3000);
    EXPECT_EQ(outcome.status, LaunchStatus::kTimedOut) << outcome.detail;
    EXPECT_THAT(outcome.detail, HasSubstr("rounds"));
  }
}

TEST(SimAdversary, ALimitIsOfProcessorTimeNotOfTheClockOnTheWall) {
  SimBench bench("", 1);
  bench.Load(R"(
    __global__ void k(float* y) {
      float v = threadIdx.x;
      for (int j = 0; j < 60000; ++j) y[threadIdx.x] = v = v * 0.5f + 1;
    })",
             {"k"});
  bench.Output("y", 32 * 4);
  const auto run = [&](double limit) {
    return bench.RunSteps({SimBench::Step("k", {4}, {32}, {SimBench::T("y")})}, false, limit);
  };
  const LaunchOutcome alone = run(60);
  ASSERT_EQ(alone.status, LaunchStatus::kOk) << alone.detail;
  // The host is so busy that the launch takes longer than the limit in wall time.
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 6 * std::max(1u, std::thread::hardware_concurrency()); ++i) {
    others.emplace_back([&] { while (!stop) {} });
  }
  const LaunchOutcome crowded = run(2.5 * alone.cost->host_seconds);
  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(crowded.status, LaunchStatus::kOk) << crowded.detail;
}

// --- words that would switch the hooks off ---

std::optional<Verdict> Guarded(const std::string& text) {
  if (const auto refusal = sim::GuardRawSource(text, "candidate.cu")) return refusal->verdict;
  if (const auto refusal = sim::GuardPreprocessed("# 1 \"candidate.cu\"\n" + text, "candidate.cu")) return refusal->verdict;
  if (const auto refusal = sim::GuardTranslated("# 1 \"candidate.cu\"\n" + text, "candidate.cu")) return refusal->verdict;
  return std::nullopt;
}

TEST(SourceGuard, RefusesWhatChangesHowACandidateIsCompiled) {
  for (const char* text : {
           "__attribute__((no_sanitize_thread)) int f();", "__attribute__ (( aligned(8) , __no_sanitize__(\"thread\") )) int f();",
           "__attribute__((section(\"hone_managed\"))) int kept;",
           "__attribute__((noinline)) __attribute__((optimize(\"O0\"))) int f();", "int v __attribute__((section(\".text\")));",
           "[[gnu::no_sanitize(\"thread\")]] int f();", "[ [ gnu :: target(\"avx\") ] ] int f();",
           "[[nodiscard, gnu::optimize(0)]] int f();", "<:<:gnu::no_sanitize(\"thread\"):>:> int f();", "[<: gnu::noinline, gnu::target(\"avx\") :>] int f();",
           "<:[gnu::noinline:>] int a; <:<: gnu::optimize(0) :> :> int f();", "#pragma GCC optimize(\"O0\")\nint f();", "#  pragma GCC push_options\n",
           "#pragma redefine_extname f g\n", "#pragma weak f\n",
           "int x = __sync_fetch_and_add(p, 1);", "auto v = __builtin_ia32_loadups(p);", "extern \"C\" void __tsan_read4(void*);",
           "void* __wrap_memcpy(void*, const void*, unsigned long);", "int v = hone_sim::LoadRelaxed(p);",
           "using namespace hone_sim;", "namespace quiet = hone_ptx;", "extern \"C\" void hone_sim_access(void*, int, int);",
           "# 1 \"/usr/include/x.h\" 1 3\n", "%: 1 \"x\" 1\n", "#/**/1/**/\"x\" 1\n", "# \\\n1 \"x\"\n",
           "#define HONE_SIM_INLINE inline\n", "# 1 \"written.cc\" 1\nint f();\n", "#if defined(__SANITIZE_THREAD__)\n#endif\n"}) {
    EXPECT_EQ(Guarded(text), Verdict::kRuleViolation) << text;
  }
  // Words that a candidate may use in good faith get `unsupported` here, not a rule violation: a GPU would accept them.
  for (const char* text : {"int f() { asm(\"nop\"); }", "int f() { __asm__ volatile(\"\"); }", "#define volatile\n",
                           "#undef __attribute__\n", "  # define /* */ static_assert(...)\n"}) {
    EXPECT_EQ(Guarded(text), Verdict::kUnsupported) << text;
  }
  EXPECT_EQ(Guarded("int v = __builtin_strlen(p);"), Verdict::kUnsupported);
  EXPECT_EQ(Guarded("#define NAME \"x.h\"\n#include NAME\n"), Verdict::kUnsupported);
  EXPECT_EQ(Guarded("__attribute__((who_knows)) int f();"), Verdict::kUnsupported);
  const auto header = sim::GuardPreprocessed("# 1 \"/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h\" 1 3 4\nint f();\n", "c");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->verdict, Verdict::kUnsupported);
}

TEST(SourceGuard, LetsDeviceCodePass) {
  for (const char* text : {
           "__attribute__((aligned(16), packed)) struct S { int v; };", "[[maybe_unused]] int v; [[likely]] int w;",
           "int a[4]; int v = a[b[0]] + a[ b[1] ];", "int a<:4:>; S<::T> s; int v = a<:x:> + a<:b<:0:>:>;", "#pragma unroll 4\nfor (;;) {}", "#pragma nv_diag_suppress 20012\n",
           "#define JOIN(a, b) a##b\n", "// __attribute__((no_sanitize_thread))\nint f();", "const char* s = \"asm __tsan\";",
           "int v = __builtin_popcount(3);", "__attribute__((section(\"hone_constant.\" \"3\"))) float c[4];", "int hone_reduce;",
           "int v = hone_sim::Discard(1) + (hone_sim::ThreadIndex()).x;", "int asmodeus; int passed;", "#if 0\n#endif\n# 12\n",
           "# 3 \"/usr/include/c++/12/cmath\" 1 3\n__attribute__((pure)) int f();\nasm(\"\");\n# 4 \"candidate.cu\" 2\nint g();"}) {
    EXPECT_EQ(text[0] == '#' && text[2] == '3' ? sim::GuardPreprocessed(text, "c").has_value() : Guarded(text).has_value(), false)
        << text;
  }
}

TEST(SourceGuard, NamesTheLine) {
  const auto refusal = sim::GuardPreprocessed(
      "# 1 \"x\"\n# 1 \"candidate.cu\"\nint a;\n# 1 \"/usr/include/h.h\" 1\nint b;\nint c;\n# 3 \"candidate.cu\" 2\nint d;\n__attribute__((optimize(1))) int e;",
      "candidate.cu");
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->sentence, HasSubstr("candidate.cu:4: the attribute 'optimize'"));
}

TEST(SourceGuard, ReadsHeadersForWhatTheCandidatesMacrosPutIntoThem) {
  for (const char* text : {"# 1 \"./written.cc\" 1\n", "# 1 \"/proc/self/cwd/written.cc\" 1\n",
                           "# 3 \"/usr/include/x.h\" 1 3\n__attribute__((no_sanitize_thread)) int f();\n# 4 \"candidate.cu\" 2\n"}) {
    const auto refusal = sim::GuardPreprocessed(text, "candidate.cu");
    ASSERT_TRUE(refusal.has_value()) << text;
    EXPECT_EQ(refusal->verdict, Verdict::kRuleViolation) << text;
  }
}

TEST(SimAdversary, ACandidateThatIncludesItselfIsRefused) {
  for (const char* name : {"written.cc", "candidate.cc", "./written.cc"}) {
    const CompiledModule module = SimBench::Compile(
        std::string("#ifdef INNER\n__device__ float Peek(const float* p) { return *p; }\n#else\n#define INNER\n#include \"") + name +
            "\"\n__global__ void k(float* y) { y[0] = Peek(y); }\n#endif\n", {"k"});
    EXPECT_NE(module.verdict, Verdict::kOk) << name;
  }
}

// --- what the simulator has not ---

TEST(SimAdversary, WhatTheToolkitHasAndTheSimulatorHasNotIsUnsupported) {
  for (const char* source : {"#include <cub/block/block_reduce.cuh>\n__global__ void k(float* y) { y[0] = 1; }",
                             "#include <cuda/std/array>\n__global__ void k(float* y) { y[0] = 1; }",
                             "#include <thrust/reduce.h>\n__global__ void k(float* y) { y[0] = 1; }",
                             "#include <cuda_fp6.h>\n__global__ void k(float* y) { y[0] = 1; }",
                             "__global__ void k(float* y) { using Sum = cub::BlockReduce<float, 128>; y[0] = 1; }",
                             "__global__ void k(float* y) { cuda::std::array<float, 2> a; y[0] = a[0]; }",
                             "using namespace cub;\n__global__ void k(float* y) { y[0] = 1; }"}) {
    const CompiledModule module = SimBench::Compile(source, {"k"});
    EXPECT_EQ(module.verdict, Verdict::kUnsupported) << source << "\n" << module.digest;
    EXPECT_EQ(std::count(module.digest.begin(), module.digest.end(), '\n'), 0) << "one sentence";
  }
  const CompiledModule absent = SimBench::Compile("#include \"mine.h\"\n__global__ void k(float* y) { y[0] = 1; }", {"k"});
  EXPECT_EQ(absent.verdict, Verdict::kCompileError) << absent.digest;
}

TEST(SimAdversary, AFileThatDoesNotEndWhereItShouldIsACompileError) {
  for (const char* source : {"__global__ void k(float* y) { y[0] = 1; }\n#define F(x) x\nF(", "__global__ void k(float* y) { y[0] = 1; }\n/* ",
                             "__global__ void k(float* y) { y[0] = 1; }\n#if 0", "__global__ void k(float* y) { y[0] = 1; }\n#define X \\"}) {
    const CompiledModule module = SimBench::Compile(source, {"k"});
    EXPECT_NE(module.digest.find("hone_entry"), 0u);
    if (module.verdict != Verdict::kOk) {
      EXPECT_EQ(module.verdict, Verdict::kCompileError) << source << "\n" << module.digest;
    }
  }
}

}  // namespace
}  // namespace hone
