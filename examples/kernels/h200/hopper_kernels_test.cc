// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the kernels for Hopper that the simulated GPU cannot run (wgmma, TMA, clusters) compile as a user's would:
// the plan is parsed, and NVRTC compiles it. Matrix products must have no spills, and no products for which the
// compiler had to wait one by one. Needs NVRTC but no GPU.
//
// A file here may be a template of the folder above with its tunables bound. The test checks that it still is: the same
// code, the same kernels with the same arguments, the same workspaces. A template that is changed needs a new file here
// (h200/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "base/files/file.h"
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
    // The other kernels are judged on the simulated GPU. fused_add_rmsnorm is too, except for its clusters.
    const bool product = name.rfind("matmul", 0) == 0 || name.rfind("fp8", 0) == 0;
    if (!product && name.rfind("fused_add_rmsnorm", 0) != 0) continue;
    ++kernels;
    const auto task = LoadTask(kRoot + "/tasks/" + name.substr(0, name.find('.')));
    ASSERT_TRUE(task.ok()) << task.status().message();
    const auto source = ReadFile(entry.path().string());
    ASSERT_TRUE(source.ok()) << source.status().message();
    const auto candidate = ParseCandidate(*source, name, *task);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    const auto program = CompileCandidate(**compiler, *candidate, *task, {}, 1);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const auto& [key, module] : program->modules) {
      ASSERT_EQ(module.verdict, Verdict::kOk) << name << "\n" << module.digest;
      for (const KernelResources& kernel : module.resources) {
        // Registers are reallocated between warps after the start (setmaxnreg), so a word or two spilled before that
        // costs nothing.
        if (product) {
          EXPECT_LE(kernel.spill_bytes, 16) << name << " " << kernel.kernel;
        }
      }
      EXPECT_THAT(module.log, Not(HasSubstr("serialized"))) << name;
    }
  }
  EXPECT_EQ(kernels, 5);
}

// Returns the text that follows the plan.
std::string CodeOf(const std::string& source) { return source.substr(source.find("*/", source.find("/*hone"))); }

// Returns "line of a <> line of b" for the first difference; empty if all lines are the same.
std::string FirstDifference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string line_a, line_b;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(lines_a, line_a));
    const bool more_b = static_cast<bool>(std::getline(lines_b, line_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || line_a != line_b) return line_a + " <> " + line_b;
  }
}

// Returns "kernel(x, weight, out)" for each kernel, without its template arguments; integer arguments have no value.
std::set<std::string> KernelsOf(const LaunchPlan& plan) {
  std::set<std::string> kernels;
  for (const PlanEntry& entry : plan.entries) {
    std::string kernel = entry.kernel.substr(0, entry.kernel.find('<')) + "(";
    for (const Argument& argument : entry.args) kernel += (argument.name.empty() ? "integer" : argument.name) + ",";
    kernels.insert(kernel + ")");
  }
  return kernels;
}

std::set<std::string> WorkspacesOf(const LaunchPlan& plan) {
  std::set<std::string> workspaces;
  for (const WorkspaceSpec& w : plan.workspaces) {
    workspaces.insert(w.name + " " + w.bytes.text() + (w.zero_on_entry ? " zero" : ""));
  }
  return workspaces;
}

TEST(HopperKernels, TunedFilesAreTheirTemplatesWithBindings) {
  const std::string folder = kRoot + "/examples/kernels/";
  int tuned_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "h200")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".cu") continue;
    const auto tuned_source = ReadFile(entry.path().string());
    ASSERT_TRUE(tuned_source.ok()) << tuned_source.status().message();
    // Other files are written for Hopper alone, and are no bound templates.
    if (tuned_source->find("examples/kernels/" + name + " with") == std::string::npos) continue;
    ++tuned_files;
    const auto template_source = ReadFile(folder + name);
    ASSERT_TRUE(template_source.ok()) << template_source.status().message();
    EXPECT_EQ(FirstDifference(CodeOf(*tuned_source), CodeOf(*template_source)), "")
        << "examples/kernels/h200/" << name << " is no longer the code of examples/kernels/" << name;

    const auto task = LoadTask(kRoot + "/tasks/" + name.substr(0, name.find('.')));
    ASSERT_TRUE(task.ok()) << task.status().message();
    const auto tuned = ParseCandidate(*tuned_source, "h200/" + name, *task);
    const auto from = ParseCandidate(*template_source, name, *task);
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    ASSERT_TRUE(from.ok()) << from.status().message();
    EXPECT_EQ(KernelsOf(tuned->plan), KernelsOf(from->plan)) << name;
    EXPECT_EQ(WorkspacesOf(tuned->plan), WorkspacesOf(from->plan)) << name;
  }
  EXPECT_EQ(tuned_files, 13);
}

}  // namespace
}  // namespace hone
