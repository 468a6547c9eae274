// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the NVRTC compiler with the real NVRTC: good sources become modules, hostile ones become verdicts,
// and the next source is compiled undisturbed. They are skipped, with the reason, where NVRTC is not installed; no GPU
// is needed.
#include "tuner/evaluate/compile/nvrtc_compiler.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/evaluate/compile/nvrtc_library.h"
#include "tuner/evaluate/compile/nvrtc_prelude.h"
#include "tuner/evaluate/compile/nvrtc_session.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TranslationUnit Unit(const std::string& source, std::vector<std::string> kernels = {"k"}, std::string include_set = "") {
  TranslationUnit unit;
  unit.file = "candidate.cu";
  unit.body = "#line 1 \"candidate.cu\"\n" + source;
  unit.kernels = std::move(kernels);
  unit.include_set = std::move(include_set);
  return unit;
}

const char* const kGood = R"(
template <int kVec> __global__ void k(const __half* x, __half* out, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * kVec;
  for (int j = 0; j < kVec; ++j) if (i + j < n) out[i + j] = __hadd(x[i + j], x[i + j]);
}
)";

// This source asks for 2^28 template instantiations.
const char* const kTypeBomb = R"(
template <int N, int M> struct Bomb { static constexpr int v = Bomb<N - 1, 2 * M>::v + Bomb<N - 1, 2 * M + 1>::v; };
template <int M> struct Bomb<0, M> { static constexpr int v = 1; };
__global__ void k(int* x) { x[0] = Bomb<28, 1>::v; })";

class NvrtcCompilerTest : public ::testing::Test {
 protected:
  static NvrtcCompilerOptions Options() {
    NvrtcCompilerOptions options;
    options.architecture = "sm_90a";
    options.limit_seconds = 300;  // ends a compile that hangs
    return options;
  }
  void SetUp() override { Make(Options()); }
  void Make(const NvrtcCompilerOptions& options) {
    auto compiler_or_error = MakeNvrtcCompiler(options);
    if (!compiler_or_error.ok()) GTEST_SKIP() << compiler_or_error.status().message();
    compiler_ = std::move(*compiler_or_error);
  }
  CompiledModule Compile(const TranslationUnit& unit) {
    auto module = compiler_->Compile(unit);
    EXPECT_TRUE(module.ok()) << module.status().message();
    return module.ok() ? *module : CompiledModule();
  }
  // After a hostile source, the next source is compiled normally, with the precompiled header.
  void ExpectStillWorks() {
    const CompiledModule module = Compile(Unit(kGood, {"k<4>"}));
    EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
    EXPECT_TRUE(module.pch_used);
  }
  std::unique_ptr<NvrtcCompiler> compiler_;
};

TEST_F(NvrtcCompilerTest, MakesAModuleWithNamesAndResources) {
  const CompiledModule module = Compile(Unit(kGood, {"k<4>", "k<8>"}));
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  EXPECT_EQ(module.image.substr(1, 3), "ELF");
  EXPECT_EQ(module.lowered.size(), 2u);
  EXPECT_THAT(module.lowered.at("k<8>"), HasSubstr("ILi8E"));
  ASSERT_EQ(module.resources.size(), 2u);
  for (const KernelResources& kernel : module.resources) {
    EXPECT_THAT(kernel.kernel, ::testing::AnyOf("k<4>", "k<8>"));
    EXPECT_GT(kernel.registers, 0);
    EXPECT_LT(kernel.registers, 256);
    EXPECT_EQ(kernel.spill_bytes, 0);
  }
  EXPECT_THAT(module.globals, IsEmpty());
  EXPECT_TRUE(module.pch_used);
  EXPECT_GT(module.seconds, 0);
}

TEST_F(NvrtcCompilerTest, EveryCompileOfASetUsesTheHeaderMadeOnce) {
  for (int i = 0; i < 3; ++i) {
    const CompiledModule module = Compile(Unit(std::string(kGood) + "// " + std::to_string(i), {"k<2>"}));
    EXPECT_TRUE(module.pch_used) << "compile " << i;
  }
  EXPECT_EQ(compiler_->counters().pch_misses, 0);
  EXPECT_EQ(compiler_->counters().zygotes_started, 1);
}

