// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests [[call]] entries: the library calls that a plan may make, and their resolution for a case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/core/plan/plan_test_support.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using testing_support::H200;
using testing_support::Source;

const Task& ProductTask() {
  static const Task task = [] {
    Result<Task> parsed = ParseTask(R"(
name = "product"
summary = "for tests"
class = "gemm"
dims = { rows = "rows", inner = "terms", columns = "columns", ld = "leading dimension" }
tensor = [
  { name = "x", role = "in", dtype = "float16", shape = ["rows", "inner"] },
  { name = "w", role = "in", dtype = "float16", shape = ["columns", "inner"] },
  { name = "b", role = "in", dtype = "float16", shape = ["columns"] },
  { name = "s", role = "in", dtype = "float16", shape = ["rows", "inner"], strides = ["ld", 1] },
  { name = "f", role = "in", dtype = "float32", shape = ["columns"] },
  { name = "i", role = "in", dtype = "int32", shape = ["rows", "inner"], values = { distribution = "index", bound = "8" } },
  { name = "old", role = "in", dtype = "float16", shape = ["rows", "columns"] },
  { name = "out", role = "out", dtype = "float16", shape = ["rows", "columns"] },
]
tolerance.out = { c_max = 1e-2, c_rms = 1e-2 }
case = [ { role = "check", dims = { rows = 6, inner = 4, columns = 10, ld = 8 } } ]
)",
                                    "task.toml");
    HONE_CHECK(parsed.ok(), parsed.status().message());
    return std::move(parsed).value();
  }();
  return task;
}

// Returns a [[call]] of the linear layer out = x * w^T + b with `extra` lines, the first of which is line 12.
std::string LinearCall(const std::string& extra = "") {
  return "[[call]]\nop = \"matmul\"\na = \"x\"\nb = \"w\"\ntranspose_b = true\nout = \"out\"\nm = \"rows\"\nn = "
         "\"columns\"\nk = \"inner\"\n" +
         extra;
}

Result<Candidate> ParseCall(const std::string& plan, bool oracle = false) {
  return ParseCandidate(Source(plan), "c.cu", ProductTask(), oracle);
}
std::string CallRefusal(const std::string& plan) {
  const Result<Candidate> candidate = ParseCall(plan);
  return candidate.ok() ? "accepted" : candidate.status().message();
}
Result<ResolvedPlan> ResolveCall(const std::string& plan,
                                 const Dims& dims = {{"rows", 6}, {"inner", 4}, {"columns", 10}, {"ld", 8}},
                                 const Binding& binding = {}) {
  const Result<Candidate> candidate = ParseCall(plan);
  HONE_CHECK(candidate.ok(), candidate.status().message());
  return ResolvePlan(*candidate, ProductTask(), dims, binding, H200());
}
std::string Unresolved(const std::string& plan,
                       const Dims& dims = {{"rows", 6}, {"inner", 4}, {"columns", 10}, {"ld", 8}}) {
  const Result<ResolvedPlan> resolved = ResolveCall(plan, dims);
  return resolved.ok() ? "resolved" : resolved.status().message();
}

