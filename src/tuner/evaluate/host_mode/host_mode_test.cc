// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run host mode on the CPU: g++ takes the place of nvcc (with the same compiler class, entry and loader),
// and the sandboxed worker is a fork. Where nvcc is installed, a candidate with a kernel is compiled too.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tuner/evaluate/host_mode/host_entry.h"
#include "tuner/evaluate/host_mode/host_library.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

HostModeCompilerOptions Gcc() {
  HostModeCompilerOptions options;
  options.command = {"/usr/bin/g++", "-shared", "-fPIC", "-std=c++17", "-O1", "-x", "c++"};
  options.prelude = "typedef struct CUstream_st* cudaStream_t;\n";
  options.tool_paths = {"/usr/bin", "/usr/lib/gcc", "/usr/libexec/gcc"};
  return options;
}

TranslationUnit Unit(const std::string& source) {
  TranslationUnit unit;
  unit.file = "candidate.cu";
  unit.body = "#line 1 \"candidate.cu\"\n" + source;
  unit.kernels = {"run"};
  return unit;
}

#define SKIP_WITHOUT_GCC() \
  if (!FileExists("/usr/bin/g++")) GTEST_SKIP() << "/usr/bin/g++ is not installed"

CompiledModule CompileWithGcc(const std::string& source, HostModeCompilerOptions options = Gcc()) {
  const auto module = MakeHostModeCompiler(std::move(options))->Compile(Unit(source));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? *module : CompiledModule();
}

TEST(HostMode, AFunctionOfAnySignatureIsCalledWithItsArguments) {
  SKIP_WITHOUT_GCC();
  const CompiledModule module = CompileWithGcc(R"(
struct alignas(64) Map { unsigned long long opaque[16]; };
extern "C" int run(const float* x, float* out, int n, double scale, bool negate, const Map map, cudaStream_t stream) {
  for (int i = 0; i < n; ++i) out[i] = (negate ? -1 : 1) * x[i] * (float)scale + (float)map.opaque[15];
  return stream == (cudaStream_t)0x1234 ? 0 : 1;
})");
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  const auto library = HostLibrary::Load(module.image);
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_THAT((*library)->parameter_bytes(), ElementsAre(8, 8, 4, 8, 1, 128));
  EXPECT_EQ((*library)->Mismatch({8, 8, 4, 8, 1, 128}), "");
  EXPECT_THAT((*library)->Mismatch({8, 8, 8, 8, 1, 128}), HasSubstr("argument 2 has 8 bytes in the plan"));
  EXPECT_THAT((*library)->Mismatch({8}), HasSubstr("takes 6"));

  const float x[3] = {1, 2, 3};
  float out[3] = {};
  const float* px = x;
  float* pout = out;
  const int n = 3;
  const double scale = 2;
  const bool negate = true;
  struct alignas(64) { unsigned long long opaque[16] = {}; } map;
  map.opaque[15] = 100;
  const std::vector<const void*> arguments = {&px, &pout, &n, &scale, &negate, &map};
  EXPECT_EQ((*library)->Call(arguments, reinterpret_cast<void*>(0x1234)), 0);
  EXPECT_THAT(out, ElementsAre(98, 96, 94));
  EXPECT_EQ((*library)->Call(arguments, nullptr), 1);
}

TEST(HostMode, VoidFunctionsSucceedAndExceptionsAreTold) {
  SKIP_WITHOUT_GCC();
  const CompiledModule module = CompileWithGcc("extern \"C\" void run(int n, cudaStream_t) { if (n > 1) throw n; }");
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  const auto library = HostLibrary::Load(module.image);
  ASSERT_TRUE(library.ok());
  int n = 1;
  EXPECT_EQ((*library)->Call({&n}, nullptr), 0);
  n = 2;
  EXPECT_EQ((*library)->Call({&n}, nullptr), kHostCallThrew);
}

TEST(HostMode, WrongFunctionsAreCompileErrorsWithTheirReason) {
  SKIP_WITHOUT_GCC();
  EXPECT_THAT(CompileWithGcc("extern \"C\" void other(cudaStream_t) {}").digest, HasSubstr("run"));
  EXPECT_THAT(CompileWithGcc("extern \"C\" void run() {}").digest, HasSubstr("must be the stream"));
  EXPECT_THAT(CompileWithGcc("extern \"C\" void run(int& n, cudaStream_t) {}").digest, HasSubstr("not references"));
  const CompiledModule broken = CompileWithGcc("extern \"C\" void run(cudaStream_t) {\n  missing = 1;\n}");
  EXPECT_EQ(broken.verdict, Verdict::kCompileError);
  EXPECT_THAT(broken.digest, HasSubstr("candidate.cu:2"));
  EXPECT_THAT(broken.digest, Not(HasSubstr("/tmp/")));
}