TEST_F(NvrtcCompilerTest, TheFullSetHasFragmentsGroupsPipelinesAndBarriers) {
  const CompiledModule module = Compile(Unit(R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
__global__ void k(float* x, const __half* a) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  cg::thread_block block = cg::this_thread_block();
  block.sync();
  auto tile = cg::tiled_partition<32>(block);
  x[0] = cg::reduce(tile, x[threadIdx.x], cg::plus<float>());
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> f;
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> g;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
  nvcuda::wmma::fill_fragment(c, 0.0f);
  nvcuda::wmma::load_matrix_sync(f, a, 16);
  nvcuda::wmma::load_matrix_sync(g, a, 16);
  nvcuda::wmma::mma_sync(c, f, g, c);
  nvcuda::wmma::store_matrix_sync(x, c, 16, nvcuda::wmma::mem_row_major);
  barrier.arrive_and_wait();
})", {"k"}, "full"));
  EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
  EXPECT_TRUE(module.pch_used);
  EXPECT_THAT(module.labels, Contains("tensor_f16"));
  // libcu++ brings a thousand constants in writable device memory. Each has a name, so that it can be restored.
  EXPECT_GT(module.globals.size(), 64u);
  for (const DeviceGlobal& global : module.globals) EXPECT_TRUE(global.reachable) << global.symbol;
}

TEST_F(NvrtcCompilerTest, WhatCandidatesTakeForGrantedIsThere) {
  const CompiledModule module = Compile(Unit(R"(
#include <cstdint>
#include <cmath>
#include <cfloat>
#include <climits>
#include <cassert>
#include <cstdio>
#include <limits>
#include <algorithm>
#include <cuda_runtime.h>
#include <cuda.h>
constexpr float kInfinity = INFINITY;
constexpr int Twice(int x) { return 2 * x; }
__global__ void k(float* x, const __grid_constant__ CUtensorMap map, std::uint32_t n) {
  static_assert(sizeof(map) == 128 && alignof(CUtensorMap) == 64, "as the driver passes it");
  static_assert(kInfinity > FLT_MAX && std::numeric_limits<float>::max() == FLT_MAX, "limits");
  assert(n < INT_MAX);
  x[0] = std::sqrt(x[1]) + std::max(x[2], x[3]) + (float)M_PI * Twice(2) - kInfinity;
  uint64_t wide = n; int8_t small = (int8_t)wide; x[1] = small;
})"));
  EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
}

TEST_F(NvrtcCompilerTest, AnErrorComesWithItsFileLineAndSource) {
  const CompiledModule module = Compile(Unit("__global__ void k(float* x) {\n  x[0] = missing;\n}\n"));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("candidate.cu:2: error: identifier \"missing\" is undefined"));
  EXPECT_THAT(module.digest, HasSubstr("x[0] = missing;"));
  EXPECT_TRUE(module.image.empty());
  EXPECT_EQ(Compile(Unit("")).verdict, Verdict::kCompileError);
  const CompiledModule unknown = Compile(Unit(kGood, {"kernel_that_is_not_there"}));
  EXPECT_THAT(unknown.digest, HasSubstr("launch plan"));
  EXPECT_THAT(unknown.digest, HasSubstr("kernel_that_is_not_there"));
  EXPECT_THAT(Compile(Unit("__device__ void k() {}")).digest, HasSubstr("non-__global__ function"));
}

// CUDA's headers declare a function any(int).
TEST_F(NvrtcCompilerTest, AKernelThatSharesItsNameIsToldToTakeAnother) {
  const CompiledModule module = Compile(Unit("__global__ void any(float* x) { x[0] = 1; }\n", {"any"}));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, testing::StartsWith("CUDA's headers, or the candidate itself, have another function named 'any'"));
}