TEST(PlanCall, BecomesNumbersForACase) {
  const Result<ResolvedPlan> plan = ResolveCall(LinearCall("bias = \"b\"\nepilogue = \"relu\"\nalgorithm = \"3\"\n"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_FALSE(plan->steps[0].is_launch());
  const ResolvedCall& call = *plan->steps[0].call;
  EXPECT_EQ(call.m, 6);
  EXPECT_EQ(call.n, 10);
  EXPECT_EQ(call.k, 4);
  EXPECT_EQ(call.batch, 1);
  EXPECT_EQ(call.algorithm, 3);
  EXPECT_FALSE(call.transpose_a);
  EXPECT_TRUE(call.transpose_b);
  EXPECT_EQ(call.dtype, DType::kFloat16);
  EXPECT_EQ(call.epilogue, "relu");
  EXPECT_EQ(call.a.bytes, 2 * 6 * 4);
  EXPECT_EQ(call.out.bytes, 2 * 6 * 10);
  ASSERT_TRUE(call.bias);
  EXPECT_EQ(call.bias->bytes, 2 * 10);
  EXPECT_EQ(call.flops(), 2 * 6 * 10 * 4);
  EXPECT_EQ(call.Describe(), "matmul 6x10x4 float16 by cuBLASLt");
}

TEST(PlanCall, StandsInItsStepAmongLaunchesAndMemsets) {
  const std::string plan = R"([[workspace]]
name = "h"
bytes = "rows * columns * 2 + 64"
[[call]]
step = 1
op = "matmul"
a = "x"
b = "w"
transpose_b = true
out = "h + 64"
m = "rows"
n = "columns"
k = "inner"
when = "rows > 3"
[[launch]]
step = 1
kernel = "small"
grid = [1]
block = [32]
args = ["x", "w", "h"]
[[launch]]
step = 2
kernel = "after"
grid = [1]
block = [32]
args = ["h", "out"]
pdl = true
[[memset]]
target = "out"
)";
  const Result<ResolvedPlan> large = ResolveCall(plan);
  ASSERT_TRUE(large.ok()) << large.status().message();
  ASSERT_EQ(large->steps.size(), 3u);
  EXPECT_TRUE(large->steps[0].is_memset);
  ASSERT_TRUE(large->steps[1].call);
  EXPECT_EQ(large->steps[1].call->out.byte_offset, 64);
  EXPECT_EQ(large->steps[2].kernel, "after");
  EXPECT_FALSE(large->steps[2].programmatic_dependent_launch);  // no launch can depend on a library's progress
  const Result<ResolvedPlan> small = ResolveCall(plan, {{"rows", 2}, {"inner", 4}, {"columns", 10}, {"ld", 8}});
  ASSERT_TRUE(small.ok()) << small.status().message();
  EXPECT_EQ(small->steps[1].kernel, "small");
  EXPECT_EQ(LineOfCall(ParseCall(plan)->plan), 6);
  EXPECT_EQ(CompileUnits(*ParseCall(plan), {}).size(), 1u);
}

TEST(PlanCall, AloneIsAPlanWithoutAKernel) {
  const Result<Candidate> candidate = ParseCall(LinearCall());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  EXPECT_TRUE(CompileUnits(*candidate, {}).empty());
  EXPECT_TRUE(ResolveCall(LinearCall(), {{"rows", 0}, {"inner", 4}, {"columns", 10}, {"ld", 8}})->steps.empty());
}

TEST(PlanCall, SizesMayBeTunables) {
  const Result<ResolvedPlan> plan = ResolveCall("[tune]\nA = [0, 5]\n" + LinearCall("algorithm = \"A\"\n"),
                                                {{"rows", 6}, {"inner", 4}, {"columns", 10}, {"ld", 8}}, {{"A", 5}});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->steps[0].call->algorithm, 5);
}

TEST(PlanCall, RefusalsNameFieldAndRemedy) {
  EXPECT_THAT(CallRefusal("[[call]]\nop = \"matmull\"\n"), HasSubstr("c.cu:4: [[call]] #1 field 'op'"));
  EXPECT_THAT(CallRefusal("[[call]]\na = \"x\"\n"), HasSubstr("\"matmul\""));
  EXPECT_THAT(CallRefusal(LinearCall("epilogue = \"gelu\"\n")), HasSubstr("gelu_tanh"));
  EXPECT_THAT(CallRefusal(LinearCall("gird = 3\n")), HasSubstr("gird"));
  const auto with = [](const char* field, const char* name) {
    std::string plan = LinearCall();
    const size_t at = plan.find(std::string(field) + " = ");
    return plan.replace(at, plan.find('\n', at) - at, std::string(field) + " = \"" + name + "\"");
  };
  EXPECT_THAT(CallRefusal(with("a", "y")), HasSubstr("field 'a': 'y' is not a tensor or workspace"));
  EXPECT_THAT(CallRefusal(with("a", "rows:i32")), HasSubstr("expected a tensor or a workspace"));
  EXPECT_THAT(CallRefusal(with("a", "s")), HasSubstr("has strides of its own; a call takes dense row-major memory"));
  EXPECT_THAT(CallRefusal(with("a", "i")), HasSubstr("'i' has int32; a call takes float32, float16 or bfloat16"));
  EXPECT_THAT(CallRefusal(LinearCall("bias = \"f\"\n")), HasSubstr("what a call reads and writes has one dtype"));
  EXPECT_THAT(CallRefusal(LinearCall("dtype = \"float32\"\n")), HasSubstr("'dtype' says float32"));
  EXPECT_THAT(CallRefusal(with("out", "old")), HasSubstr("is an input and must not be changed"));
  EXPECT_THAT(CallRefusal(with("b", "out")),
              HasSubstr("shares its memory with 'out', which the same call reads as 'b'"));
  EXPECT_THAT(
      CallRefusal(
          "[[workspace]]\nname = \"h\"\nbytes = 100\n[[call]]\nop = \"matmul\"\na = \"h\"\nb = \"h\"\nout = \"h\"\n"),
      HasSubstr("everything is a workspace, so say"));
  std::string no_k = LinearCall();
  no_k.resize(no_k.find("k = "));
  EXPECT_THAT(CallRefusal(no_k), HasSubstr("an expression for the terms of each sum"));
  EXPECT_THAT(CallRefusal(with("k", "iner")), HasSubstr("did you mean 'inner'"));
  EXPECT_THAT(CallRefusal(LinearCall() + LinearCall()), HasSubstr("[[call]]: can never run"));
  EXPECT_THAT(CallRefusal(with("out", "h") + "[[workspace]]\nname = \"h\"\nbytes = 1000\n"),
              HasSubstr("the output 'out' is passed to no kernel"));
  const Result<Candidate> oracle = ParseCall(LinearCall(), true);
  ASSERT_FALSE(oracle.ok());
  EXPECT_THAT(oracle.status().message(), HasSubstr("an oracle computes in double precision"));
}

