// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/sim_compiler.h"

#include <gmock/gmock.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "tuner/device/sim/image/elf_symbols.h"
#include "tuner/device/sim/image/image_symbols.h"
#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Imports(const CompiledModule& module) {
  std::vector<std::string> names;
  const std::vector<sim::ElfSymbol> symbols = sim::ReadElfDynamicSymbols(module.image).value();
  for (const sim::ElfSymbol& symbol : symbols) {
    if (!symbol.defined) names.push_back(symbol.name);
  }
  return names;
}

TEST(SimCompiler, GivesAnImageWithAnEntryForEachKernel) {
  const CompiledModule module = SimBench::Compile(R"(
    namespace deep { template <int kN, typename T> __global__ void k(T* y) { y[0] = kN; } }
    __global__ void plain(float* y) { y[0] = 1; })", {"deep::k<8, float>", "plain"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  EXPECT_EQ(module.lowered.at("deep::k<8, float>"), "hone_entry_0");
  EXPECT_EQ(module.lowered.at("plain"), "hone_entry_1");
  EXPECT_EQ(module.resources.size(), 2u);
}

TEST(SimCompiler, IsLimitedInProcessorTime) {
  const std::unique_ptr<Compiler> compiler = MakeSimCompiler({.cache_directory = HONE_BINARY_DIR "/tests/cache", .limit_seconds = 4}).value();
  TranslationUnit unit;
  unit.file = "k.cu";
  unit.body = "template <int n> constexpr unsigned long work() { unsigned long s = n; for (int i = 0; i < 200000; ++i) s = s * 31 + i; return s; }\n"
              "template <int n> struct Many { static constexpr unsigned long value = work<n>() + Many<n - 1>::value; };\n"
              "template <> struct Many<0> { static constexpr unsigned long value = 0; };\n"
              "__global__ void k(unsigned long* y) { y[0] = Many<800>::value; }";
  unit.kernels = {"k"};
  const CompiledModule module = compiler->Compile(unit).value();
  EXPECT_EQ(module.verdict, Verdict::kTimedOut) << module.log;
  EXPECT_THAT(module.digest, HasSubstr("4 s of processor time"));
}

// Slurm, for one, signals the compilers of a worker that it requeues.
TEST(SimCompiler, ACompilerThatWasSignalledSaysNothingOfTheSource) {
  for (const int signal : {SIGTERM, SIGINT, 0}) {
    SimCompilerOptions options;
    options.cache_directory = HONE_BINARY_DIR "/tests/cache";
    options.run = [&](const SubprocessOptions& subprocess_options) -> Result<SubprocessResult> {
      if (std::find(subprocess_options.argv.begin(), subprocess_options.argv.end(), "written.cc") ==
          subprocess_options.argv.end())
        return RunSubprocess(subprocess_options);
      SubprocessResult result;
      result.exit.signal = signal;
      result.exit.exit_status = signal == 0 ? 1 : -1;
      if (signal == 0)
        result.err = "g++: fatal error: Terminated signal terminated program cc1plus\ncompilation terminated.\n";
      return result;
    };
    const std::unique_ptr<Compiler> compiler = MakeSimCompiler(options).value();
    TranslationUnit unit;
    unit.file = "k.cu";
    unit.body = "__global__ void k(float* y) { y[0] = 1; }";
    unit.kernels = {"k"};
    const CompiledModule module = compiler->Compile(unit).value();
    EXPECT_EQ(module.verdict, Verdict::kTimedOut) << signal;  // a verdict that is never cached
    EXPECT_THAT(module.digest, HasSubstr("by a signal from outside"));
  }
}

// g++ uses any file of prelude.h.gch whose first bytes match: a file found there by another process must be complete.
TEST(SimCompiler, PrecompiledHeadersAppearWhole) {
  const TemporaryDirectory cache = MakeTemporaryDirectory("", "sim-cache-").value();
  const std::unique_ptr<Compiler> compiler = MakeSimCompiler({.cache_directory = cache.path()}).value();
  const std::filesystem::path folder = std::filesystem::directory_iterator(cache.path())->path() / "prelude.h.gch";
  ASSERT_TRUE(MakeDirectories(folder).ok());
  const UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_TRUE(watch.valid());
  ASSERT_GE(inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO), 0);
  TranslationUnit unit;
  unit.file = "k.cu";
  unit.body = "__global__ void k(float* y) { y[0] = 1; }";
  unit.kernels = {"k"};
  ASSERT_EQ(compiler->Compile(unit).value().verdict, Verdict::kOk);
  alignas(inotify_event) char events[4096];
  const ssize_t bytes = read(watch.get(), events, sizeof events);
  int moved = 0;
  for (ssize_t at = 0; at < bytes;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events + at);
    EXPECT_EQ(event->mask & IN_CREATE, 0u) << event->name;
    moved += (event->mask & IN_MOVED_TO) != 0;
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  EXPECT_EQ(moved, 1);
}