TEST_F(NvrtcCompilerTest, IncludesReachTheToolkitAndNothingElse) {
  if (compiler_->sandbox().landlock_abi == 0) GTEST_SKIP() << "this kernel has no Landlock";
  auto directory = MakeTemporaryDirectory();
  ASSERT_TRUE(directory.ok());
  const std::string secret = *directory / "secret.h";
  ASSERT_TRUE(WriteFileAtomically(secret, "the_secret_text of this machine\n").ok());
  for (const std::string& path : {secret, "/usr/local/cuda/include/../../../.." + secret, std::string("/proc/self/environ"),
                                  std::string("/etc/hostname"), std::string("/etc/passwd"), std::string("/root/.bashrc")}) {
    if (!FileExists(path)) continue;
    const CompiledModule module = Compile(Unit("#include \"" + path + "\"\n" + kGood, {"k<1>"}));
    EXPECT_EQ(module.verdict, Verdict::kCompileError) << path;
    EXPECT_THAT(module.digest, HasSubstr("cannot open source file")) << path;
    EXPECT_THAT(module.log, Not(HasSubstr("the_secret_text")));
    EXPECT_THAT(module.log, Not(HasSubstr("root:")));
  }
  const CompiledModule fine = Compile(Unit("#include <cuda_fp8.h>\n" + std::string(kGood), {"k<1>"}));
  EXPECT_EQ(fine.verdict, Verdict::kOk) << fine.digest;
}

TEST_F(NvrtcCompilerTest, ATemplateBombEndsAtTheLimit) {
  NvrtcCompilerOptions options = Options();
  // The good source has the same limit as the hostile one, which is doubled while the machine is too busy for it.
  CompiledModule good;
  bool compiled = false;
  for (double limit = 1; !compiled && limit < 100; limit *= 2) {
    options.limit_seconds = limit;  // ends long before the compiler reaches the limits of memory and file size
    Make(options);
    ASSERT_TRUE(compiler_->Prewarm("").ok());
    const CompiledModule bomb = Compile(Unit(kTypeBomb));
    EXPECT_EQ(bomb.verdict, Verdict::kCompileError);
    if (limit == 1) {
      EXPECT_THAT(bomb.digest, HasSubstr("timed out: it was stopped after 1 s"));
    }
    good = Compile(Unit(kGood, {"k<4>"}));
    compiled = good.verdict == Verdict::kOk;
  }
  EXPECT_TRUE(compiled) << good.digest;
  EXPECT_TRUE(good.pch_used);
}

TEST_F(NvrtcCompilerTest, EndlessRecursionIsAnError) {
  const CompiledModule module = Compile(Unit(R"(
template <int N> struct A { static constexpr int v = A<N + 1>::v; };
__global__ void k(int* x) { x[0] = A<0>::v; })"));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("excessive recursion"));
  EXPECT_LT(module.digest.size(), 8000u);
  ExpectStillWorks();
}

TEST_F(NvrtcCompilerTest, ABombOfMacrosEndsAtItsTimeAndOneOfTypesAtItsMemory) {
  NvrtcCompilerOptions options = Options();
  options.limit_seconds = 3;
  Make(options);
  std::string macros = "#define A0 a a a a a a a a\n";
  for (int i = 1; i < 12; ++i) {
    macros += "#define A" + std::to_string(i);
    for (int j = 0; j < 8; ++j) macros += " A" + std::to_string(i - 1);
    macros += "\n";
  }
  EXPECT_THAT(Compile(Unit(macros + "__global__ void k(int* x) { int A11; }")).digest, HasSubstr("timed out"));

  options.limit_seconds = 300;
  options.memory_bytes = int64_t{250} << 20;
  Make(options);
  const CompiledModule module = Compile(Unit(kTypeBomb));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("ran out of memory: it was stopped at 250 MiB"));
  ExpectStillWorks();
}

TEST_F(NvrtcCompilerTest, AFullWorkingFileIsNoCrash) {
  NvrtcCompilerOptions options = Options();
  options.temporary_bytes = int64_t{96} << 20;
  options.limit_seconds = 300;
  Make(options);
  const CompiledModule module = Compile(Unit(kTypeBomb));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("ran out of memory: its working file reached 96 MiB"));
  EXPECT_EQ(compiler_->counters().compiler_crashes, 0);
  ExpectStillWorks();
}

TEST_F(NvrtcCompilerTest, TenMegabytesOfErrorsAreDigested) {
  std::string source = "__global__ void k(int* x) {\n";
  const std::string name(60000, 'n');
  for (int i = 0; i < 200; ++i) source += "  x[0] = " + name + std::to_string(i) + ";\n";
  source += "}\n";
  const CompiledModule module = Compile(Unit(source));
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_LT(module.digest.size(), 20000u);
  EXPECT_LT(module.log.size(), size_t{5} << 20);
  EXPECT_THAT(module.log, HasSubstr("bytes left out"));
  EXPECT_THAT(module.digest, HasSubstr("candidate.cu:2: error"));
  ExpectStillWorks();
}