TEST(PlanCall, WhatDoesNotFitIsTheCandidatesFault) {
  EXPECT_THAT(Unresolved(LinearCall("batch = \"2\"\n")),
              HasSubstr("c.cu:3: [[call]] field 'a': batch * m * k is 48 elements for"));
  EXPECT_THAT(Unresolved(LinearCall("batch = \"2\"\n")),
              HasSubstr("'x' has 24; check m, n, k, batch and the transposes"));
  EXPECT_THAT(Unresolved(LinearCall(), {{"rows", 6}, {"inner", 0}, {"columns", 10}, {"ld", 8}}),
              HasSubstr("a sum of no terms"));
  EXPECT_THAT(Unresolved(LinearCall("algorithm = \"32\"\n")), HasSubstr("the library is asked for 32 at most"));
  EXPECT_THAT(Unresolved(LinearCall("batch = \"rows - 7\"\n")), HasSubstr("is negative (-1)"));
  const auto of_workspace = [](const std::string& a, const std::string& out) {
    return "[[workspace]]\nname = \"h\"\nbytes = 400\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = "
           "[\"out\"]\n[[call]]\nstep = 1\nop = \"matmul\"\na = \"" +
           a + "\"\nb = \"w\"\ntranspose_b = true\nout = \"" + out +
           "\"\nm = \"rows\"\nn = \"columns\"\nk = \"inner\"\n";
  };
  EXPECT_EQ(Unresolved(of_workspace("h", "h + 48")), "resolved");
  EXPECT_THAT(Unresolved(of_workspace("h", "h + 46")), HasSubstr("it overlaps what the call reads of 'h'"));
  EXPECT_THAT(Unresolved(of_workspace("h + 1", "h + 200")), HasSubstr("no multiple of a float16 of 2 bytes"));
  EXPECT_THAT(Unresolved(of_workspace("h", "h + 300")), HasSubstr("'h' has 50 behind the offset"));
  EXPECT_THAT(Unresolved(of_workspace("h", "h + 500")), HasSubstr("outside of 'h' with its 400 bytes"));
  // Without an offset, an operand is the whole tensor.
  EXPECT_THAT(Unresolved("[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"out\"]\n[[workspace]]\nname = "
                         "\"h\"\nbytes = 400\n[[call]]\nstep = 1\nop = \"matmul\"\na = \"x\"\nb = \"w\"\n"
                         "transpose_b = true\nout = \"h\"\nm = \"2\"\nn = \"columns\"\nk = \"inner\"\n"),
              HasSubstr("'x' has 24"));
}

const Task& ImageTask() {
  static const Task task = [] {
    Result<Task> parsed = ParseTask(R"(
name = "images"
summary = "for tests"
class = "convolution"
dims = { batch = "images", channels = "of the input", filters = "of out", height = "rows", width = "columns" }
tensor = [
  { name = "x", role = "in", dtype = "float32", shape = ["batch", "channels", "height", "width"] },
  { name = "w", role = "in", dtype = "float32", shape = ["filters", "channels / 2", "3", "5"] },
  { name = "b", role = "in", dtype = "float32", shape = ["filters"] },
  { name = "out", role = "out", dtype = "float32", shape = ["batch", "filters", "height - 2", "(width - 3) / 2 + 1"] },
]
tolerance.out = { c_max = 1e-2, c_rms = 1e-2 }
case = [ { role = "check", dims = { batch = 2, channels = 4, filters = 6, height = 8, width = 9 } } ]
)",
                                    "task.toml");
    HONE_CHECK(parsed.ok(), parsed.status().message());
    return std::move(parsed).value();
  }();
  return task;
}