TEST(HostMode, TheCompilerReadsNothingOutsideAndSaysNothingOfIt) {
  SKIP_WITHOUT_GCC();
  if (ProbeSandbox().landlock_abi == 0) GTEST_SKIP() << "this kernel has no Landlock";
  auto directory = MakeTemporaryDirectory();
  const std::string secret = *directory / "secret";
  ASSERT_TRUE(WriteFileAtomically(secret, "the_secret_text\n").ok());
  const std::string function = "\nextern \"C\" void run(cudaStream_t) {}\n";
  for (const std::string& attempt : {"#include \"" + secret + "\"", std::string("#include \"/etc/passwd\""),
                                     "__asm__(\".incbin \\\"" + secret + "\\\"\");", std::string("__asm__(\".incbin \\\"/etc/passwd\\\"\");")}) {
    const CompiledModule module = CompileWithGcc(attempt + function);
    EXPECT_EQ(module.verdict, Verdict::kCompileError) << attempt;
    EXPECT_THAT(module.log, Not(HasSubstr("the_secret_text")));
    EXPECT_THAT(module.log, Not(HasSubstr("root:")));
  }
}

TEST(HostMode, ACompileHasATimeLimit) {
  SKIP_WITHOUT_GCC();
  HostModeCompilerOptions options = Gcc();
  options.limit_seconds = 2;  // ends a compile that would take hours
  const CompiledModule module = CompileWithGcc(R"(
template <int N, int M> struct Bomb { static constexpr int v = Bomb<N - 1, 2 * M>::v + Bomb<N - 1, 2 * M + 1>::v; };
template <int M> struct Bomb<0, M> { static constexpr int v = 1; };
extern "C" int run(cudaStream_t) { return Bomb<28, 1>::v; })", options);
  EXPECT_EQ(module.verdict, Verdict::kCompileError);
  EXPECT_THAT(module.digest, HasSubstr("timed out"));
}

TEST(HostMode, WhatIsNoLibraryDoesNotLoad) {
  EXPECT_EQ(HostLibrary::Load("not a library").status().code(), StatusCode::kInvalidArgument);
  SKIP_WITHOUT_GCC();
  const CompiledModule undefined = CompileWithGcc("extern \"C\" void not_there(); extern \"C\" void run(cudaStream_t) { not_there(); }");
  ASSERT_EQ(undefined.verdict, Verdict::kOk) << "a shared library may leave symbols open";
  EXPECT_THAT(HostLibrary::Load(undefined.image).status().message(), HasSubstr("not_there"));
}

// The library itself is confined: even its static initialisers cannot read, write, connect or start anything.
TEST(HostMode, AConfinedWorkerLoadsItAndItGetsNowhere) {
  SKIP_WITHOUT_GCC();
  const SandboxReport report = ProbeSandbox();
  if (report.landlock_abi == 0 || !report.seccomp) GTEST_SKIP() << "this kernel lacks Landlock or seccomp";
  const CompiledModule module = CompileWithGcc(R"(
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
static int started = open("/etc/passwd", O_RDONLY);
extern "C" int run(int* results, cudaStream_t) {
  results[0] = started >= 0;
  results[1] = open("/etc/hostname", O_RDONLY) >= 0;
  results[2] = open("/tmp/hone-host-mode-escape", O_WRONLY | O_CREAT, 0600) >= 0;
  results[3] = socket(AF_INET, SOCK_STREAM, 0) >= 0;
  const int pid = fork();
  if (pid == 0) _exit(0);
  results[4] = pid > 0;
  results[5] = kill(getppid(), 0) == 0;
  static char shell[] = "/bin/sh";
  char* const argv[] = {shell, nullptr};
  results[6] = 0;
  execv(shell, argv);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", static_cast<int>(getppid()));
  results[7] = open(path, O_RDONLY) >= 0;
  return 0;
})");
  ASSERT_EQ(module.verdict, Verdict::kOk) << module.digest;
  const auto sandbox = Sandbox::Prepare(HostModeWorkerPolicy("/proc/self/exe", "", ""));
  ASSERT_TRUE(sandbox.ok()) << sandbox.status().message();
  const pid_t pid = fork();
  if (pid == 0) {
    if (sandbox->Enter().step != nullptr) _exit(101);
    const auto library = HostLibrary::Load(module.image);
    if (!library.ok()) _exit(102);
    int results[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int* argument = results;
    if ((*library)->Call({&argument}, nullptr) != 0) _exit(103);
    int escaped = 0;
    for (int i = 0; i < 8; ++i) escaped |= results[i] != 0 ? 1 << i : 0;
    _exit(escaped & 0xff);
  }
  int raw = 0;
  ASSERT_EQ(waitpid(pid, &raw, 0), pid);
  ASSERT_TRUE(WIFEXITED(raw)) << "signal " << WTERMSIG(raw);
  EXPECT_EQ(WEXITSTATUS(raw), 0) << "each bit is a way out (101 to 103: it did not run)";
}

TEST(HostMode, NvccMakesALibraryWithAKernelInIt) {
  const auto options = NvccHostMode("", "sm_90a", "/usr/local/bin:/usr/bin:/bin");
  if (!options.ok()) GTEST_SKIP() << options.status().message();
  const auto module = MakeHostModeCompiler(*options)->Compile(Unit(R"(
__global__ void twice(const __half* x, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hadd(x[i], x[i]);
}
extern "C" cudaError_t run(const __half* x, __half* out, int n, cudaStream_t stream) {
  if (n > 0) twice<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
  return cudaGetLastError();
})"));
  ASSERT_TRUE(module.ok()) << module.status().message();
  ASSERT_EQ(module->verdict, Verdict::kOk) << module->digest << module->log;
  const auto library = HostLibrary::Load(module->image);
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_THAT((*library)->parameter_bytes(), ElementsAre(8, 8, 4));
}

}  // namespace
}  // namespace hone