TEST_F(NvrtcCompilerTest, HostilePragmasAndDirectivesAreJustText) {
  const std::string kernel = "\n__global__ void k(int* x) { x[0] = 1; }\n";
  for (const std::string& prefix :
       {std::string("#pragma nv_hdrstop"), std::string("#pragma nv_mangled_name k"), std::string("#pragma pack(push, 1)"),
        std::string("#pragma push_macro(\"__global__\")\n#pragma GCC system_header\n#pragma once"),
        std::string("#line 1 \"/etc/passwd\""), std::string("#ident \"x\"\n#pragma message \"hello\"")}) {
    const CompiledModule module = Compile(Unit(prefix + kernel));
    EXPECT_THAT(module.verdict, ::testing::AnyOf(Verdict::kOk, Verdict::kCompileError)) << prefix;
    EXPECT_THAT(module.log, Not(HasSubstr("root:"))) << prefix;
  }
  EXPECT_EQ(Compile(Unit("#error stop here" + kernel)).verdict, Verdict::kCompileError);
  EXPECT_EQ(Compile(Unit("/* never closed" + kernel)).verdict, Verdict::kCompileError);
  EXPECT_EQ(Compile(Unit("#if 0" + kernel)).verdict, Verdict::kCompileError);
  EXPECT_EQ(Compile(Unit(std::string("\0\x01\xff\xfe", 4) + kernel)).verdict, Verdict::kCompileError);
  EXPECT_EQ(Compile(Unit("#include \"candidate.cu\"" + kernel)).verdict, Verdict::kCompileError);
  ExpectStillWorks();
}

