// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels for Hopper that the simulated GPU does not run (wgmma, TMA, clusters) compile as a user's would: plan
// parsed and typed, through the real NVRTC, without spills and without products that the compiler made wait for each
// other. Needs NVRTC; no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRoot = HONE_SOURCE_DIR;

TEST(HopperKernels, CompileWithoutSpillsOrSerializedProducts) {
  NvrtcCompilerOptions options;
  options.architecture = "sm_90a";
  const auto compiler = MakeNvrtcCompiler(options);
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  int kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/examples/kernels/h200")) {
    const std::string name = entry.path().filename().string();
    // The others are judged on the simulated GPU (CMakeLists.txt has the same list).
    if (name.rfind("matmul", 0) != 0 && name.rfind("fused_add_rmsnorm", 0) != 0) continue;
    ++kernels;
    const auto task = LoadTask(kRoot + "/tasks/" + name.substr(0, name.find('.')));
    ASSERT_TRUE(task.ok()) << task.status().message();
    const auto source = ReadFile(entry.path().string());
    ASSERT_TRUE(source.ok()) << source.status().message();
    const auto candidate = ParseCandidate(*source, name, *task);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    const auto program = CompileCandidate(**compiler, *candidate, *task, {}, false, 1);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const auto& [key, module] : program->modules) {
      ASSERT_EQ(module.verdict, Verdict::kOk) << name << "\n" << module.digest;
      for (const KernelResources& kernel : module.resources) {
        // Registers are dealt out anew after the start; a word or two kept aside before is no loss.
        EXPECT_LE(kernel.spill_bytes, 16) << name << " " << kernel.kernel;
      }
      EXPECT_THAT(module.log, Not(HasSubstr("serialized"))) << name;
    }
  }
  EXPECT_EQ(kernels, 4);
}

}  // namespace
}  // namespace hone
