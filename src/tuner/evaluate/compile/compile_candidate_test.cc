// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compile a candidate's text to a program: every module that the plan needs and no other. The seeds of the
// shipped tasks are compiled with the real NVRTC; those tests are skipped, with the reason, where it is not installed.
#include "tuner/evaluate/compile/compile_candidate.h"

#include <atomic>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tasks/linted_tasks.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// This compiler returns the unit's own text as the image, and refuses units whose text asks for that.
class EchoCompiler : public Compiler {
 public:
  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    ++compiles;
    if (unit.body.find("REFUSE_VEC 8") != std::string::npos) return Status::Unavailable("no compiler today");
    CompiledModule module;
    module.image = unit.body;
    for (const std::string& kernel : unit.kernels) module.lowered[kernel] = kernel;
    return module;
  }
  std::string Fingerprint() const override { return "echo"; }
  std::atomic<int> compiles{0};
};

constexpr const char* kTask = R"(
name = "twice"
summary = "y = 2 x"
class = "elementwise"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["n"]
[tolerance.y]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "check"
dims = { n = 100 }
)";

Result<Task> TwiceTask() { return ParseTask(kTask, "task.toml"); }

TEST(CompileCandidate, CompilesOneModulePerBindingThePlanNeeds) {
  const auto task = TwiceTask();
  ASSERT_TRUE(task.ok()) << task.status().message();
  const auto candidate = ParseCandidate(R"(/*hone
[tune]
VEC = [4, 8]
[[launch]]
kernel = "k<VEC>"
grid = ["1"]
block = ["32"]
args = ["x", "y", "n:i32"]
when = "n > 10"
[[launch]]
kernel = "k<VEC>"
grid = ["1"]
block = ["32"]
args = ["x", "y", "n:i32"]
with = { VEC = 8 }
*/
template <int V> __global__ void k(const float* x, float* y, int n) {}
)", "twice.cu", *task);
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  EchoCompiler compiler;
  const auto program = CompileCandidate(compiler, *candidate, *task, {}, 4);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(compiler.compiles, 2);
  std::vector<std::string> keys;
  for (const auto& [key, module] : program->modules) keys.push_back(key);
  EXPECT_THAT(keys, UnorderedElementsAre("VEC=4", "VEC=8"));
  EXPECT_TRUE(program->modules.at("VEC=8").lowered.contains("k<8>"));
  EXPECT_THAT(program->modules.at("VEC=4").image, HasSubstr("HONE_TUNE_VEC 4"));

  // With the tunable overridden both entries share one module.
  EXPECT_EQ(CompileCandidate(compiler, *candidate, *task, {{"VEC", 8}}, 4)->modules.size(), 1u);
}

TEST(CompileCandidate, AFailingCompilerIsToldOnce) {
  const auto task = TwiceTask();
  ASSERT_TRUE(task.ok());
  const auto candidate = ParseCandidate(R"(/*hone
[[launch]]
kernel = "k"
grid = ["1"]
block = ["32"]
args = ["x", "y", "n:i32"]
*/
#define REFUSE_VEC 8
__global__ void k(const float* x, float* y, int n) {}
)", "twice.cu", *task);
  ASSERT_TRUE(candidate.ok());
  EchoCompiler compiler;
  const auto program = CompileCandidate(compiler, *candidate, *task, {}, 2);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().message(), "no compiler today");
}

TEST(CompileCandidate, NoCompilerIsGivenADirectiveThatNamesAFileOfTheHost) {
  const auto task = TwiceTask();
  ASSERT_TRUE(task.ok());
  const auto candidate = ParseCandidate(R"(/*hone
[[launch]]
kernel = "k"
grid = ["1"]
block = ["32"]
args = ["x", "y", "n:i32"]
*/
__global__ void k(const float* x, float* y, int n) {}
%:include "/etc/passwd"
)", "twice.cu", *task);
  ASSERT_TRUE(candidate.ok());
  EchoCompiler compiler;
  const auto program = CompileCandidate(compiler, *candidate, *task, {}, 2);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(compiler.compiles, 0);
  ASSERT_EQ(program->modules.size(), 1u);
  EXPECT_EQ(program->modules.begin()->second.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(program->modules.begin()->second.digest, HasSubstr("'/etc/passwd': a candidate may include the toolkit's headers by name only"));
}

// `make test` compiles those of tasks that have changed since the linter passed them, and of three others.
TEST(CompileCandidate, EveryShippedSeedAndOracleCompiles) {
  NvrtcCompilerOptions options;
  options.architecture = "sm_90a";
  auto compiler = MakeNvrtcCompiler(options);
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  int compiled = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/tasks")) {
    if (!std::filesystem::exists(entry.path() / "task.toml") || !IsTestedWhole(entry.path().filename())) continue;
    const auto task = LoadTask(entry.path());
    ASSERT_TRUE(task.ok()) << task.status().message();
    for (const bool is_oracle : {true, false}) {
      const std::string& source = is_oracle ? task->oracle_source : task->seed_source;
      if (source.empty()) continue;
      const std::string name = task->name + (is_oracle ? "/oracle.cu" : "/seed.cu");
      const auto candidate = ParseCandidate(source, name, *task, is_oracle);
      ASSERT_TRUE(candidate.ok()) << candidate.status().message();
      const auto program = CompileCandidate(**compiler, *candidate, *task, {}, 2);
      ASSERT_TRUE(program.ok()) << program.status().message();
      for (const auto& [key, module] : program->modules) {
        EXPECT_EQ(module.verdict, Verdict::kOk) << name << " " << key << "\n" << module.digest;
        EXPECT_TRUE(module.pch_used) << name;
        for (const KernelResources& kernel : module.resources) EXPECT_GT(kernel.registers, 0) << name;
      }
      ++compiled;
    }
  }
  EXPECT_GT(compiled, 0);
}

}  // namespace
}  // namespace hone
