// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that Solutions have the fields that the schemas of FlashInfer-Bench and SOL-ExecBench document.
#include "tuner/interop/write/flashinfer_solution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTask[] = R"(
name = "pick"
summary = "x where the mask says so"
class = "gather"
[dims]
batch = "rows"
stride_size = "columns"
[[tensor]]
name = "offsets"
role = "in"
dtype = "int32"
shape = ["batch + 1"]
values = { distribution = "offsets", bound = "stride_size" }
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["stride_size"]
[[tensor]]
name = "mask"
role = "in"
dtype = "uint8"
shape = ["stride_size"]
values = { distribution = "index", bound = 2 }
[[scalar]]
name = "scale"
value = 2.0
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["stride_size"]
[reference]
kind = "torch"
inputs = ["scale", "x", 3, "offsets", "mask"]
outputs = ["y"]
definition = "pick_rows"
[tolerance.y]
c_max = 1e-5
c_rms = 1e-6
[[case]]
role = "time"
dims = { batch = 4, stride_size = 64 }
[[case]]
role = "check"
dims = { batch = 2, stride_size = 3 }
)";

constexpr char kKernel[] = R"cu(/*hone
[[launch]]
kernel = "pick"
grid   = ["ceil_div(stride_size, 64)"]
block  = ["64"]
args   = ["offsets", "x", "mask", "scale:f32", "y", "stride_size:i64"]
*/
__global__ void pick(const int* offsets, const float* x, const unsigned char* mask, float scale, float* y, long long n) {
  const long long i = blockIdx.x * 64LL + threadIdx.x;
  if (i < n) y[i] = mask[i] ? scale * x[i] : offsets[0];
}
)cu";

TEST(FlashInferSolution, HoldsTheSchemasFieldsAndTheDefinitionsInterface) {
  const Result<Task> task = ParseTask(kTask, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const Result<KernelPackage> package = MakeFilePackage(*task, kKernel, "fast-pick.cu");
  ASSERT_TRUE(package.ok()) << package.status().message();
  const Result<GeneratedFile> file = FlashInferSolution(*package);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->name, "pick_solution.json");
  const json solution = json::parse(file->text);
  EXPECT_EQ(solution["name"], "hone_pick_fast_pick");
  EXPECT_EQ(solution["definition"], "pick_rows");
  EXPECT_FALSE(solution["author"].get<std::string>().empty());
  const json& spec = solution["spec"];
  EXPECT_EQ(spec["language"], "cuda");
  EXPECT_EQ(spec["binding"], "torch");
  EXPECT_EQ(spec["destination_passing_style"], true);
  EXPECT_FALSE(spec["target_hardware"].empty());
  ASSERT_EQ(solution["sources"].size(), 1u);
  const std::string path = solution["sources"][0]["path"], entry = spec["entry_point"];
  ASSERT_TRUE(entry.starts_with(path + "::")) << "the entry's file is among the sources";
  const std::string source = solution["sources"][0]["content"];
  EXPECT_THAT(source, HasSubstr("m.def(\"" + entry.substr(path.size() + 2) + "\""));
  EXPECT_THAT(source, HasSubstr("void hone_entry(double scale, torch::Tensor x, double number2, torch::Tensor offsets, "
                                "torch::Tensor mask, torch::Tensor y)"))
      << "the definition's inputs in its order, then the outputs";
  EXPECT_THAT(source, HasSubstr("TORCH_CHECK(number2 == 3,"));
  EXPECT_THAT(source, HasSubstr("if (mask.element_size() == 1) mask = mask.view(torch::kUInt8);"));
  EXPECT_THAT(source, HasSubstr("pick_out(y, offsets, x, mask, scale, offsets.size(0) - 1);"))
      << "batch is read off offsets";
  EXPECT_THAT(source, Not(HasSubstr("#include \"hone_"))) << "one file, which builds alone";
}

TEST(FlashInferSolution, WhatItCannotCarryIsRefused) {
  const Task task = ParseTask(kTask, "task.toml").value();
  std::string kernel = kKernel;
  kernel.insert(kernel.find("[[launch]]"), "options = [\"--use_fast_math\"]\n");
  const Result<KernelPackage> package = MakeFilePackage(task, kernel, "fast.cu");
  ASSERT_TRUE(package.ok()) << package.status().message();
  EXPECT_THAT(FlashInferSolution(*package).status().message(),
              HasSubstr("--use_fast_math, and a Solution names no compiler options"));
}

TEST(SolExecBenchSolution, NamesItsLanguagesAndTheOptionsThatItWasJudgedWith) {
  const Task task = ParseTask(kTask, "task.toml").value();
  const auto spec_of = [&](const std::string& kernel) {
    const Result<KernelPackage> package = MakeFilePackage(task, kernel, "fast.cu");
    EXPECT_TRUE(package.ok()) << package.status().message();
    const Result<GeneratedFile> file = SolExecBenchSolution(*package);
    EXPECT_TRUE(file.ok()) << file.status().message();
    const json solution = json::parse(file->text);
    EXPECT_EQ(solution["definition"], "pick_rows");
    EXPECT_FALSE(solution["spec"].contains("language")) << "FlashInfer-Bench's field";
    return solution["spec"];
  };
  const json spec = spec_of(kKernel);
  EXPECT_EQ(spec["languages"], json({"cuda_cpp"}));
  EXPECT_EQ(spec["target_hardware"], json({"LOCAL"}));
  EXPECT_EQ(spec["entry_point"], "kernel.cu::run");
  EXPECT_EQ(spec["compile_options"]["cuda_cflags"], json({"-O3"})) << "not the board's --use_fast_math";
  std::string fast = kKernel;
  fast.insert(fast.find("[[launch]]"), "options = [\"--use_fast_math\"]\n");
  EXPECT_EQ(spec_of(fast)["compile_options"]["cuda_cflags"], json({"-O3", "--use_fast_math"}));
}

}  // namespace
}  // namespace hone