// The toolkit's header that declares these functions gives warnings under NVRTC, so Hone's prelude declares them
// itself.
TEST_F(NvrtcCompilerTest, DependentLaunchesWaitByTheirOwnWords) {
  for (const char* include : {"", "#include <cuda_runtime.h>\n", "#include <cuda_device_runtime_api.h>\n"}) {
    const CompiledModule module = Compile(Unit(std::string(include) + R"(
__global__ void k(float* x) {
  cudaGridDependencySynchronize();
  x[threadIdx.x] *= 2;
  cudaTriggerProgrammaticLaunchCompletion();
})"));
    EXPECT_EQ(module.verdict, Verdict::kOk) << include << module.digest;
  }
}

TEST_F(NvrtcCompilerTest, TakesCpp20) {
  for (const char* set : {"", "full"}) {
    const CompiledModule module = Compile(Unit(R"(
#include <compare>
#include <concepts>
template <typename T> concept Number = sizeof(T) <= 8 && requires(T a) { a + a; };
struct Pair {
  int a, b;
  constexpr auto operator<=>(const Pair&) const = default;
};
consteval int Twice(int n) { return 2 * n; }
template <Number T> __global__ void k(T* x) requires std::integral<T> {
  auto at = [&]<int i>() -> T& { return x[i]; };
  static_assert(Pair{1, 2} < Pair{1, 3} && (1 <=> 2) < 0 && (2.0 <=> 1.0) > 0 && std::strong_ordering::equal == 0);
  if (threadIdx.x == 0) [[likely]] at.template operator()<Twice(2)>() = (Pair{.a = static_cast<int>(x[0]), .b = 1} <=> Pair{2, 1}) < 0;
})", {"k<int>"}, set));
    EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
    EXPECT_TRUE(module.pch_used);
  }
}

TEST_F(NvrtcCompilerTest, NoTextTalksThePlanOutOfItsChecks) {
  const auto unit = [](const std::string& before, const std::string& parameters, const std::string& behind) {
    TranslationUnit translation_unit = Unit(before + "__global__ void k(" + parameters + ") {}\n" + behind);
    translation_unit.checks = {
        {0, 3, "hone_plan::kCount<$kernel> == 1", "kernel 'k' does not take the 1 argument that the plan passes"},
        {0, 3, "hone_plan::kInteger<hone_plan::Parameter<$kernel, 0, 1>, 8>", "kernel 'k', argument 1: eight bytes"}};
    return translation_unit;
  };
  EXPECT_EQ(Compile(unit("", "long long n", "")).verdict, Verdict::kOk);
  struct {
    const char *before, *parameters, *behind;
  } const cheats[] = {{"", "int n", ""},
                      {"#define static_assert(...)\n", "int n", ""},
                      {"", "int n", "#define sizeof(...) 8\n"},
                      {"", "float n", "#define false true\n"},
                      {"", "int n", "#define decltype(...) void (*)(long long)\n"},
                      {"#pragma nv_diag_suppress 1, 20, 1576\n", "int n", "// \\"},
                      {"#define static_assert(...)\n#pragma push_macro(\"static_assert\")\n#undef static_assert\n", "int n",
                       "#pragma pop_macro(\"static_assert\")\n"},
                      {"", "int n, int m", "#define template template <> struct {}; template\n#define bool true\n"}};
  for (const auto& cheat : cheats) {
    const CompiledModule module = Compile(unit(cheat.before, cheat.parameters, cheat.behind));
    EXPECT_EQ(module.verdict, Verdict::kCompileError) << cheat.before << cheat.behind;
    EXPECT_THAT(module.digest, HasSubstr("candidate.cu:3: error: static assertion failed with \"launch plan: kernel 'k'"))
        << cheat.before << cheat.behind;
  }
}

TEST_F(NvrtcCompilerTest, TooMuchSharedMemoryIsAResourceLimit) {
  const CompiledModule module = Compile(Unit("__global__ void k(float* x) { __shared__ float s[100000]; s[threadIdx.x] = x[0]; "
                                             "__syncthreads(); x[1] = s[5]; }"));
  EXPECT_EQ(module.verdict, Verdict::kResourceLimit);
  EXPECT_THAT(module.digest, HasSubstr("shared data"));
}

TEST_F(NvrtcCompilerTest, TheDeviceHeapAndManagedMemoryAreRuleViolations) {
  for (const char* source : {"__global__ void k(float** p) { p[0] = (float*)malloc(64); }",
                             "__global__ void k(float** p) { p[0] = new float[64]; }",
                             "__global__ void k(float** p) { free(p[0]); }",
                             "__managed__ int counter; __global__ void k(int* p) { p[0] = counter++; }"}) {
    const CompiledModule module = Compile(Unit(source));
    EXPECT_EQ(module.verdict, Verdict::kRuleViolation) << source << "\n" << module.digest;
    EXPECT_THAT(module.digest, HasSubstr("keeps state")) << source;
  }
  const CompiledModule prints = Compile(Unit("__global__ void k(float* p) { printf(\"%f\", p[0]); }"));
  EXPECT_EQ(prints.verdict, Verdict::kOk);
  EXPECT_THAT(prints.labels, Contains("prints"));
}

TEST_F(NvrtcCompilerTest, DeviceGlobalsOfEveryLinkageAreFound) {
  const CompiledModule module = Compile(Unit(R"(
__device__ int plain;
static __device__ int hidden = 3;
namespace { __device__ float anonymous[10]; }
__global__ void k(float* x) {
  static __device__ int local;
  x[0] = plain++ + hidden++ + anonymous[threadIdx.x] + local++;
})"));
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  int64_t bytes = 0;
  for (const DeviceGlobal& global : module.globals) {
    EXPECT_TRUE(global.writable && global.reachable) << global.symbol;
    bytes += global.bytes;
  }
  EXPECT_GE(bytes, 4 + 4 + 40 + 4);
}

TEST_F(NvrtcCompilerTest, AKilledZygoteIsReplaced) {
  const CompiledModule before = Compile(Unit(kGood, {"k<1>"}));
  ASSERT_EQ(before.verdict, Verdict::kOk);
  // Find the child process by its command line and kill it.
  int killed = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto status = ReadFile(entry.path().string() + "/stat");
    const auto line = ReadFile(entry.path().string() + "/cmdline");
    if (!status.ok() || !line.ok() || line->find("__nvrtc-zygote") == std::string::npos) continue;
    const size_t close = status->rfind(')');
    if (close == std::string::npos || std::atoi(status->c_str() + close + 4) != getpid()) continue;
    killed += kill(std::atoi(entry.path().filename().c_str()), SIGKILL) == 0 ? 1 : 0;
  }
  ASSERT_EQ(killed, 1);
  ExpectStillWorks();
  EXPECT_EQ(compiler_->counters().zygotes_lost, 1);
  EXPECT_EQ(compiler_->counters().zygotes_started, 2);
}

TEST_F(NvrtcCompilerTest, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0}, bad{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i) {
        const bool fine = (t + i) % 2 == 0;
        auto module = compiler_->Compile(Unit(fine ? std::string(kGood) + "//" + std::to_string(10 * t + i) : "oops", {"k<2>"}));
        ASSERT_TRUE(module.ok());
        (module->verdict == Verdict::kOk ? good : bad) += 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 9);
  EXPECT_EQ(bad, 9);
  EXPECT_EQ(compiler_->counters().zygotes_started, 1);
}

TEST_F(NvrtcCompilerTest, OptionsReachTheCompilerAndIdleZygotesEnd) {
  NvrtcCompilerOptions options = Options();
  options.max_zygotes = 1;
  Make(options);
  const std::string source = "__global__ void k(float* x) { x[0] = x[1] / x[2]; }";
  TranslationUnit exact = Unit(source), fast = Unit(source);
  fast.options = {"--use_fast_math"};
  const CompiledModule a = Compile(exact), b = Compile(fast);
  ASSERT_EQ(a.verdict, Verdict::kOk);
  ASSERT_EQ(b.verdict, Verdict::kOk) << b.digest;
  EXPECT_NE(a.image, b.image);
  EXPECT_TRUE(b.pch_used);
  EXPECT_EQ(Compile(exact).verdict, Verdict::kOk);
  EXPECT_EQ(compiler_->counters().zygotes_started, 3);
}

TEST_F(NvrtcCompilerTest, AnUnknownArchitectureIsTheEnvironmentsFault) {
  NvrtcCompilerOptions options = Options();
  options.architecture = "sm_10";
  Make(options);
  const auto module = compiler_->Compile(Unit(kGood, {"k<1>"}));
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(module.status().message(), HasSubstr("prelude"));
}

TEST_F(NvrtcCompilerTest, WithoutPrecompiledHeadersItStillCompiles) {
  NvrtcCompilerOptions options = Options();
  options.pch_heap_bytes = 0;
  Make(options);
  const CompiledModule module = Compile(Unit(kGood, {"k<4>"}));
  EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
  EXPECT_FALSE(module.pch_used);
  EXPECT_EQ(compiler_->counters().pch_misses, 0);
}

TEST(NvrtcSession, TakesThePlainPreludeWhereTheOtherDoesNotCompile) {
  const auto library = LoadNvrtc("");
  if (!library.ok()) GTEST_SKIP() << library.status().message();
  const auto make = [&](const std::string& prelude, const std::string& plain) {
    return NvrtcSession::Make({.library = (*library)->path,
                               .options = {"--gpu-architecture=sm_80", "--device-as-default-execution-space"},
                               .prelude = prelude,
                               .plain_prelude = plain});
  };
  const NvrtcJob job{"a.cu", "__global__ void k(int* x) { *x = Answer(); }\n", {"k"}};
  for (const char* quick : {"inline int Answer() { return 42; }\n", "#error not with this version\n"}) {
    auto session = make(quick, "inline int Answer() { return 42; }\n");
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_TRUE((*session)->Compile(job).ok) << quick;
  }
  EXPECT_FALSE(make("#error not with this version\n", "").ok());
  EXPECT_FALSE(make("#error not with this version\n", "#error nor so\n").ok());
}

TEST_F(NvrtcCompilerTest, CuteWithoutCutlassIsUnsupportedAndSaysWhatToInstall) {
  NvrtcCompilerOptions options = Options();
  options.cutlass_include = "/nonexistent";
  Make(options);
  const CompiledModule module = Compile(Unit(kGood, {"k<1>"}, "cute"));
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_THAT(module.digest, HasSubstr("'/nonexistent' holds no CUTLASS headers"));
  EXPECT_THAT(module.digest, HasSubstr("--cutlass"));
  ExpectStillWorks();  // other sources still compile
}

TEST(NvrtcCompilerOptions, NameTheArchitectureThatHasTheTensorCores) {
  EXPECT_EQ(NvrtcArchitecture(9, 0), "sm_90a");
  EXPECT_EQ(NvrtcArchitecture(8, 6), "sm_86");
  EXPECT_EQ(NvrtcArchitecture(12, 0), "sm_120a");
}

}  // namespace
}  // namespace hone
