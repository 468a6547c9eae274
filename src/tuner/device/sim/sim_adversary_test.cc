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

#include "base/clock.h"
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

TEST(SourceGuard, CommentsAndLiteralsAreNoDirectives) {
  for (const char* text : {
           "// There is no #include here: the #include lines are gone, and #define inline too.\nint f();",
           "/* A line such as\n# 12 \"relu.cu\"\ncomes from a preprocessor; #define volatile */ int f();",
           "const char* s = \"#include nothing, #define volatile\";", "const char* s = R\"x(\n# 1 \"file\" 3\n#define asm\n)x\";",
           "#include <math.h>  // #include MACRO\nint n = 1'000'000; char c = '#'; // #undef int",
           "#if 0\n// #define class\n#endif\n", "/* \\\n#include NAME \\\n*/ int f();"}) {
    EXPECT_FALSE(sim::GuardRawSource(text, "c").has_value()) << text;
  }
  // What only seems to stand in a comment or a literal, and what the preprocessor might read in another way.
  for (const char* text : {
           "// a comment\n#define volatile\n", "const char* s = \"\\\"\"; \n#define volatile\n", "int n = 1'0; /* ' */\n#define volatile\n//'\n",
           "R\"x( )\\\nx\" R\"y( )x\"\n#define volatile\n)y\"", "\"a\"R\"x(\"\n#define volatile\n\")x\"", "#if __has_include(<x/*y>)\n#endif\n#define volatile\n/* */",
           "#define H __has_include\n#if H(<x/*y>)\n#endif\n#define volatile\n/* */", "#pragma GCC dependency <x/*y>\n#define volatile\n/* */",
           "#include \"a\\\"\n#define volatile\n\"\"", "1R\"x(\"\n#define volatile\n\")x\"", "don't\n#define volatile\n'", "\xc3\xa9R\"x(\"\n#define volatile\n\")x\"",
           "\\u00e9R\"x(\"\n#define volatile\n\")x\"", "/* */ # /* */ define /* */ volatile", "u8R\"(\")\"\n#define volatile\n\"\""}) {
    const auto refusal = sim::GuardRawSource(text, "c");
    EXPECT_TRUE(refusal.has_value()) << text;
  }
}

TEST(SourceGuard, TextOfOneFragmentTakesLittleTime) {
  const double begin = ThreadSeconds();
  for (const char* fragment : {"<", "include ", "include<", "\"", "'", "R\"(", "\\\n", "1'0", "x\"\""}) {
    std::string text = "#define volatile\n#include ";
    while (text.size() < (1 << 20)) text += fragment;
    EXPECT_TRUE(sim::GuardRawSource(text, "c").has_value()) << fragment;
  }
  EXPECT_LT(ThreadSeconds() - begin, 5);  // a pass over a megabyte takes some ten milliseconds, a quadratic one hours
}