std::string ConvolutionCall(const std::string& change = "", const std::string& to = "") {
  std::string plan =
      "[[call]]\nop = \"convolution\"\ninput = \"x\"\nweight = \"w\"\nbias = \"b\"\nout = \"out\"\nbatch = "
      "\"batch\"\nin_channels = "
      "\"channels\"\nout_channels = \"filters\"\nsize = [\"height\", \"width\"]\nkernel = [\"3\", \"5\"]\nstride = "
      "[\"1\", \"2\"]\n"
      "padding = [\"0\", \"1\"]\ngroups = \"2\"\n";
  if (!change.empty()) plan.replace(plan.find(change), change.size(), to);
  return plan;
}

std::string FilteredRefusal(const std::string& change = "", const std::string& to = "", int64_t channels = 4) {
  const Result<Candidate> candidate = ParseCandidate(Source(ConvolutionCall(change, to)), "c.cu", ImageTask());
  if (!candidate.ok()) return candidate.status().message();
  const Result<ResolvedPlan> plan =
      ResolvePlan(*candidate, ImageTask(),
                  {{"batch", 2}, {"channels", channels}, {"filters", 6}, {"height", 8}, {"width", 9}}, {}, H200());
  return plan.ok() ? "resolved" : plan.status().message();
}

TEST(PlanCall, AConvolutionBecomesNumbersForACase) {
  const Result<Candidate> candidate = ParseCandidate(Source(ConvolutionCall()), "c.cu", ImageTask());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  const Result<ResolvedPlan> plan =
      ResolvePlan(*candidate, ImageTask(), {{"batch", 2}, {"channels", 4}, {"filters", 6}, {"height", 8}, {"width", 9}},
                  {}, H200());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const ResolvedCall& call = *plan->steps[0].call;
  const ResolvedConvolution& c = *call.convolution;
  EXPECT_EQ(c.OutSize(0), 6);
  EXPECT_EQ(c.OutSize(1), 4);
  EXPECT_EQ(c.dilation, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(call.b.bytes, 4 * 6 * 2 * 15);
  EXPECT_EQ(call.flops(), 2.0 * 2 * 6 * 2 * 15 * 6 * 4);
  EXPECT_EQ(call.Describe(), "convolution 2x4x8x9, 6 kernels of 3x5, float32 by cuDNN");
}

TEST(PlanCall, AConvolutionThatDoesNotFitIsTheCandidatesFault) {
  EXPECT_EQ(FilteredRefusal(), "resolved");
  EXPECT_THAT(FilteredRefusal("input = \"x\"", "a = \"x\""), HasSubstr("input"));
  EXPECT_THAT(FilteredRefusal("kernel = [\"3\", \"5\"]", "kernel = [\"3\"]"),
              HasSubstr("has 1 values, and 'size' has 2"));
  EXPECT_THAT(FilteredRefusal("groups", "k"), HasSubstr("field 'k'"));
  EXPECT_THAT(FilteredRefusal("groups = \"2\"", "output_padding = [\"1\", \"0\"]"),
              HasSubstr("only a transposed convolution has it"));
  EXPECT_THAT(FilteredRefusal("out = \"out\"", "out = \"x\""), HasSubstr("is an input and must not be changed"));
  EXPECT_THAT(FilteredRefusal("groups = \"2\"", "groups = \"4\""),
              HasSubstr("4 groups do not divide 4 channels of the input and 6 of out"));
  EXPECT_THAT(FilteredRefusal("groups = \"2\"", "dilation = [\"4\", \"1\"]"),
              HasSubstr("axis 0 of out would have no elements"));
  EXPECT_THAT(FilteredRefusal("stride = [\"1\", \"2\"]", "stride = [\"1\", \"0\"]"),
              HasSubstr("'0' is 0; it must be at least 1"));
  EXPECT_THAT(FilteredRefusal("padding = [\"0\", \"1\"]", "padding = [\"1\", \"1\"]"),
              HasSubstr("batch * out_channels * the size of out is 384 elements for"));
  EXPECT_THAT(FilteredRefusal("groups = \"2\"\n", "transposed = true\n"), HasSubstr("check the convolution's sizes"));
  EXPECT_THAT(FilteredRefusal("", "", 0), HasSubstr("a sum of no terms is not computed by a call"));
}

}  // namespace
}  // namespace hone