// This is the reason for -fno-tree-sra and related flags. The test counts the hooks that an image imports.
TEST(SimCompiler, AFloat4StaysOneAccess) {
  const CompiledModule module = SimBench::Compile(R"(
    __global__ void k(const float4* x, float4* y) {
      float4 v = x[threadIdx.x];
      v.x = v.x * 2 + 1; v.y = v.y * 3; v.z = -v.z; v.w = v.x + v.w;
      y[threadIdx.x] = v;
    })", {"k"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  EXPECT_THAT(Imports(module), Contains("__wrap___tsan_read16"));
  EXPECT_THAT(Imports(module), Contains("__wrap___tsan_write16"));
  EXPECT_THAT(Imports(module), Not(Contains("__wrap___tsan_read4")));
  EXPECT_THAT(Imports(module), Not(Contains("__wrap___tsan_write4")));
}

TEST(SimCompiler, NeighbouringFloatsStayFourAccesses) {
  const CompiledModule module = SimBench::Compile(R"(
    __global__ void k(const float* x, float* y) {
      const float* p = x + 4 * threadIdx.x;
      float* q = y + 4 * threadIdx.x;
      q[0] = p[0]; q[1] = p[1]; q[2] = p[2]; q[3] = p[3];
    }
    __global__ void zero(float* y) { for (int i = 0; i < 64; ++i) y[i] = 0; })", {"k", "zero"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  EXPECT_THAT(Imports(module), Contains("__wrap___tsan_read4"));
  EXPECT_THAT(Imports(module), Not(Contains("__wrap___tsan_read16")));
  EXPECT_THAT(Imports(module), Not(Contains("__wrap___tsan_write16")));
  EXPECT_THAT(Imports(module), Not(Contains("__wrap_memset")));
}

TEST(SimCompiler, ErrorsComeInDigestAndWhole) {
  const CompiledModule module = SimBench::Compile("\n\n__global__ void k(float* y) { y[0] = undeclared; }\n", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("candidate.cu:3"));
  EXPECT_THAT(module.digest, HasSubstr("undeclared"));
  EXPECT_THAT(module.log, HasSubstr("undeclared"));
}

TEST(SimCompiler, AKernelThatIsNotThereIsACompileError) {
  const CompiledModule module = SimBench::Compile("__global__ void k(float* y) { y[0] = 1; }", {"other"});
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("other"));
}

