// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every step of the ladder is a candidate for matmul_bf16 that compiles as a user's would: plan parsed and typed,
// through the real NVRTC with the include set's precompiled header. And what a plan's tensor map may be given to.
// Compiling needs NVRTC, and for the steps with CuTe CUTLASS's headers; no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLadder = std::string(HONE_SOURCE_DIR) + "/examples/cute_ladder";

Task Matmul() {
  auto task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/matmul_bf16");
  EXPECT_TRUE(task.ok()) << task.status().message();
  return *task;
}

// The .cu files of the ladder, or of a folder of it ("plain/"), by name.
std::vector<std::string> Steps(const std::string& folder) {
  std::vector<std::string> steps;
  for (const auto& entry : std::filesystem::directory_iterator(kLadder + "/" + folder)) {
    if (entry.path().extension() == ".cu") steps.push_back(folder + entry.path().filename().string());
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Candidate Step(const Task& task, const std::string& name) {
  const auto source = ReadFile(kLadder + "/" + name);
  EXPECT_TRUE(source.ok()) << source.status().message();
  auto candidate = ParseCandidate(*source, name, task);
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return *candidate;
}

TEST(CuteLadder, IsALadderOfCandidatesThatServeEveryShape) {
  const Task task = Matmul();
  const std::vector<std::string> steps = Steps("");
  ASSERT_EQ(steps.size(), 8u);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].substr(0, 3), "0" + std::to_string(i + 1) + "_");
    const Candidate candidate = Step(task, steps[i]);
    EXPECT_EQ(candidate.plan.include_set, i == 0 ? "" : "cute") << steps[i];
    EXPECT_FALSE(candidate.plan.entries.back().when.has_value())
        << steps[i] << ": the last alternative serves the rest";
  }
  for (const std::string& plain : Steps("plain/")) EXPECT_EQ(Step(task, plain).plan.include_set, "") << plain;
  for (const std::string& other : Steps("algebra/")) EXPECT_EQ(Step(task, other).plan.include_set, "cute") << other;
}

class CuteLadderCompile : public ::testing::Test {
 protected:
  // False, with the test skipped, where something is missing.
  bool Make(const std::string& architecture) {
    const auto cutlass = FindCutlassHeaders(HONE_CUTLASS_INCLUDE);
    NvrtcCompilerOptions options;
    options.architecture = architecture;
    if (cutlass.ok()) options.cutlass_include = cutlass->include;
    auto made = MakeNvrtcCompiler(options);
    const std::string missing = !made.ok() ? made.status().message() : !cutlass.ok() ? cutlass.status().message() : "";
    if (missing.empty()) {
      compiler_ = std::move(*made);
      return true;
    }
    [&] { GTEST_SKIP() << missing; }();
    return false;
  }
  // The one module of a candidate's default tunables.
  CompiledModule Compile(const Candidate& candidate) {
    const auto program = CompileCandidate(*compiler_, candidate, task_, {}, false, 1);
    EXPECT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(program->modules.size(), 1u);
    return program->modules.begin()->second;
  }
  CompiledModule Compile(const std::string& plan, const std::string& code) {
    auto candidate = ParseCandidate("/*hone\n" + plan + "*/\n#include <cute/tensor.hpp>\n" + code, "maps.cu", task_);
    EXPECT_TRUE(candidate.ok()) << candidate.status().message();
    return Compile(*candidate);
  }
  const Task task_ = Matmul();
  std::unique_ptr<NvrtcCompiler> compiler_;
};

TEST_F(CuteLadderCompile, EveryStepCompilesForHopperWithoutSpills) {
  if (!Make("sm_90a")) return;
  for (const std::string& step : Steps("")) {
    const CompiledModule module = Compile(Step(task_, step));
    ASSERT_EQ(module.verdict, Verdict::kOk) << step << "\n" << module.digest;
    EXPECT_TRUE(module.pch_used) << step;
    for (const KernelResources& kernel : module.resources)
      EXPECT_EQ(kernel.spill_bytes, 0) << step << " " << kernel.kernel;
    if (step >= "03") {
      EXPECT_THAT(module.labels, Contains("tensor_bf16")) << step;
    }
    // wgmma whose accumulators the compiler had to wait for one by one.
    EXPECT_THAT(module.log, Not(HasSubstr("serialized"))) << step;
  }
  EXPECT_EQ(compiler_->counters().pch_misses, 0);
}

TEST_F(CuteLadderCompile, TheStepsWithoutHopperCompileForAmpere) {
  if (!Make("sm_80")) return;
  for (const std::string& step : Steps("")) {
    if (step >= "06" || step < "03") continue;  // what has no tensor cores is the same for both
    const CompiledModule module = Compile(Step(task_, step));
    ASSERT_EQ(module.verdict, Verdict::kOk) << step << "\n" << module.digest;
    if (step >= "03") {
      EXPECT_THAT(module.labels, Contains("tensor_bf16")) << step;
    }
  }
}

// A plan that passes one map, and a kernel that takes `parameter`.
std::string MapPlan() {
  return R"([[tensor_map]]
name = "a_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k * 2"]
box = ["64", "64"]
swizzle = "128B"
[[launch]]
kernel = "k"
grid = ["1"]
block = ["128"]
args = ["tensormap:a_map", "c"]
)";
}
std::string MapKernel(const std::string& parameter) {
  return R"(
struct Small { char bytes[64]; };
__global__ void k()" +
         parameter + R"( map, cute::bfloat16_t* c) {
  __shared__ alignas(1024) cute::bfloat16_t tile[64 * 64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    cutlass::arch::ClusterTransactionBarrier::init(&barrier, 1);
    cutlass::arch::ClusterTransactionBarrier::arrive_and_expect_tx(&barrier, sizeof(tile));
    cute::SM90_TMA_LOAD_2D::copy((const void*)&map, &barrier, uint64_t(cute::TMA::CacheHintSm90::EVICT_NORMAL), tile, 0, 0);
  }
  __syncthreads();
  cutlass::arch::ClusterTransactionBarrier::wait(&barrier, 0);
  c[threadIdx.x] = tile[threadIdx.x];
}
)";
}

TEST_F(CuteLadderCompile, APlansTensorMapReachesACuteKernelAsItsDescriptor) {
  if (!Make("sm_90a")) return;
  for (const char* accepted : {"const __grid_constant__ CUtensorMap", "const __grid_constant__ cute::TmaDescriptor",
                               "CUTE_GRID_CONSTANT cute::TmaDescriptor const"}) {
    const CompiledModule module = Compile(MapPlan(), MapKernel(accepted));
    EXPECT_EQ(module.verdict, Verdict::kOk) << accepted << "\n" << module.digest;
  }
  for (const char* refused : {"const CUtensorMap*", "const __grid_constant__ Small", "const void*"}) {
    const CompiledModule module = Compile(MapPlan(), MapKernel(refused));
    EXPECT_EQ(module.verdict, Verdict::kCompileError) << refused;
    EXPECT_THAT(module.digest, AllOf(HasSubstr("a_map"), HasSubstr("const __grid_constant__ CUtensorMap"))) << refused;
  }
}

}  // namespace
}  // namespace hone