TEST(SimAdversary, ACommentThatSpeaksOfAnIncludeIsNoInclude) {
  const std::string kernel = "__global__ void k(float* y) { const char* s = \"#include NAME\"; y[0] = s[0] == '#'; }";
  for (const char* comment : {"/* Was:\n#include \"../common.h\"\n#include </opt/x.h>\n*/\n", "// no #include here: see #define inline\n", "/*\n# 12 \"relu.cu\"\n*/\n"}) {
    const CompiledModule module = SimBench::Compile(comment + kernel, {"k"});
    EXPECT_EQ(module.verdict, Verdict::kOk) << comment << module.digest;
  }
  EXPECT_EQ(SimBench::Compile("/* */\n#include \"/etc/hostname\"\n" + kernel, {"k"}).verdict, Verdict::kRuleViolation);
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

// --- names that a candidate chooses ---

TEST(SourceGuard, FileNamesOfTheCandidatesOwnDirectivesNameNoHeader) {
  const std::string text =
      "# 0 \"candidate.cc\"\n# 1 \"/usr/include/math.h\" 1 3 4\nint a;\n# 7 \"/usr/include/x.h\"\n# 2 \"candidate.cc\" 2\n# 40 \"make_relu.py\"\nint b;\n"
      "# 1 \"/cache/include/detail/fast_math.h\"\nconst char* s = R\"(\n# 3 \"in/a/string\" 1\n)\";\n# 5 \"dir/\"\n# 6 \"hone-entries\"\n"
      "# 1 \"/cache/include/mma.h\" 1\nint c;\n# 9 \"x/hone-entries\" 2\nint d;\n";
  EXPECT_EQ(sim::PlainFileNames(text),
            "# 0 \"candidate.cc\"\n# 1 \"/usr/include/math.h\" 1 3 4\nint a;\n# 7 \"/usr/include/x.h\"\n# 2 \"candidate.cc\" 2\n# 40 \"make_relu.py\"\nint b;\n"
            "# 1 \"fast_math.h\"\nconst char* s = R\"(\n# 3 \"in/a/string\" 1\n)\";\n# 5 \"candidate.cc\"\n# 6 \"candidate.cc\"\n"
            "# 1 \"/cache/include/mma.h\" 1\nint c;\n# 9 \"candidate.cc\" 2\nint d;\n");
}

// Returns the modelled time of a kernel whose work is the statement `step`, 4000 times on each of 2^18 threads.
double MicrosecondsOf(const std::string& head, const std::string& step) {
  SimBench bench;
  bench.Load(head + "\n__global__ void k(float* y, int n) {\n  float v = threadIdx.x; double d = v; unsigned h = threadIdx.x;\n"
                    "  for (int j = 0; j < n; ++j) { " + step + " }\n  y[blockIdx.x * 256 + threadIdx.x] = v + float(d) + h;\n}",
             {"k"});
  bench.NewSampled({{"y", int64_t{4} << 18}});
  return bench.ModelledMicroseconds(SimBench::Step("k", {1024}, {256}, {SimBench::T("y"), SimBench::I(4000)}));
}

TEST(SimAdversary, NoFileNameMakesOperationsFree) {
  const std::string doubles = "d = d * 0.5 + 1.0;", integers = "h ^= h >> 13; h *= 0x5bd1e995u; h ^= h >> 15;";
  for (const std::string& step : {doubles, integers}) {
    const double plain = MicrosecondsOf("", step);
    EXPECT_GT(plain, 4 * MicrosecondsOf("", "")) << step;
    for (const char* line : {"#line 1 \"detail/fast_math.h\"", "#line 1 \"/detail/float_by_double.h\"", "#line 1 \"cuda_fp16.h\"", "#line 40 \"make_relu.py\"",
                             "#line 1 \"hone-entries\"", "#define NAME \"./detail/mma.h\"\n#line 7 NAME"}) {
      EXPECT_EQ(MicrosecondsOf(line, step), plain) << line << "\n" << step;
    }
  }
}

TEST(SimAdversary, NoFunctionNameMakesOperationsFree) {
  const char* const body = "__device__ __attribute__((noinline)) float F(float v) { for (int i = 0; i < 8; ++i) v = v * 0.5f + 1.0f; return v; }";
  const double plain = MicrosecondsOf(body, "v = F(v);");
  const double named = MicrosecondsOf(
      "namespace nvcuda { namespace wmma { namespace detail { template <int N> __device__ __attribute__((noinline)) float Multiply(float v) {"
      " for (int i = 0; i < N; ++i) v = v * 0.5f + 1.0f; return v; } } } }",
      "v = nvcuda::wmma::detail::Multiply<8>(v);");
  EXPECT_NEAR(named / plain, 1, 0.05);
  const CompiledModule mangled = SimBench::Compile(
      "extern \"C\" __device__ float _ZN8hone_sim1fEf(float v) { return v * 2; }\n__global__ void k(float* y) { y[0] = _ZN8hone_sim1fEf(y[0]); }", {"k"});
  EXPECT_EQ(mangled.verdict, Verdict::kRuleViolation) << mangled.digest;
}

TEST(SimAdversary, AFunctionCalledThroughItsAddressCostsAsMuch) {
  const double plain = MicrosecondsOf("", "v = erff(v);");
  EXPECT_GT(plain, 4 * MicrosecondsOf("", ""));
  EXPECT_NEAR(MicrosecondsOf("", "float (*volatile f)(float) = erff; v = f(v);") / plain, 1, 0.2);
}

TEST(SimAdversary, TheLibrarysFunctionsThatCudaDoesNotHaveAreUnsupported) {
  for (const auto& [declaration, call] : {std::pair{"float fmaf32(float, float, float)", "fmaf32(y[0], 2, 1)"}, {"float lgammaf32_r(float, int*)", "lgammaf32_r(2.5f, (int*)y + 1)"},
                                         {"float lgammaf_r(float, int*)", "lgammaf_r(y[0], (int*)y + 1)"}, {"float modff32(float, float*)", "modff32(2.5f, y + 1)"},
                                         {"double significand(double)", "significand(y[0])"}, {"int canonicalizef(float*, const float*)", "canonicalizef(y + 1, y)"}}) {
    const CompiledModule module = SimBench::Compile(
        std::string("extern \"C\" ") + declaration + ";\n__global__ void k(float* y) { y[0] = " + call + "; }", {"k"});
    EXPECT_EQ(module.verdict, Verdict::kUnsupported) << call << "\n" << module.digest;
    EXPECT_THAT(module.digest, HasSubstr("of the host's mathematical library")) << call;
  }
}

TEST(SimAdversary, FunctionsThatCudaHasRunAndTheirPointersAreSeen) {
  SimBench bench;
  bench.Load(R"(
    __global__ void all(const float* x, float* y) {
      const float v = x[0]; const double d = v;
      float a, b; int e, q; double whole;
      float s = fmaf(v, v, v) + lgammaf(v) + hypotf(v, v) + ldexpf(v, 2) + nextafterf(v, 3) + remainderf(v, 2) + fdimf(v, 1) + j0f(v) + ynf(2, v)
              + logbf(v) + ilogbf(v) + asinhf(v) + scalblnf(v, 2) + lroundf(v) + rintf(v);
      s += fma(d, d, d) + lgamma(d) + hypot(d, d) + ldexp(d, 2) + nextafter(d, 3) + remainder(d, 2) + fdim(d, 1) + j0(d) + yn(2, d) + logb(d)
              + ilogb(d) + asinh(d) + scalbln(d, 2) + llround(d) + nearbyint(d) + cbrt(d) + tgamma(d);
      sincosf(v, &a, &b); s += a + b + frexpf(v, &e) + e + remquof(v, 2, &q) + q + modff(v, &a) + modf(d, &whole) + whole;
      y[0] = s + (isnan(nanf("")) ? 1 : 0);
    }
    __global__ void tagged(const float* x, float* y) { y[0] = nanf((const char*)x + (1 << 20)); })",
             {"all", "tagged"});
  bench.Input("x", std::vector<float>(16, 1.5f));
  bench.Output("y", 4);
  const LaunchOutcome all = bench.Run("all", {1}, {1}, {SimBench::T("x"), SimBench::T("y")});
  EXPECT_EQ(all.status, LaunchStatus::kOk) << all.detail;
  EXPECT_EQ(bench.Run("tagged", {1}, {1}, {SimBench::T("x"), SimBench::T("y")}).status, LaunchStatus::kCrashed);
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