TEST(SimCompiler, FilesOfTheHostCannotBeIncluded) {
  for (const char* line : {"#include \"/etc/hostname\"", "#  include </etc/passwd>", "#include \"../../../../etc/hostname\"",
                           "%:include \"/etc/hostname\"", "#/**/inc\\\nlude \"/etc/hostname\"", "#if __has_include(\"/etc/hostname\")\n#endif"}) {
    const CompiledModule module = SimBench::Compile(std::string(line) + "\n__global__ void k(float* y) { y[0] = 1; }", {"k"});
    EXPECT_EQ(module.verdict, Verdict::kRuleViolation) << line;
  }
  const CompiledModule module = SimBench::Compile("#define WHERE \"/etc/hostname\"\n#include WHERE\n__global__ void k(float* y) { y[0] = 1; }", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_THAT(module.digest, HasSubstr("must be written out"));
}

TEST(SimCompiler, TheHostsFunctionsCannotBeCalled) {
  const CompiledModule module = SimBench::Compile("extern \"C\" int system(const char*);\n__global__ void k(float* y) { y[0] = system(\"true\"); }", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("'system'"));
}

TEST(SimCompiler, TheDeviceHeapBreaksTheRules) {
  const CompiledModule module = SimBench::Compile("#include <stdlib.h>\n__global__ void k(float** y) { y[0] = (float*)malloc(16); }", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(module.digest, HasSubstr("malloc"));
}

TEST(SimCompiler, PtxThatIsNotEmulatedIsUnsupported) {
  const CompiledModule module = SimBench::Compile("__global__ void k(float* y) {\n  asm volatile(\"barrier.cluster.arrive.aligned;\");\n  y[0] = 1;\n}", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_THAT(module.digest, HasSubstr("barrier.cluster"));
}

// -fsanitize=thread gives no hook to the copies that a call makes of its aggregates, so such loads would cost nothing
// and could read anywhere.
TEST(SimCompiler, AggregatesThatCallsCopyFromOrToMemoryAreUnsupported) {
  const std::string head = "struct F4 { float v[4]; };\n"
                           "__device__ __attribute__((noinline)) float Sum(F4 f) { return f.v[0] + f.v[3]; }\n"
                           "__device__ __attribute__((noinline)) F4 Make(float a) { F4 f; for (int i = 0; i < 4; ++i) f.v[i] = a; return f; }\n"
                           "__device__ F4 table[8];\n";
  const auto digest = [&](const std::string& body) {
    const CompiledModule module = SimBench::Compile(
        head + "__global__ void k(const float* x, float* y, int i) { " + body + " }", {"k"});
    return std::string(VerdictName(module.verdict)) + " " + module.digest;
  };
  EXPECT_THAT(digest("y[0] = Sum(*(const F4*)(x + 4 * i));"), HasSubstr("unsupported"));
  EXPECT_THAT(digest("y[0] = Sum(table[i]);"), HasSubstr("takes an aggregate by value straight from memory (table["));
  EXPECT_THAT(digest("__shared__ F4 one; if (i == 0) one.v[0] = one.v[3] = 1; __syncthreads(); y[0] = Sum(one);"), HasSubstr("(one)"));
  EXPECT_THAT(digest("*(F4*)(y + 4 * i) = Make(x[0]);"), HasSubstr("returns an aggregate by value straight to memory"));
  // A variable of the kernel's own in between makes each access visible.
  EXPECT_THAT(digest("F4 f = *(const F4*)(x + 4 * i); f = Make(Sum(f)); *(F4*)(y + 4 * i) = f;"), HasSubstr("ok"));
}

// nvcc would inline this function. g++ is told to inline it, because it would hide an access otherwise.
TEST(SimCompiler, AFunctionTooLargeForTheInlinerIsInlinedWhereItTakesAnAggregate) {
  std::string steps;
  for (int i = 0; i < 60; ++i) steps += fmt::format("a.m += a.s * {0}.0f / (a.n + {0}.5f); a.s = a.s * a.m + {0}.25f; ", i + 1);
  const CompiledModule module = SimBench::Compile(
      "struct Part { float n, m, s, more; };\nenum class Way { kUp, kDown };\n"
      "__device__ Part Join(Part a, Part b, Way way) { a.n += way == Way::kUp ? b.n : -b.n; " + steps + " return a; }\n"
      "__global__ void k(const float* x, float* y) { __shared__ Part part[32]; part[threadIdx.x].n = x[threadIdx.x]; __syncthreads();\n"
      "  Part all = part[0]; for (int i = 1; i < 32; ++i) all = Join(all, part[i], Way::kUp);\n"
      "  for (int i = 1; i < 32; ++i) all = Join(all, part[i], Way::kDown); y[0] = all.m; }", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kOk) << module.digest;
}

TEST(SimCompiler, StaticSharedMemoryIsToldByKernel) {
  const CompiledModule module = SimBench::Compile(R"(
    __device__ float reduce(float v) { __shared__ float part[32]; part[threadIdx.x & 31] = v; __syncthreads(); return part[0]; }
    template <int kN> __global__ void a(float* y) { __shared__ float s[kN]; s[threadIdx.x] = 1; __syncthreads(); y[0] = reduce(s[0]); }
    __global__ void b(float* y) { __shared__ double s[64]; s[threadIdx.x] = 1; __syncthreads(); y[0] = s[1]; })",
                                                 {"a<100>", "a<200>", "b"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  EXPECT_EQ(module.resources[0].static_shared_bytes, 400 + 128);
  EXPECT_EQ(module.resources[1].static_shared_bytes, 800 + 128);
  EXPECT_EQ(module.resources[2].static_shared_bytes, 512 + 128);  // calls of reduce from b are not examined
}

TEST(SimCompiler, TooMuchStaticSharedMemoryIsAResourceLimit) {
  const CompiledModule module = SimBench::Compile("__global__ void k(float* y) { __shared__ float s[12289]; s[threadIdx.x] = 1; __syncthreads(); y[0] = s[5]; }", {"k"});
  EXPECT_EQ(module.verdict, Verdict::kResourceLimit);
}

TEST(SimCompiler, ExternSharedArraysAreOneBuffer) {
  const CompiledModule module = SimBench::Compile(R"(
    extern __shared__ char raw[];
    template <typename T> __global__ void a(T* y) { extern __shared__ T typed[]; typed[threadIdx.x] = 1; __syncthreads(); y[0] = typed[0] + raw[0]; })", {"a<float>"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  const sim::ImageSymbols symbols = sim::ReadImageSymbols(module.image).value();
  EXPECT_TRUE(symbols.has_dynamic);
  uint64_t raw = 1, typed = 2;
  const std::vector<sim::ElfSymbol> elf_symbols = sim::ReadElfSymbols(module.image).value();
  for (const sim::ElfSymbol& symbol : elf_symbols) {
    if (symbol.name == "raw") raw = symbol.value;
    if (symbol.name == "typed") typed = symbol.value;
  }
  EXPECT_EQ(raw, symbols.dynamic_offset);
  EXPECT_EQ(typed, symbols.dynamic_offset);
}

TEST(SimCompiler, GlobalsAreListed) {
  const CompiledModule module = SimBench::Compile("__device__ int counter = 3;\n__constant__ float table[8];\n__global__ void k(float* y) { y[0] = table[threadIdx.x] + atomicAdd(&counter, 1); }", {"k"});
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.log;
  std::vector<std::string> names;
  for (const DeviceGlobal& global : module.globals) names.push_back(global.symbol);
  EXPECT_THAT(names, Contains("counter"));
}

TEST(SimCompiler, FastMathIsItsOwnPrelude) {
  const std::string source = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = expf(x[threadIdx.x]); }";
  const CompiledModule exact = SimBench::Compile(source, {"k"}), fast = SimBench::Compile(source, {"k"}, {"--use_fast_math"});
  ASSERT_EQ(exact.verdict, Verdict::kOk);
  ASSERT_EQ(fast.verdict, Verdict::kOk);
  EXPECT_NE(exact.image, fast.image);
}

TEST(SimCompiler, TheSameSourceGivesTheSameImage) {
  const std::string source = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }";
  EXPECT_EQ(SimBench::Compile(source, {"k"}).image, SimBench::Compile(source, {"k"}).image);
}

TEST(SimCompiler, WithoutCutlassCuteIsUnsupportedAndSaysWhatToDo) {
  TranslationUnit unit;
  unit.file = "c.cu";
  unit.include_set = "cute";
  SimCompilerOptions options;
  options.cute.absent = "install it";
  const CompiledModule module = MakeSimCompiler(options).value()->Compile(unit).value();
  EXPECT_EQ(module.verdict, Verdict::kUnsupported);
  EXPECT_EQ(module.digest, "the simulated GPU has no CuTe here: install it");
}

TEST(SimCompiler, CutesHardwareOperationsAreUnsupportedByName) {
  SimCompilerOptions options;
  options.cute.cutlass = options.cute.cccl = "/nowhere";  // reported before any header is read
  const std::unique_ptr<Compiler> compiler = MakeSimCompiler(options).value();
  TranslationUnit unit;
  unit.file = "c.cu";
  unit.include_set = "cute";
  for (const char* name : {"SM80_16x8x16_F32BF16BF16F32_TN", "SM90_TMA_LOAD_2D", "GMMA", "warpgroup_arrive", "cluster_sync", "arch::fence"}) {
    unit.body = fmt::format("// not SM75_U32x4_LDSM_N\n/* nor UMMA */ int arch; using Atom = {};\n", name);
    const CompiledModule module = compiler->Compile(unit).value();
    EXPECT_EQ(module.verdict, Verdict::kUnsupported);
    const std::string word = std::string(name).substr(0, std::string(name).find(':'));
    EXPECT_NE(module.digest.find(fmt::format("'{}'", word)), std::string::npos) << module.digest;
  }
}

TEST(ElfSymbols, RefuseWhatIsNoElf) {
  EXPECT_FALSE(sim::ReadElfSymbols("").ok());
  EXPECT_FALSE(sim::ReadElfSymbols(std::string(64, 'x')).ok());
  // Every prefix of a valid image is either refused or read within its bounds.
  const CompiledModule module = SimBench::Compile("__global__ void k(float* y) { y[0] = 1; }", {"k"});
  for (size_t n = 0; n < module.image.size(); n += 97) (void)sim::ReadElfSymbols(std::string_view(module.image).substr(0, n));
  std::string broken = module.image;
  for (size_t i = 40; i < 64; ++i) broken[i] = static_cast<char>(0xff);
  EXPECT_FALSE(sim::ReadElfSymbols(broken).ok());
}

}  // namespace
}  // namespace hone
