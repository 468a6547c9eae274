// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone new` on realistic kernels (testdata/): the facts read from them, the questions, the refusals.
// new_task_check_test.cc runs the results.
#include "tuner/interop/draft/new_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "tuner/interop/read/cu_source.h"
#include "tuner/interop/read/plan_expression.h"
#include "tuner/interop/write/launcher_note.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns the text of a kernel of testdata/.
std::string TestKernel(const std::string& name) {
  return ReadFile(std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/testdata/" + name + ".cu").value();
}
// Returns the options of `hone new NAME --from NAME.cu`.
NewTaskOptions Options(const std::string& name) {
  NewTaskOptions options;
  options.name = name;
  options.file = name + ".cu";
  return options;
}
// Parses the draft's files as `hone tasks check` does; they must be valid.
Task Parsed(const TaskDraft& draft) {
  Result<Task> task = ParseTask(draft.task_toml, "task.toml");
  EXPECT_TRUE(task.ok()) << task.status().message() << "\n" << draft.task_toml;
  if (!task.ok()) return {};
  const Result<Candidate> seed = ParseCandidate(draft.seed, "seed.cu", *task);
  EXPECT_TRUE(seed.ok()) << seed.status().message() << "\n" << draft.seed;
  if (!draft.oracle.empty()) {
    const Result<Candidate> oracle = ParseCandidate(draft.oracle, "oracle.cu", *task, /*is_oracle=*/true);
    EXPECT_TRUE(oracle.ok()) << oracle.status().message() << "\n" << draft.oracle;
  }
  return *task;
}
// Returns role, dtype and extents of a tensor: "in float32 | rows | d".
std::string Shape(const Task& task, const char* tensor) {
  const TensorSpec* t = task.FindTensor(tensor);
  if (t == nullptr) return "no such tensor";
  std::string text = std::string(TensorRoleName(t->role)) + " " + std::string(DTypeName(t->dtype));
  for (const Expression& e : t->shape) text += " | " + e.text();
  return text;
}

TEST(NewTask, ALauncherWithATestProgram) {
  const TaskDraft draft = DraftTask(TestKernel("rmsnorm"), Options("rmsnorm")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "x"), "in float32 | rows | d");
  EXPECT_EQ(Shape(task, "weight"), "in float32 | d");
  EXPECT_EQ(Shape(task, "out"), "out float32 | rows | d");
  ASSERT_EQ(task.scalars.size(), 1u);
  EXPECT_EQ(task.scalars[0].name, "eps");
  EXPECT_EQ(task.workload, WorkloadClass::kReduction);
  // The seed has no host code, but what device code uses.
  EXPECT_THAT(draft.seed,
              AllOf(HasSubstr("#define WARP 32"), HasSubstr("constexpr int kThreads"), HasSubstr("WarpSum")));
  EXPECT_THAT(draft.seed, AllOf(Not(HasSubstr("main")), Not(HasSubstr("cudaMalloc")), Not(HasSubstr("#define CHECK")),
                                Not(HasSubstr("<vector>")), Not(HasSubstr("<<<"))));
  EXPECT_THAT(draft.seed, HasSubstr("block  = [\"256\"]"));
  EXPECT_THAT(draft.seed, HasSubstr("SPDX-License-Identifier"));
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("ref:out"), HasSubstr("double WarpSum(double v)"), HasSubstr("rsqrt("),
                                  HasSubstr("HONE_ORACLE_IN(x_row[i])"), HasSubstr("const float* __restrict__ x"),
                                  HasSubstr("eps:f64"), Not(HasSubstr("rsqrtf"))));
}

TEST(NewTask, ATorchExtensionAsksWhatItsTypeStandsFor) {
  NewTaskOptions options = Options("silu_and_mul");
  TaskDraft draft = DraftTask(TestKernel("silu_and_mul"), options).value();
  EXPECT_THAT(draft.questions, Contains(Field(&TaskQuestion::answer, HasSubstr("--template"))));
  // The error names line and field of what is missing.
  const Result<Task> task = ParseTask(draft.task_toml, "task.toml");
  ASSERT_FALSE(task.ok());
  EXPECT_THAT(task.status().message(), AllOf(HasSubstr("dtype"), HasSubstr(kFillIn)));

  options.template_args = "__half";
  draft = DraftTask(TestKernel("silu_and_mul"), options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task answered = Parsed(draft);
  EXPECT_EQ(Shape(answered, "in"), "in float16 | tokens | 2 * d");
  EXPECT_EQ(Shape(answered, "out"), "out float16 | tokens | d");
  EXPECT_EQ(answered.dims[0].first, "tokens");
  EXPECT_THAT(draft.seed, AllOf(HasSubstr("kernel = \"fused::silu_and_mul_kernel<__half>\""), HasSubstr("min(d, 1024)"),
                                Not(HasSubstr("torch"))));
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("double* __restrict__ out"), HasSubstr("const __half* __restrict__ in"),
                                  HasSubstr("kernel = \"fused::silu_and_mul_kernel\"")));
}

TEST(NewTask, SizesThatAreNumbersInMainBecomeDimensions) {
  const TaskDraft draft = DraftTask(TestKernel("transpose"), Options("transpose")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "idata"), "in float32 | height | width");
  EXPECT_EQ(Shape(task, "odata"), "out float32 | width | height");
  ASSERT_EQ(task.cases[0].role, CaseRole::kTime);
  EXPECT_EQ(task.cases[0].dims, (Dims{{"width", 1024}, {"height", 512}}));
  EXPECT_THAT(draft.seed, HasSubstr("grid   = [\"ceil_div(width, 32)\", \"ceil_div(height, 32)\"]"));
}

TEST(NewTask, BranchesBecomeAlternatives) {
  const TaskDraft draft = DraftTask(TestKernel("row_softmax"), Options("row_softmax")).value();
  const Task task = Parsed(draft);
  const Candidate seed = ParseCandidate(draft.seed, "seed.cu", task).value();
  ASSERT_EQ(seed.plan.entries.size(), 2u);
  EXPECT_EQ(seed.plan.entries[0].when->text(), "n_cols <= 256");
  EXPECT_EQ(seed.plan.entries[0].grid[0].text(), "ceil_div(n_rows, 4)");
  EXPECT_FALSE(seed.plan.entries[1].when);
  EXPECT_EQ(seed.plan.entries[1].step, seed.plan.entries[0].step);
  EXPECT_EQ(seed.plan.entries[1].shared->text(), "256 * 4");
  // The oracle uses the alternative without a condition, with twice the shared memory. A variable called `half` keeps
  // its name.
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("2 * (256 * 4)"), HasSubstr("int half = blockDim.x / 2"),
                                  Not(HasSubstr("softmax_short"))));
}

TEST(NewTask, InPlaceTensorsAndCases) {
  NewTaskOptions options = Options("fused");
  options.time_cases = {{{"rows", 64}, {"d", 4096}}};
  options.multiples = {{"d", 8}};
  options.scalars = {{"eps", 1e-5}};
  const TaskDraft draft = DraftTask(R"(
__global__ void fused(float* x, float* residual, const float* w, int rows, int d, float eps) {
  int row = blockIdx.x;
  float sum = 0;
  for (int i = 0; i < d; ++i) { residual[row * d + i] += x[row * d + i]; sum += residual[row * d + i] * residual[row * d + i]; }
  for (int i = 0; i < d; ++i) x[row * d + i] = residual[row * d + i] * rsqrtf(sum / d + eps) * w[i];
}
void run(float* x, float* residual, const float* w, int rows, int d, float eps) { fused<<<rows, 1>>>(x, residual, w, rows, d, eps); }
)",
                                    options)
                              .value();
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "residual"), "inout float32 | rows | d");
  EXPECT_EQ(Shape(task, "x"), "inout float32 | rows | d");
  EXPECT_EQ(task.scalars[0].value, 1e-5);
  for (const Case& c : task.cases) EXPECT_EQ(c.dims.at("d") % 8, 0);
  EXPECT_EQ(task.cases[0].dims.at("d"), 4096);
  EXPECT_THAT(draft.oracle,
              AllOf(HasSubstr("hone_copy_x"), HasSubstr("hone_copy_residual"), HasSubstr("double* residual")));
}

TEST(NewTask, KernelsInARowShareAWorkspace) {
  const std::string source = R"(
__global__ void row_sums(const float* a, float* sums, int rows, int d) {
  int row = blockIdx.x;
  float s = 0;
  for (int i = 0; i < d; ++i) s += a[row * d + i];
  sums[row] = s;
}
__global__ void scale(const float* in, const float* by, float* result, int rows, int d) {
  int row = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x) result[row * d + i] = in[row * d + i] / by[row];
}
void normalize(const float* x, float* y, int rows, int d) {
  float* tmp;
  cudaMalloc(&tmp, rows * sizeof(float));
  row_sums<<<rows, 1>>>(x, tmp, rows, d);
  scale<<<rows, 128>>>(x, tmp, y, rows, d);
  cudaFree(tmp);
}
)";
  const TaskDraft draft = DraftTask(source, Options("normalize")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "x"), "in float32 | rows | d");
  EXPECT_EQ(Shape(task, "y"), "out float32 | rows | d");
  EXPECT_EQ(task.FindTensor("tmp"), nullptr);
  const Candidate seed = ParseCandidate(draft.seed, "seed.cu", task).value();
  EXPECT_EQ(seed.plan.workspaces.at(0).bytes.text(), "4 * rows");
  EXPECT_EQ(seed.plan.entries.at(1).step, 1);
  EXPECT_EQ(ParseCandidate(draft.oracle, "oracle.cu", task, /*is_oracle=*/true)->plan.workspaces.at(0).bytes.text(),
            "8 * rows");
}

TEST(NewTask, WithoutALaunchItAsksForTheGrid) {
  const std::string kernel =
      "__global__ void relu(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if "
      "(i < n) y[i] = fmaxf(x[i], 0.f);\n}\n";
  NewTaskOptions options = Options("relu");
  const TaskDraft draft_with_questions = DraftTask(kernel, options).value();
  EXPECT_THAT(draft_with_questions.questions, Contains(Field(&TaskQuestion::answer, HasSubstr("--grid"))));
  EXPECT_THAT(ParseCandidate(draft_with_questions.seed, "seed.cu",
                             ParseTask(draft_with_questions.task_toml, "task.toml").value())
                  .status()
                  .message(),
              AllOf(HasSubstr("grid"), HasSubstr(kFillIn)));
  options.grid = {"ceil_div(n, 256)"};
  options.block = {"256"};
  const TaskDraft draft = DraftTask(kernel, options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  EXPECT_EQ(Shape(Parsed(draft), "y"), "out float32 | n");
}

TEST(NewTask, EveryOpenQuestionHasItsFileAndLine) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  EXPECT_TRUE(CheckNothingOpen(directory.path()).ok());
  const TaskDraft draft =
      DraftTask("__global__ void k(const int* a, void* b, int n, int m) { ((float*)b)[a[threadIdx.x] ^ 1] = 0; }\n",
                Options("k"))
          .value();
  ASSERT_TRUE(WriteFileAtomically(directory / "task.toml", draft.task_toml).ok());
  ASSERT_TRUE(WriteFileAtomically(directory / "seed.cu", draft.seed).ok());
  const Status open = CheckNothingOpen(directory.path());
  ASSERT_FALSE(open.ok());
  const size_t places = FindOpenQuestions(draft.task_toml, "t").size() + FindOpenQuestions(draft.seed, "s").size();
  EXPECT_GE(places, 4u) << draft.task_toml << draft.seed;
  EXPECT_EQ(std::count(open.message().begin(), open.message().end(), '\n'), static_cast<long>(places));
  EXPECT_THAT(open.message(),
              AllOf(HasSubstr("/task.toml:"), HasSubstr("/seed.cu:4: grid"), HasSubstr("seed.cu:5: block")));
}

TEST(NewTask, AnOracleIsNotDerivedWhereThatIsUnsound) {
  const auto reasons = [](const std::string& body) {
    NewTaskOptions options = Options("k");
    options.grid = options.block = {"1"};
    const TaskDraft draft = DraftTask(
                                "#include <cuda_fp16.h>\n__global__ void k(const float* x, float* y, int n) {\n  for "
                                "(int i = 0; i < n; ++i) y[i] = x[i];\n" +
                                    body + "}\n",
                                options)
                                .value();
    EXPECT_EQ(draft.oracle.empty(), !draft.oracle_reasons.empty());
    return draft.oracle_reasons;
  };
  EXPECT_THAT(reasons(""), IsEmpty());
  EXPECT_THAT(reasons("asm volatile(\"\");\n"), Contains(HasSubstr("assembly")));
  EXPECT_THAT(reasons("reinterpret_cast<float4*>(y)[0] = reinterpret_cast<const float4*>(x)[0];\n"),
              Contains(HasSubstr("reinterpreted")));
  EXPECT_THAT(reasons("y[0] = __int_as_float(__float_as_int(x[0]) & 1);\n"), Contains(HasSubstr("bits")));
  EXPECT_THAT(reasons("half2 h = __floats2half2_rn(x[0], x[1]);\n"), Contains(HasSubstr("line 11 of seed.cu")));
}

TEST(NewTask, AnOracleCanBeGivenWholeOrAsASimplerKernel) {
  NewTaskOptions options = Options("relu");
  options.oracle_file = "plain.cu";
  options.oracle =
      "__global__ void plain(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : "
      "0; }\n"
      "void run(const float* x, float* y, int n) { plain<<<1, 1>>>(x, y, n); }\n";
  const std::string kernel =
      "__global__ void relu(const float* x, float* y, int n) { asm(\"\"); for (int i = 0; i < n; ++i) y[i] = x[i]; }\n"
      "void run(const float* x, float* y, int n) { relu<<<1, 1>>>(x, y, n); }\n";
  TaskDraft draft = DraftTask(kernel, options).value();
  EXPECT_THAT(draft.oracle, HasSubstr("kernel = \"plain\""));
  Parsed(draft);
  options.oracle =
      "/*hone\n[[launch]]\nkernel = \"o\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [\"x\", \"ref:y\"]\n*/\n__global__ "
      "void o(const float* x, double* y) {}\n";
  draft = DraftTask(kernel, options).value();
  EXPECT_EQ(draft.oracle, *options.oracle);
}

TEST(NewTask, BadInputIsRefusedWithARemedy) {
  const auto message = [](const std::string& source, NewTaskOptions options) {
    return DraftTask(source, options).status().message();
  };
  EXPECT_THAT(message("int main() {}\n", Options("k")), AllOf(HasSubstr("k.cu"), HasSubstr("no __global__")));
  EXPECT_THAT(message("", Options("k")), HasSubstr("no __global__"));
  EXPECT_THAT(message("__global__ void a(float* x) {}\n__global__ void b(float* x) {}\n", Options("k")),
              AllOf(HasSubstr("a, b"), HasSubstr("--kernel")));
  const std::string relu = TestKernel("rmsnorm");
  NewTaskOptions options = Options("k");
  options.kernels = {"nothing"};
  EXPECT_THAT(message(relu, options), HasSubstr("rmsnorm_kernel"));
  options = Options("k");
  options.shapes = {{"y", "rows"}};
  EXPECT_THAT(message(relu, options), AllOf(HasSubstr("--shape y"), HasSubstr("x, weight, out")));
  options = Options("k");
  options.shapes = {{"x", "rows +"}};
  EXPECT_THAT(message(relu, options), HasSubstr("--shape x"));
  options = Options("k");
  options.dtypes = {{"x", "fp16"}};
  EXPECT_THAT(message(relu, options), HasSubstr("float16"));
  options = Options("k");
  options.roles = {{"x", "input"}};
  EXPECT_THAT(message(relu, options), HasSubstr("in, out, inout"));
  options = Options("k");
  options.scalars = {{"alpha", 1}};
  EXPECT_THAT(message(relu, options), HasSubstr("--scalar alpha"));
  options = Options("k");
  options.time_cases = {{{"columns", 3}}};
  EXPECT_THAT(message(relu, options), HasSubstr("rows, d"));
  EXPECT_THAT(message("struct P { int n; };\n__global__ void k(float* x, P p) { x[0] = 1; }\n", Options("k")),
              AllOf(HasSubstr("'p'"), HasSubstr("P")));
  EXPECT_THAT(
      message("__global__ void k(float* x, int n) { x[0] = n; }\nvoid f(float* x) { k<<<1, 1>>>(x); }\n", Options("k")),
      AllOf(HasSubstr("line 2"), HasSubstr("2 arguments")));
  EXPECT_THAT(message("__global__ void k(const float* x, int n) { }\n", Options("k")), HasSubstr("--role"));
}

TEST(NewTask, ALocalMayHoldTheOffsetOfARow) {
  const TaskDraft draft = DraftTask(R"(
__global__ void shift(const float* x, const float* bias, float* out, int rows, int d) {
  const int row = blockIdx.x;
  const size_t base = (size_t)row * d;
  for (int i = threadIdx.x; i < d; i += blockDim.x) out[base + i] = x[base + i] + bias[i];
}
void launch(const float* x, const float* bias, float* out, int rows, int d) { shift<<<rows, 128>>>(x, bias, out, rows, d); }
)",
                                    Options("shift"))
                              .value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "x"), "in float32 | rows | d");
  EXPECT_EQ(Shape(task, "bias"), "in float32 | d");
  EXPECT_EQ(Shape(task, "out"), "out float32 | rows | d");
}

TEST(NewTask, PointersToVectorsCountElements) {
  const TaskDraft draft = DraftTask(R"(
__global__ void twice(const float4* __restrict__ x, float4* __restrict__ y, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) { float4 v = x[i]; v.x *= 2.f; v.y *= 2.f; v.z *= 2.f; v.w *= 2.f; y[i] = v; }
}
void launch(const float* x, float* y, int n) { twice<<<(n / 4 + 255) / 256, 256>>>((const float4*)x, (float4*)y, n / 4); }
)",
                                    Options("twice"))
                              .value();
  EXPECT_THAT(draft.task_toml, AllOf(HasSubstr("shape = [\"n\"]"), HasSubstr("multiple = 4"), Not(HasSubstr("n / 4"))));
  EXPECT_THAT(draft.inferred, Contains(HasSubstr("n is a multiple of 4")));
  // A size that counts vectors is not divided: the tensor has that many times as many elements.
  const TaskDraft pairs = DraftTask(R"(
#include <cuda_fp16.h>
__global__ void both(const half2* x, half2* y, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) y[i] = __hadd2(x[i], x[i]);
}
void launch(const half* x, half* y, int pairs) { both<<<(pairs + 255) / 256, 256>>>((const half2*)x, (half2*)y, pairs); }
)",
                                    Options("both"))
                              .value();
  EXPECT_THAT(pairs.task_toml, HasSubstr("shape = [\"2 * pairs\"]"));
}

TEST(NewTask, WhatHostCodeClearsBecomesAMemset) {
  const TaskDraft draft = DraftTask(TestKernel("histogram"), Options("histogram")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  // Memory that host code clears before atomics add to it is not an input.
  EXPECT_EQ(Shape(task, "bins"), "out uint32 | num_bins");
  EXPECT_EQ(Shape(task, "data"), "in uint8 | n");
  const Candidate seed = ParseCandidate(draft.seed, "seed.cu", task).value();
  ASSERT_EQ(seed.plan.entries.size(), 2u);
  EXPECT_TRUE(seed.plan.entries[0].is_memset);
  EXPECT_EQ(seed.plan.entries[0].target, "bins");
  EXPECT_EQ(seed.plan.entries[1].grid[0].text(), "ceil_div(n, 256 * 4)");
  // The oracle counts in integers, and returns doubles.
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("target = \"bins_integers\""), HasSubstr("unsigned int* bins"),
                                  HasSubstr("\"ref:bins\"")));
  // Host code clears one number to which atomics add. The oracle clears it by a kernel, since a memset cannot set a
  // reference's bytes.
  const TaskDraft loss = DraftTask(TestKernel("cross_entropy"), Options("cross_entropy")).value();
  const Task loss_task = Parsed(loss);
  EXPECT_EQ(Shape(loss_task, "loss"), "out float32 | 1");
  EXPECT_EQ(Shape(loss_task, "logits"), "in float32 | batch | classes");
  EXPECT_EQ(loss_task.FindTensor("labels")->values.index_bound->text(), "classes");
  EXPECT_THAT(loss.oracle, HasSubstr("hone_fill_loss"));
}

TEST(NewTask, WhatAPlanCannotDoIsRefusedWithItsLine) {
  const auto refusal = [](const std::string& call) {
    const std::string source =
        "__global__ void k(const float* x, float* y, int n) { y[blockIdx.x] = x[blockIdx.x]; }\n"
        "void run(const float* x, float* y, int n, cudaStream_t s) {\n  " +
        call + "\n  k<<<n, 1, 0, s>>>(x, y, n);\n}\n";
    return DraftTask(source, Options("k")).status().message();
  };
  EXPECT_EQ(refusal(""), "");
  EXPECT_THAT(refusal("cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice, s);"),
              AllOf(HasSubstr("k.cu:3"), HasSubstr("cudaMemcpyAsync"), HasSubstr("Write it as a kernel")));
  EXPECT_THAT(refusal("cub::DeviceScan::InclusiveSum(t, b, x, y, n, s);"),
              AllOf(HasSubstr("k.cu:3"), HasSubstr("cub::DeviceScan")));
  EXPECT_THAT(refusal("cudaMemsetAsync(y + 1, 0, n * 4, s);"), AllOf(HasSubstr("k.cu:3"), HasSubstr("small kernel")));
}

TEST(NewTask, TheToolkitsHeadersStayAndTheUsersOwnAreNamed) {
  const TaskDraft draft = DraftTask(
                              "#include <cuda_fp8.h>  // e4m3\n#include <iostream>\n#include \"helpers.cuh\"\n#include "
                              "<torch/extension.h>\n"
                              "__global__ void k(const float* x, float* y, int n) { y[blockIdx.x] = x[blockIdx.x]; }\n"
                              "void run(const float* x, float* y, int n) { k<<<n, 1>>>(x, y, n); }\n",
                              Options("k"))
                              .value();
  EXPECT_THAT(draft.seed, AllOf(HasSubstr("#include <cuda_fp8.h>"), Not(HasSubstr("iostream")),
                                Not(HasSubstr("helpers")), Not(HasSubstr("torch"))));
  EXPECT_THAT(draft.left_out, ElementsAre(AllOf(HasSubstr("k.cu:3"), HasSubstr("helpers.cuh"), HasSubstr("paste"))));
}

TEST(NewTask, OutputsOfIntegersKeepTheirTypeInTheOracle) {
  const TaskDraft draft = DraftTask(TestKernel("quantize_rows"), Options("quantize_rows")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "q"), "out int8 | rows | cols");
  EXPECT_EQ(Shape(task, "scale"), "out float32 | rows");
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("int8_t* __restrict__ q"), HasSubstr("double* __restrict__ scale"),
                                  HasSubstr("hone_answer_q"), HasSubstr("\"q_integers\"")));
  const TaskDraft scan = DraftTask(TestKernel("inclusive_scan"), Options("scan")).value();
  Parsed(scan);
  EXPECT_THAT(scan.oracle, HasSubstr("int* out"));
}

TEST(NewTask, ShapesComeFromSizesFactoriesAndComments) {
  const TaskDraft gate = DraftTask(TestKernel("topk_gating"), Options("topk_gating")).value();
  EXPECT_THAT(gate.questions, IsEmpty());
  const Task task = Parsed(gate);
  EXPECT_EQ(Shape(task, "scores"), "in float32 | tokens | num_experts");
  // Memory from torch::empty is not an input, although the kernel reads back what it wrote.
  EXPECT_EQ(Shape(task, "experts"), "out int32 | tokens | k");
  EXPECT_EQ(Shape(task, "weights"), "out float32 | tokens | k");
  // A comment may name a size that no code has, if it is the axis from which an index selects.
  const Task gather = Parsed(DraftTask(TestKernel("embedding_gather"), Options("embedding_gather")).value());
  EXPECT_EQ(Shape(gather, "table"), "in float16 | vocabulary | width");
  EXPECT_EQ(gather.FindTensor("ids")->values.index_bound->text(), "vocabulary");
  // For other axes, a size that only a comment names is not accepted.
  std::string source = TestKernel("embedding_gather");
  source.replace(source.find("ids: [tokens]"), 13, "out: [batch, time, width]");
  const Task again = Parsed(DraftTask(source, Options("embedding_gather")).value());
  EXPECT_EQ(Shape(again, "out"), "out float16 | tokens | width");
  EXPECT_EQ(Shape(again, "ids"), "in int32 | tokens");
}

TEST(NewTask, HostCodeOrAnUnusedSizeTellsHowLongTheChosenAxisIs) {
  const std::string kernel =
      "__global__ void count(const int* keys, int* counts, int n, int bins) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(&counts[keys[i]], 1);\n}\n"
      "void run(const int* keys, int* counts, int n, int bins) {\n";
  const std::string launch = "  count<<<(n + 255) / 256, 256>>>(keys, counts, n, bins);\n}\n";
  const TaskDraft cleared =
      DraftTask(kernel + "  cudaMemsetAsync(counts, 0, bins * sizeof(int), 0);\n" + launch, Options("count")).value();
  EXPECT_EQ(Shape(Parsed(cleared), "counts"), "out int32 | bins");
  EXPECT_EQ(Parsed(cleared).FindTensor("keys")->values.index_bound->text(), "bins");
  const TaskDraft guessed = DraftTask(kernel + launch, Options("count")).value();
  EXPECT_EQ(Shape(Parsed(guessed), "counts"), "inout int32 | bins");
  EXPECT_THAT(guessed.guessed, Contains(HasSubstr("bins is how long the axis is that keys chooses from")));
}

TEST(NewTask, ATopKKeepsAFew) {
  const Task task = Parsed(DraftTask(TestKernel("topk_gating"), Options("topk_gating")).value());
  for (const Case& c : task.cases) EXPECT_LE(c.dims.at("k"), 4);
  for (const Case& c : DrawHiddenCases(task, 1)) EXPECT_LE(c.dims.at("k"), c.dims.at("num_experts"));
}

TEST(NewTask, AnIndexWithoutAKnownBoundGetsADimensionOfItsOwn) {
  std::string source = TestKernel("embedding_gather");
  source.erase(source.find("// table:"), source.find("void embedding_gather(") - source.find("// table:"));
  const TaskDraft draft = DraftTask(source, Options("embedding_gather")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "table"), "in float16 | table_rows | width");
  EXPECT_EQ(task.FindTensor("ids")->values.index_bound->text(), "table_rows");
  // The bytes of work are those of the selected rows, not of the whole table.
  const double bytes = CompulsoryBytes(task, {{"table_rows", 1000000}, {"width", 64}, {"tokens", 1000}}).value();
  EXPECT_GT(bytes, 2.0 * 1000 * 64 * 2);
  EXPECT_LT(bytes, 2.1 * 1000 * 64 * 2);
}

TEST(NewTask, AScatterUpdatesInPlaceAndNamesMayBeTaken) {
  const TaskDraft draft = DraftTask(TestKernel("kv_cache_write"), Options("kv_cache_write")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  // Slots that are not written keep their contents, so that the cache is in place.
  EXPECT_EQ(Shape(task, "cache"), "inout bfloat16 | slots | stride_size");
  EXPECT_EQ(Shape(task, "key"), "in bfloat16 | tokens | stride_size");
  EXPECT_EQ(task.FindTensor("slot_mapping")->values.index_bound->text(), "slots");
  EXPECT_THAT(draft.inferred, Contains(AllOf(HasSubstr("'stride'"), HasSubstr("'stride_size'"))));
}

TEST(NewTask, WhatATaskSaysOfScattersRoundingAndOneNumber) {
  // The task has more slots than tokens, draws no slot twice, and states its bytes although the cache is in place.
  const Task scatter = Parsed(DraftTask(TestKernel("kv_cache_write"), Options("kv_cache_write")).value());
  for (const Case& c : scatter.cases) EXPECT_GE(c.dims.at("slots"), c.dims.at("tokens"));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const Case& c : DrawHiddenCases(scatter, seed)) EXPECT_GE(c.dims.at("slots"), c.dims.at("tokens"));
  }
  EXPECT_GT(CompulsoryBytes(scatter, {{"slots", 1000}, {"stride_size", 64}, {"tokens", 10}}).value(),
            10 * 64 * 2 * 1.9);
  const std::string text = DraftTask(TestKernel("kv_cache_write"), Options("kv_cache_write"))->task_toml;
  EXPECT_THAT(text, HasSubstr("distinct = \"tensor\""));
  // A tie may be rounded either way; counts and places may not.
  EXPECT_THAT(DraftTask(TestKernel("quantize_rows"), Options("quantize_rows"))->task_toml, HasSubstr("abs = 1.0"));
  EXPECT_THAT(DraftTask(TestKernel("topk_gating"), Options("topk_gating"))->task_toml, Not(HasSubstr("abs =")));
  EXPECT_THAT(DraftTask(TestKernel("cross_entropy"), Options("cross_entropy"))->task_toml, HasSubstr("vary ="));
}

TEST(NewTask, RelatedSizesAreDrawnTogether) {
  NewTaskOptions options = Options("rope");
  options.time_cases = {
      {{"tokens", 512}, {"num_heads", 32}, {"num_kv_heads", 8}, {"head_dim", 128}, {"max_position", 4096}}};
  const TaskDraft draft = DraftTask(TestKernel("rope_inplace"), options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "q"), "inout float16 | tokens | group * num_kv_heads | head_dim");
  EXPECT_EQ(Shape(task, "k"), "inout float16 | tokens | num_kv_heads | head_dim");
  EXPECT_EQ(Shape(task, "cos_table"), "in float32 | max_position | head_dim / 2");
  EXPECT_EQ(task.cases[0].dims.at("group"), 4);
  // The launch divides by block.y of dim3 block(32, 8).
  EXPECT_THAT(draft.seed, AllOf(HasSubstr("ceil_div(group * num_kv_heads, 8)"), HasSubstr("block  = [\"32\", \"8\"]")));
  options.time_cases[0]["num_heads"] = 30;
  EXPECT_THAT(DraftTask(TestKernel("rope_inplace"), options).status().message(),
              HasSubstr("num_heads is group * num_kv_heads"));
  options = Options("rope");
  options.dims = {"num_heads", "num_kv_heads"};
  EXPECT_EQ(Shape(Parsed(DraftTask(TestKernel("rope_inplace"), options).value()), "q"),
            "inout float16 | tokens | num_heads | head_dim");
}

TEST(NewTask, HiddenRangesKeepToTheSizesThatAreNamed) {
  NewTaskOptions options = Options("topk_gating");
  options.time_cases = {{{"tokens", 4096}, {"num_experts", 128}, {"k", 8}}};
  TaskDraft draft = DraftTask(TestKernel("topk_gating"), options).value();
  Task task = Parsed(draft);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const Case& c : DrawHiddenCases(task, seed)) {
      EXPECT_LE(c.dims.at("k"), 8);
      EXPECT_GE(c.dims.at("num_experts"), 8);
      EXPECT_LE(c.dims.at("num_experts"), 128);
    }
  }
  for (const Case& c : task.cases) EXPECT_LE(c.dims.at("k"), c.dims.at("num_experts"));
  options.hidden = {{"k", {2, 2, 1}}, {"num_experts", {16, 64, 16}}};
  options.work = {{"flops", "tokens * num_experts * 8"}};
  options.no_stress = {"scores"};
  draft = DraftTask(TestKernel("topk_gating"), options).value();
  task = Parsed(draft);
  for (const Case& c : DrawHiddenCases(task, 1)) {
    EXPECT_EQ(c.dims.at("k"), 2);
    EXPECT_EQ(c.dims.at("num_experts") % 16, 0);
  }
  EXPECT_EQ(Flops(task, {{"tokens", 2}, {"num_experts", 4}, {"k", 1}}).value(), 64);
  EXPECT_FALSE(task.FindTensor("scores")->stress);
  options.hidden = {{"experts", {1, 2, 1}}};
  EXPECT_THAT(DraftTask(TestKernel("topk_gating"), options).status().message(), HasSubstr("--hidden experts"));
}

TEST(NewTask, APlainOracleKernelMeansTheSameTensors) {
  NewTaskOptions options = Options("scan");
  options.oracle_file = "plain.cu";
  // Without a launch, one thread does everything.
  options.oracle =
      "__global__ void plain(const int* in, int* out, int rows, int n) {\n  for (int r = 0; r < rows; ++r) {\n    int "
      "sum = "
      "0;\n    for (int i = 0; i < n; ++i) out[r * n + i] = sum += in[r * n + i];\n  }\n}\n";
  const TaskDraft draft = DraftTask(TestKernel("inclusive_scan"), options).value();
  Parsed(draft);
  EXPECT_THAT(draft.oracle,
              AllOf(HasSubstr("kernel = \"plain\""), HasSubstr("\"out_integers\""), Not(HasSubstr(kFillIn))));
  options.oracle =
      "__global__ void plain(const int* in, int* out, int rows, int n) { out[threadIdx.x] = in[threadIdx.x]; }\n";
  EXPECT_THAT(DraftTask(TestKernel("inclusive_scan"), options).status().message(),
              AllOf(HasSubstr("plain.cu"), HasSubstr("<<<")));
}

TEST(NewTask, APythonFilesStringsAreTaken) {
  const std::string python =
      "import torch\nfrom torch.utils.cpp_extension import load_inline\n\nsource = r\"\"\"\n"
      "#include <cuda_runtime.h>\n__global__ void scale(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2.0f * x[i];\n}\n"
      "torch::Tensor run(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n  int n = x.numel();\n"
      "  scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n  return y;\n}\n\"\"\"\n"
      "cpp = 'torch::Tensor run(torch::Tensor x);'\nmodule = load_inline('m', cpp, source, functions=['run'])\n";
  NewTaskOptions options = Options("scale");
  options.file = "model.py";
  const TaskDraft draft = DraftTask(python, options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  EXPECT_EQ(Shape(Parsed(draft), "y"), "out float32 | n");
  EXPECT_THAT(draft.seed, AllOf(Not(HasSubstr("import")), Not(HasSubstr("load_inline")), Not(HasSubstr("\"\"\""))));
  const auto refusal = [&](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return DraftTask(text, options).status().message();
  };
  EXPECT_THAT(refusal(python, "r\"\"\"", "f\"\"\""),
              AllOf(HasSubstr("model.py:4"), HasSubstr("f-string"), HasSubstr(".cu file")));
  EXPECT_THAT(DraftTask("import torch\nx = torch.zeros(3)\n", options).status().message(),
              AllOf(HasSubstr("model.py"), HasSubstr("Python")));
  options.file = "model.txt";
  EXPECT_TRUE(DraftTask(python, options).ok());
}

constexpr char kCountProgram[] = R"cu(
#define N (1 << 24)
#define NUM_BINS 256
__global__ void count(int* values, int* bins, int total, int num_bins) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < num_bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) atomicAdd(&local[values[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < num_bins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
int main() {
  int *values, *bins;
  cudaMalloc(&values, N * sizeof(int));
  cudaMalloc(&bins, NUM_BINS * sizeof(int));
  cudaMemset(bins, 0, NUM_BINS * sizeof(int));
  count<<<(N + 511) / 512, 512, NUM_BINS * sizeof(int)>>>(values, bins, N, NUM_BINS);
}
)cu";

TEST(NewTask, MacrosOfATestProgramAreDimensionsAndWhatIsNeverWrittenIsAnInput) {
  NewTaskOptions options = Options("count");
  options.values = {{"values", "index:NUM_BINS"}};
  const TaskDraft draft = DraftTask(kCountProgram, options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "values"), "in int32 | N");
  EXPECT_EQ(Shape(task, "bins"), "out int32 | NUM_BINS");
  EXPECT_EQ(task.cases[0].dims, (Dims{{"N", 1 << 24}, {"NUM_BINS", 256}}));
  EXPECT_THAT(draft.seed, AllOf(HasSubstr("ceil_div(N, 512)"), HasSubstr("NUM_BINS * 4"),
                                HasSubstr("count(const int* values, int* bins"), HasSubstr("[[memset]]")));
  EXPECT_THAT(draft.inferred, Contains(AllOf(HasSubstr("never writes through it"), HasSubstr("`const int*`"))));
  // N = 0 is checked: the kernel has nothing to do, but the bins are still cleared.
  EXPECT_THAT(task.cases, Contains(Field(&Case::dims, Contains(std::pair<const std::string, int64_t>{"N", 0}))));
  // The remaining questions are answered by options, --role included.
  options.roles = {{"values", "in"}};
  EXPECT_EQ(Shape(Parsed(DraftTask(kCountProgram, options).value()), "values"), "in int32 | N");
}

// Returns a program whose kernel is not told how many rows there are: `grid` says it.
std::string MaskedRows(const std::string& grid) {
  return R"cu(
__global__ void masked(const float* x, const unsigned char* mask, float* out, int n) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < n; i += 256) out[row * n + i] = mask[row * n + i] ? x[row * n + i] : 0.0f;
}
int main() {
  const int rows = 1024, n = 512;
  float *x, *out; unsigned char* mask;
  cudaMalloc(&x, rows * n * 4); cudaMalloc(&mask, rows * n); cudaMalloc(&out, rows * n * 4);
  masked<<<)cu" +
         grid + ", 256>>>(x, mask, out, n);\n}\n";
}

TEST(NewTask, ASizeThatOnlyTheGridNamesIsADimension) {
  const TaskDraft draft = DraftTask(MaskedRows("rows"), Options("masked")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  for (const char* name : {"x", "out"}) EXPECT_THAT(Shape(task, name), HasSubstr("float32 | rows | n"));
  EXPECT_EQ(Shape(task, "mask"), "in uint8 | rows | n");
  EXPECT_THAT(draft.task_toml, HasSubstr("dims = { rows = 1024, n = 512 }"));
  // A number of blocks in the launch gives as many rows, and not one.
  EXPECT_EQ(Shape(Parsed(DraftTask(MaskedRows("1024"), Options("masked")).value()), "mask"), "in uint8 | 1024 | n");
}

TEST(NewTask, AShapeThatNoIndexShowsIsSaidToBeAGuess) {
  const TaskDraft draft = DraftTask(R"(
__global__ void f(const float* x, const unsigned char* mask, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = mask[i >> 3] >> (i & 7) & 1 ? x[i] : 0.0f;
}
void launch(const float* x, const unsigned char* mask, float* y, int n) { f<<<(n + 255) / 256, 256>>>(x, mask, y, n); }
)",
                                    Options("bits"))
                              .value();
  EXPECT_THAT(draft.guessed, Contains(HasSubstr("mask is [n], for n is the only dimension, and no index of the code says more: a guess; "
                                                "--shape mask=…")));
  EXPECT_THAT(draft.guessed, Not(Contains(HasSubstr("x is [n]"))));
}

TEST(NewTask, ANumberInTheLaunchIsADimensionWhereAnOptionNamesIt) {
  const std::string source =
      "__global__ void twice(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 2.0f * x[i];\n}\nvoid run(const float* x, float* y) { twice<<<4096, 256>>>(x, y, 1 << 20); "
      "}\n";
  NewTaskOptions options = Options("twice");
  TaskDraft draft = DraftTask(source, options).value();
  EXPECT_THAT(draft.questions, Contains(Field(&TaskQuestion::what, HasSubstr("the dimensions"))));
  EXPECT_THAT(draft.inferred, Not(Contains(::testing::EndsWith("--case "))));
  options.dims = {"n"};
  draft = DraftTask(source, options).value();
  EXPECT_THAT(draft.questions, Contains(Field(&TaskQuestion::what, AllOf(HasSubstr("grid"), HasSubstr("4096")))));
  options.grid = {"ceil_div(n, 256)"};
  draft = DraftTask(source, options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  EXPECT_EQ(Parsed(draft).cases[0].dims, (Dims{{"n", 1 << 20}}));
  options.dims.clear();
  options.shapes = {{"x", "n"}, {"y", "n"}};
  EXPECT_THAT(DraftTask(source, options).value().questions, IsEmpty());
}

TEST(NewTask, ATemplatesOnlyInstantiationIsTakenAndSeveralAreOffered) {
  const std::string source =
      "template <typename T>\n__global__ void shift(const T* x, T* out, int d, int rows) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < d) out[blockIdx.y * d + i] = x[blockIdx.y * d + "
      "i];\n}\n"
      "template <typename T>\nvoid launch_shift(const T* x, T* out, int d, int rows, cudaStream_t stream) {\n"
      "  dim3 grid((d + 127) / 128, rows);\n  shift<T><<<grid, 128, 0, stream>>>(x, out, d, rows);\n}\n"
      "template void launch_shift<__nv_bfloat16>(const __nv_bfloat16*, __nv_bfloat16*, int, int, cudaStream_t);\n";
  TaskDraft draft = DraftTask(source, Options("shift")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  EXPECT_THAT(draft.inferred, Contains(HasSubstr("T = __nv_bfloat16")));
  Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "x"), "in bfloat16 | rows | d");
  // Dimensions have the launcher's order, since the applied function takes its place; its text is kept for comparison.
  EXPECT_EQ(task.dims[0].first, "d");
  EXPECT_EQ(
      LauncherNoted(draft.seed),
      "template<typename T> void launch_shift(const T* x, T* out, int d, int rows, cudaStream_t stream) in shift.cu");
  const std::string both =
      source + "template void launch_shift<float>(const float*, float*, int, int, cudaStream_t);\n";
  draft = DraftTask(both, Options("shift")).value();
  ASSERT_EQ(draft.questions.size(), 1u) << "one answer gives the dtypes as well";
  EXPECT_EQ(draft.questions[0].answer, "--template \"__nv_bfloat16\" or --template \"float\"");
  NewTaskOptions options = Options("shift");
  options.template_args = "float";
  EXPECT_EQ(Shape(Parsed(DraftTask(both, options).value()), "out"), "out float32 | rows | d");
}

TEST(NewTask, AQuotientOfTheIndexChoosesTheRows) {
  NewTaskOptions options = Options("pick");
  const std::string source =
      "__global__ void pick(const int* ids, const float* table, float* out, int num_ids, int dim) {\n"
      "  int idx = blockIdx.x * blockDim.x + threadIdx.x;\n  if (idx >= num_ids * dim) return;\n  int t = idx / dim;\n"
      "  int c = idx - t * dim;\n  int id = ids[t];\n  out[idx] = id < 0 ? 0.0f : table[(size_t)id * dim + c];\n}\n"
      "void run(const int* ids, const float* table, float* out, int num_ids, int dim) {\n"
      "  pick<<<(num_ids * dim + 255) / 256, 256>>>(ids, table, out, num_ids, dim);\n}\n";
  Task task = Parsed(DraftTask(source, options).value());
  EXPECT_EQ(Shape(task, "ids"), "in int32 | num_ids");
  EXPECT_EQ(Shape(task, "table"), "in float32 | table_rows | dim");
  // The kernel tests whether an index is negative, so that some drawn indices are.
  EXPECT_EQ(task.FindTensor("ids")->values.padding, 0.125);
  options.values = {{"ids", "index:vocabulary,padding=0.25"}};
  task = Parsed(DraftTask(source, options).value());
  EXPECT_EQ(Shape(task, "table"), "in float32 | vocabulary | dim");
  EXPECT_EQ(task.FindTensor("ids")->values.padding, 0.25);
  options.values = {{"ids", "index:vocabulary,pading=0.25"}};
  EXPECT_THAT(DraftTask(source, options).status().message(), HasSubstr("padding=SHARE"));
}

TEST(NewTask, AFiltersWidthIsAConstant) {
  const std::string source =
      "#define WIDTH 4\n__global__ void filter(const float* x, const float* weight, const float* taps, float* out, int "
      "seqlen, int dim) {\n"
      "  int c = blockIdx.x * blockDim.x + threadIdx.x, l = blockIdx.y;\n  if (c >= dim) return;\n  float acc = 0.0f;\n"
      "  for (int w = 0; w < WIDTH; ++w) {\n    int t = l - (WIDTH - 1) + w;\n"
      "    if (t >= 0) acc += weight[c * WIDTH + w] * x[t * dim + c];\n  }\n"
      "  for (int j = 0; j < 3; ++j) acc += taps[j * dim + c];\n  out[l * dim + c] = acc;\n}\n"
      "void run(const float* x, const float* weight, const float* taps, float* out, int seqlen, int dim) {\n"
      "  filter<<<dim3((dim + 127) / 128, seqlen), 128>>>(x, weight, taps, out, seqlen, dim);\n}\n";
  NewTaskOptions options = Options("filter");
  options.shapes = {{"x", "seqlen,dim"}};
  const TaskDraft draft = DraftTask(source, options).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "weight"), "in float32 | dim | 4");
  EXPECT_EQ(Shape(task, "taps"), "in float32 | 3 | dim");
  // Sequences shorter than the filter, and the empty sequence, are among the check cases.
  std::set<int64_t> lengths;
  for (const Case& c : task.cases) lengths.insert(c.dims.at("seqlen"));
  EXPECT_THAT(lengths, AllOf(Contains(0), Contains(1), Contains(2)));
  EXPECT_EQ(task.hidden[0].ranges[1].low, 1);
}

TEST(NewTask, NamesMeanWhatTheirBlockSays) {
  const std::string body =
      "  for (int i = threadIdx.x; i < d; i += blockDim.x) {\n    float* row = A + blockIdx.x * d;\n"
      "    row[i] = 2.0f * row[i];\n  }\n";
  const auto part = [&](const std::string& tensor) {
    return std::string(body).replace(body.find(" A "), 3, " " + tensor + " ");
  };
  const std::string source =
      "__global__ void both(float* q, float* k, int rows, int d) {\n" + part("q") + part("k") +
      "}\nvoid run(float* q, float* k, int rows, int d) { both<<<rows, 128>>>(q, k, rows, d); }\n";
  const Task task = Parsed(DraftTask(source, Options("both")).value());
  EXPECT_EQ(Shape(task, "q"), "inout float32 | rows | d");
  EXPECT_EQ(Shape(task, "k"), "inout float32 | rows | d");
}

TEST(NewTask, PointersThatAreMovedAndWrittenThrough) {
  const auto drafted = [](const std::string& body) {
    return DraftTask(
               "__global__ void twice(const float* in, float* out, int rows, int d) {\n  const int row = "
               "blockIdx.x;\n" +
                   body +
                   "}\nvoid run(const float* in, float* out, int rows, int d) { twice<<<rows, 128>>>(in, out, rows, "
                   "d); }\n",
               Options("twice"))
        .value();
  };
  const std::string loop = "  for (int i = threadIdx.x; i < d; i += blockDim.x) ";
  for (const char* rows :
       {"  in += row * d;\n  out += (size_t)row * d;\n", "  in = in + row * d;\n  out = out + row * d;\n"}) {
    const TaskDraft draft = drafted(rows + loop + "out[i] = in[i] * 2;\n");
    const Task task = Parsed(draft);
    EXPECT_EQ(Shape(task, "in"), "in float32 | rows | d") << rows;
    EXPECT_EQ(Shape(task, "out"), "out float32 | rows | d") << rows;
    EXPECT_NE(draft.oracle, "");
  }
  // Two pointers in one declaration, and a store through one of them.
  TaskDraft draft = drafted(
      "  const float *a = in + row * d, *b = in + (row + 0) * d;\n  float* o = out + row;\n"
      "  if (threadIdx.x == 0) *o = a[0] * b[d - 1];\n");
  EXPECT_EQ(Shape(Parsed(draft), "out"), "out float32 | rows");
  EXPECT_THAT(draft.oracle_reasons, IsEmpty());
  // One name is a pointer into the input and, in another block, a pointer into the output.
  draft = drafted(
      "  float s = 0;\n  { const float* p = in + row * d; for (int i = 0; i < d; ++i) s += p[i]; }\n"
      "  { float* p = out + row * d;" +
      loop + "p[i] = s; }\n");
  EXPECT_EQ(Shape(Parsed(draft), "in"), "in float32 | rows | d");
  EXPECT_THAT(draft.oracle_reasons, IsEmpty());
  EXPECT_THAT(draft.oracle,
              AllOf(HasSubstr("const float* p = in"), HasSubstr("double* p = out"), HasSubstr("HONE_ORACLE_IN(p[i])")));
  // The position of a pointer moved in a loop is not guessed, but what it writes is still not an input.
  draft = drafted("  for (int i = 0; i < rows * d; ++i) *out++ = in[i];\n");
  EXPECT_THAT(draft.task_toml, HasSubstr("name = \"out\"\nrole = \"out\""));
  ASSERT_EQ(draft.questions.size(), 1u);
  EXPECT_EQ(draft.questions[0].what, "shape of tensor 'out', over rows, d");
  EXPECT_THAT(
      drafted("  out[row] = 1;\n  for (int r = 0; r < rows; ++r) { out += d; out[r] = in[row * d]; }\n").task_toml,
      HasSubstr("QUESTION: --shape out"));
}

TEST(NewTask, OneNumberIsWrittenThroughItsPointer) {
  const std::string source =
      "__global__ void total(const float* x, float* sum, int n) {\n  float s = 0;\n"
      "  for (int i = threadIdx.x; i < n; i += 32) s += x[i];\n  if (threadIdx.x == 0) *sum = 2 * s;\n}\n"
      "void run(const float* x, float* sum, int n) { total<<<1, 32>>>(x, sum, n); }\n";
  const Task task = Parsed(DraftTask(source, Options("total")).value());
  EXPECT_EQ(Shape(task, "sum"), "out float32 | 1");
  EXPECT_EQ(Shape(task, "x"), "in float32 | n");
}

TEST(NewTask, TypesThatTasksDoNotHave) {
  const auto drafted = [](const std::string& type) {
    return DraftTask("__global__ void pick(const " + type +
                         "* keep, const float* x, float* y, int n) {\n"
                         "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = keep[i] ? x[i] : 0.0f;\n}\n"
                         "void run(const " +
                         type +
                         "* keep, const float* x, float* y, int n) {\n"
                         "  pick<<<(n + 255) / 256, 256>>>(keep, x, y, n);\n}\n",
                     Options("pick"))
        .value();
  };
  const TaskDraft truth = drafted("bool");
  EXPECT_THAT(truth.seed, HasSubstr("pick(const unsigned char* keep,"));
  const Task task = Parsed(truth);
  EXPECT_EQ(Shape(task, "keep"), "in uint8 | n");
  EXPECT_EQ(task.FindTensor("keep")->values.index_bound->text(), "2");
  const TaskDraft wide = drafted("unsigned long long");
  EXPECT_EQ(Shape(Parsed(wide), "keep"), "in int64 | n");
  EXPECT_THAT(wide.inferred, Contains("keep: unsigned long long is judged as int64, which is the same bytes"));
  const TaskDraft narrow = drafted("__nv_fp8_e4m3");
  EXPECT_THAT(narrow.questions, IsEmpty());
  EXPECT_EQ(Shape(Parsed(narrow), "keep"), "in float8_e4m3fn | n");
  const TaskDraft narrower = drafted("__nv_fp4_e2m1");
  ASSERT_EQ(narrower.questions.size(), 1u);
  EXPECT_EQ(narrower.questions[0].what, "dtype of tensor 'keep', which is __nv_fp4_e2m1");
  EXPECT_EQ(narrower.questions[0].answer,
            "--dtype keep=uint8, for its bytes: tasks have no floats of less than 8 bits");
}

TEST(NewTask, OptionsNameThingsAsTheCodeDoes) {
  const std::string source =
      "__global__ void scale(const float* ref, float* y, int n, int stride) {\n"
      "  int i = blockIdx.x * 128 + threadIdx.x;\n  if (i < n) for (int j = 0; j < stride; ++j) y[i * stride + j] = 2 "
      "* ref[i * stride + j];\n}\n"
      "void run(const float* ref, float* y, int n, int stride) { scale<<<(n + 127) / 128, 128>>>(ref, y, n, stride); "
      "}\n";
  NewTaskOptions options = Options("scale");
  options.shapes = {{"ref", "n*stride"}, {"y", "n,stride"}};
  options.values = {{"ref", "uniform"}};
  options.hidden = {{"stride", {2, 6, 2}}};
  options.multiples = {{"stride", 2}};
  options.work = {{"bytes", "8 * n * stride"}};
  options.slice = "stride";
  options.time_cases = {{{"n", 4096}, {"stride", 64}}};
  const Task task = Parsed(DraftTask(source, options).value());
  EXPECT_EQ(Shape(task, "ref_data"), "in float32 | n*stride_size");
  EXPECT_EQ(Shape(task, "y"), "out float32 | n | stride_size");
  EXPECT_EQ(task.hidden[0].ranges[1].high, 6);
  EXPECT_EQ(task.cases[0].dims.at("stride_size"), 64);
}

TEST(NewTask, GuessedSizesFitTheLaunch) {
  const Task task = Parsed(DraftTask(TestKernel("histogram"), Options("histogram")).value());
  for (const Case& c : task.cases) EXPECT_LE(c.dims.at("num_bins") * 4, 48 << 10);
  EXPECT_GE(task.cases[0].dims.at("n"), 1 << 22) << "more data, and not more bins";
}

TEST(NewTask, WhatAHelperWritesIsWritten) {
  const std::string source =
      "template <typename T>\n__device__ void turn(T* values, const T* c, int i) { values[i] = values[i] * c[i]; }\n"
      "__global__ void apply(float* q, const float* c, int rows, int d) {\n"
      "  for (int i = threadIdx.x; i < d; i += blockDim.x) turn<float>(q + blockIdx.x * d, c, i);\n}\n"
      "void run(float* q, const float* c, int rows, int d) { apply<<<rows, 128>>>(q, c, rows, d); }\n";
  NewTaskOptions options = Options("turn");
  options.shapes = {{"q", "rows,d"}, {"c", "d"}};
  const TaskDraft draft = DraftTask(source, options).value();
  EXPECT_THAT(draft.task_toml, HasSubstr("role = \"inout\""));
  // A pointer into an input stays float* while the helper's parameter becomes double*: no oracle is written, and the
  // reason is given.
  EXPECT_EQ(draft.oracle, "");
  EXPECT_THAT(draft.oracle_reasons, Contains(AllOf(HasSubstr("'turn' is given 'c'"), HasSubstr("pass values"))));
}

TEST(NewTask, AnOraclesPointersAreTheTasksTensors) {
  NewTaskOptions options = Options("scan");
  options.oracle_file = "plain.cu";
  options.oracle = "__global__ void plain(const int* src, int* out, int rows, int n) { out[0] = src[0]; }\n";
  EXPECT_THAT(DraftTask(TestKernel("inclusive_scan"), options).status().message(),
              AllOf(HasSubstr("'src' of kernel 'plain' is no tensor of the task"), HasSubstr("in, out")));
  options.oracle.reset();
  options.hidden = {{"n", {0, 64, 1}}};
  EXPECT_THAT(DraftTask(TestKernel("inclusive_scan"), options).status().message(), HasSubstr("--check with n=0"));
}

TEST(NewTask, HostileTextDoesNotCrashIt) {
  const std::string source = TestKernel("row_softmax");
  for (size_t cut = 0; cut < source.size(); cut += 37) {
    NewTaskOptions options = Options("k");
    (void)DraftTask(source.substr(0, cut), options);
    (void)DraftTask(source.substr(cut), options);
  }
  for (const char* text :
       {"__global__", "__global__ void k(", "template <", "#define", "namespace {", "extern \"C\" {"}) {
    EXPECT_FALSE(DraftTask(text, Options("k")).ok()) << text;
  }
}

TEST(PlanExpressions, FollowsLocalsMacrosAndHelpers) {
  const std::unique_ptr<CuSource> source =
      ReadCuSource(
          "#define BLOCK 256\n#define DIV_UP(a, b) (((a) + (b)-1) / (b))\nconstexpr int kRows = 4;\n"
          "static int blocks_for(int n, int per) { return (n + per - 1) / per; }\n"
          "__global__ void k(float* x, int n) {}\n"
          "void f(float* x, int n, int m) {\n  const int half_n = n / 2;\n  size_t bytes = BLOCK * sizeof(float);\n  "
          "int loop = n;\n  loop /= 2;\n"
          "  k<<<1, 1>>>(x, n);\n}\n",
          "f.cu")
          .value();
  const std::map<std::string, std::string> dims = {{"n", "n"}, {"m", "m"}};
  const PlanExpressions plan(*source, 1, dims);
  EXPECT_EQ(plan.Resolve("(n + BLOCK - 1) / BLOCK").value(), "ceil_div(n, 256)");
  EXPECT_EQ(plan.Resolve("DIV_UP(half_n, kRows)").value(), "ceil_div(n / 2, 4)");
  EXPECT_EQ(plan.Resolve("blocks_for(n * m, 128)").value(), "ceil_div(n * m, 128)");
  EXPECT_EQ(plan.Resolve("(unsigned int)std::min<int>(n, 1024)").value(), "min(n, 1024)");
  EXPECT_EQ(plan.Resolve("static_cast<int>(n + 255) / 256").value(), "ceil_div(n, 256)");
  EXPECT_EQ(plan.Resolve("bytes").value(), "256 * 4");
  EXPECT_EQ(plan.Resolve("1 << 20").value(), "1048576");
  EXPECT_EQ(plan.Resolve("((1 << 20) + 255) / 256").value(), "ceil_div(1048576, 256)");
  EXPECT_EQ(plan.Resolve("min(1 << 3 + 1, n >> 1)").value(), "min(16, n / 2)");
  EXPECT_EQ(plan.Resolve("n << kRows < 1 << 4").value(), "(n * 16) < 16");
  EXPECT_THAT(plan.Resolve("1 << n").status().message(), HasSubstr("shifts by what is not known"));
  EXPECT_EQ(plan.Resolve("2 * (n + 255) / 256").value(), "2 * (n + 255) / 256");
  EXPECT_THAT(plan.Resolve("loop").status().message(), HasSubstr("changed"));
  EXPECT_THAT(plan.Resolve("x.size(0)").status().message(), HasSubstr("'x'"));
  EXPECT_THAT(plan.Resolve("unknown(n)").status().message(), HasSubstr("unknown(n)"));
}

// A test program that checks once and then takes the time, with sizes from its command line.
constexpr const char* kTimedProgram = R"cuda(// row_sum.cu - sums of rows, with an optional bias.
// nvcc -O3 row_sum.cu
#include <cstdlib>
__global__ void row_sum(const float* x, const float* bias, float* out, int rows, int cols) {
  __shared__ float partial[256];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 256) {
    float v = x[(size_t)blockIdx.x * cols + c];
    if (bias) v += bias[c];
    sum += v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
int main(int argc, char** argv) {
  const int rows = ROWS;
  const int cols = argc > 2 ? atoi(argv[2]) : 32000;
  float *x, *bias, *out;
  cudaMalloc(&x, (size_t)rows * cols * sizeof(float));
  cudaMalloc(&bias, cols * sizeof(float));
  cudaMalloc(&out, rows * sizeof(float));
  row_sum<<<rows, 256>>>(x, bias, out, rows, cols);
  cudaDeviceSynchronize();
  for (int i = 0; i < 20; ++i) row_sum<<<rows, 256, 0>>>(x, bias, out, rows, cols);
}
)cuda";

std::string TimedProgram(const std::string& rows) {
  std::string text = kTimedProgram;
  return text.replace(text.find("ROWS"), 4, rows);
}

size_t Launches(const TaskDraft& draft) {
  size_t count = 0;
  for (size_t at = 0; (at = draft.seed.find("[[launch]]", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(NewTask, ATimingLoopIsNoSecondLaunch) {
  const TaskDraft draft = DraftTask(TimedProgram("4096"), Options("row_sum")).value();
  EXPECT_EQ(Launches(draft), 1u) << draft.seed;
  EXPECT_THAT(draft.inferred, Contains("line 29 repeats line 27 (a timing loop?): launched once"));
  // A launch in a loop alone is taken once, and the output says so.
  std::string loop = TimedProgram("4096");
  loop.erase(loop.find("  row_sum<<<rows, 256>>>"), std::string("  row_sum<<<rows, 256>>>(x, bias, out, rows, cols);").size());
  const TaskDraft once = DraftTask(loop, Options("row_sum")).value();
  EXPECT_EQ(Launches(once), 1u);
  EXPECT_THAT(once.inferred, Contains(HasSubstr("stands in a loop, a switch or a lambda: launched once")));
  // Launches with other arguments are two: a sum of sums.
  std::string two = TimedProgram("4096");
  const size_t second = two.find("(x, bias, out", two.find("for (int i = 0"));
  EXPECT_EQ(Launches(DraftTask(two.replace(second, 13, "(out, bias, x"), Options("row_sum")).value()), 2u);
}

TEST(NewTask, SizesOfTheCommandLineAreDimensionsAndTheirConstantsAreTimed) {
  const TaskDraft draft = DraftTask(TimedProgram("argc > 1 ? atoi(argv[1]) : 4096"), Options("row_sum")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  const Task task = Parsed(draft);
  ASSERT_EQ(task.dims.size(), 2u);
  EXPECT_EQ(task.dims[0].first, "rows");
  EXPECT_EQ(task.dims[1].first, "cols");
  EXPECT_THAT(draft.task_toml, HasSubstr("dims = { rows = 4096, cols = 32000 }"));
  // Without a constant the size is a dimension all the same.
  const TaskDraft without_constant = DraftTask(TimedProgram("atoi(argv[1])"), Options("row_sum")).value();
  EXPECT_THAT(without_constant.task_toml, AllOf(HasSubstr("rows = \"rows of"), Not(HasSubstr("argc")), Not(HasSubstr("argv"))));
}

TEST(NewTask, ReadsWhatTheFileSaysBesideItsLaunches) {
  const TaskDraft draft = DraftTask(TimedProgram("4096"), Options("row_sum")).value();
  EXPECT_THAT(draft.inferred, Contains("bias is tested for null in line 9: only the case with a tensor is judged"));
  EXPECT_THAT(draft.inferred, Contains(HasSubstr("--slice rows")));
  const Task task = Parsed(draft);
  EXPECT_EQ(task.summary, "sums of rows, with an optional bias");
  EXPECT_EQ(task.workload, WorkloadClass::kReduction);
  EXPECT_THAT(draft.task_toml, HasSubstr("# special = [\"inf\", \"-inf\", \"subnormal\"] is the default"));
  NewTaskOptions options = Options("row_sum");
  options.special = "subnormal, inf";
  EXPECT_EQ(Parsed(DraftTask(TimedProgram("4096"), options).value()).tensors[0].values.special, kSpecialSubnormal | kSpecialInf);
}

TEST(CuSource, ReadsLaunchesAndTheirConditions) {
  const std::unique_ptr<CuSource> source =
      ReadCuSource(
          "template <typename T, int N> __global__ void __launch_bounds__(256) k(const T* __restrict__ x, T* y, long "
          "long n) {}\n"
          "void f(float* x, float* y, long long n) {\n"
          "  if (n % 4 == 0) {\n    k<float, 4><<<n / 4, 256>>>(x, y, n);\n  } else if (n > 7)\n    k<float, 2><<<n, "
          "128, 64>>>(x, y, n);\n  else {\n    k<float, 1><<<n, 1>>>(x, y, n);\n  }\n"
          "  for (int i = 0; i < 3; ++i) k<float, 1><<<n, 1>>>(x, y, n);\n}\n",
          "f.cu")
          .value();
  ASSERT_EQ(source->launches.size(), 4u);
  EXPECT_THAT(source->launches[0].template_args, ElementsAre("float", "4"));
  EXPECT_THAT(source->launches[0].configuration, ElementsAre("n / 4", "256"));
  EXPECT_THAT(source->launches[0].conditions, ElementsAre("n % 4 == 0"));
  EXPECT_THAT(source->launches[1].conditions, ElementsAre("!(n % 4 == 0)", "n > 7"));
  EXPECT_THAT(source->launches[2].conditions, ElementsAre("!(n % 4 == 0)", "!(n > 7)"));
  EXPECT_FALSE(source->launches[3].conditions_known);
  EXPECT_EQ(source->kernels[0].parameters[0].type, "T");
  EXPECT_TRUE(source->kernels[0].parameters[0].to_const);
  EXPECT_EQ(source->kernels[0].parameters[2].type, "long long");
}

// --- what is listed as guessed, and what is refused before a task is written ---

constexpr const char* kDropout = R"cuda(#include <curand_kernel.h>
#include <stdint.h>
__device__ uint32_t mix(uint32_t h) { h ^= h >> 16; h *= 0x85ebca6bu; return h ^ (h >> 13); }
__global__ void dropout(const float* x, const uint8_t* mask, const int* levels, float* y, int rows, int d, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * d) return;
  const uint32_t h = mix((uint32_t)seed ^ (uint32_t)i);
  y[i] = mask[i] ? x[i] * (h >> 31 ? 2.0f : 1.0f) + levels[i] : 0.0f;
}
void run(const float* x, const uint8_t* mask, const int* levels, float* y, int rows, int d, unsigned long long seed) {
  dropout<<<(rows * d + 255) / 256, 256>>>(x, mask, levels, y, rows, d, seed);
}
)cuda";

NewTaskOptions DropoutOptions() {
  NewTaskOptions options;
  options.name = "dropout";
  options.file = "k.cu";
  for (const char* tensor : {"x", "mask", "levels", "y"}) options.shapes[tensor] = "rows,d";
  return options;
}

TEST(NewTask, AGeneratorsSeedIsANumberAndNoSize) {
  NewTaskOptions options = DropoutOptions();
  TaskDraft draft = DraftTask(kDropout, options).value();
  EXPECT_THAT(draft.seed, HasSubstr("\"42:u64\""));
  EXPECT_THAT(draft.task_toml, Not(HasSubstr("seed = ")));
  EXPECT_THAT(draft.guessed, Contains(AllOf(HasSubstr("seed = 42"), HasSubstr("--scalar seed=NUMBER"))));
  EXPECT_THAT(draft.seed, Not(HasSubstr("curand"))) << "no kernel draws by cuRAND";
  options.scalars["seed"] = 7;
  EXPECT_THAT(DraftTask(kDropout, options)->seed, HasSubstr("\"7:u64\""));
  options.scalars["seed"] = 7.5;
  EXPECT_THAT(DraftTask(kDropout, options).status().message(), HasSubstr("a whole number"));
  options.scalars.clear();
  options.dims = {"rows", "d", "seed"};
  EXPECT_THAT(DraftTask(kDropout, options)->seed, HasSubstr("\"seed:u64\""));
}

TEST(NewTask, ADimensionThatTheUserDidNotNameIsSaid) {
  NewTaskOptions options = DropoutOptions();
  options.dims = {"rows"};
  EXPECT_THAT(DraftTask(kDropout, options)->guessed,
              Contains(AllOf(HasSubstr("d is a dimension too"), HasSubstr("--scalar d=NUMBER"))));
}

TEST(NewTask, AMaskOfBytesIsDrawnAsYesAndNo) {
  const TaskDraft draft = DraftTask(kDropout, DropoutOptions()).value();
  const size_t mask = draft.task_toml.find("name = \"mask\""), levels = draft.task_toml.find("name = \"levels\"");
  ASSERT_TRUE(mask != std::string::npos && mask < levels && levels != std::string::npos);
  EXPECT_THAT(draft.task_toml.substr(mask, levels - mask), HasSubstr("bound = \"2\""));
  EXPECT_THAT(draft.task_toml.substr(levels, 300), HasSubstr("bound = \"100\""));
  EXPECT_THAT(draft.guessed, Contains(AllOf(HasSubstr("mask: 0 or 1"), HasSubstr("--values mask="))));
}

TEST(NewTask, WrongNamesAreRefusedBeforeAnythingIsWritten) {
  NewTaskOptions options = DropoutOptions();
  options.slice = "row";
  EXPECT_THAT(DraftTask(kDropout, options).status().message(), HasSubstr("--slice row: the dimensions are rows, d"));
  options.slice.clear();
  options.values["x"] = "gauss";
  EXPECT_THAT(DraftTask(kDropout, options).status().message(),
              AllOf(HasSubstr("'gauss' is no distribution"), HasSubstr("index:BOUND")));
}

// A file that is already a candidate: device code behind a launch plan.
constexpr const char* kWithPlan = R"(// Scales rows.
/*hone
[tune]
BLOCK = [128, 256]

[[launch]]
kernel = "scale_rows<2>"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["in", "factor:f32", "result", "rows:i32", "width:i32"]
*/
template <int N>
__global__ void scale_rows(const float* x, float s, float* y, int m, int n) {
  for (int i = threadIdx.x; i < n; i += BLOCK) y[blockIdx.x * n + i] = N * s * x[blockIdx.x * n + i];
}
)";

TEST(NewTask, APlanInTheFileIsTakenAsItStands) {
  const TaskDraft draft = DraftTask(kWithPlan, Options("scale")).value();
  EXPECT_THAT(draft.questions, IsEmpty());
  EXPECT_THAT(
      draft.inferred,
      Contains(HasSubstr(
          "the launch plan: the one in line 2, as it stands, its tunables at their first choices: BLOCK = 128")));
  const Task task = Parsed(draft);
  EXPECT_EQ(Shape(task, "in"), "in float32 | rows | width");
  EXPECT_EQ(Shape(task, "result"), "out float32 | rows | width");
  ASSERT_EQ(task.scalars.size(), 1u);
  EXPECT_EQ(task.scalars[0].name, "factor");
  // seed.cu contains the plan with its tunables once; oracle.cu has one choice of each tunable.
  EXPECT_THAT(draft.seed, HasSubstr("BLOCK = [128, 256]"));
  EXPECT_EQ(draft.seed.find("/*hone"), draft.seed.rfind("/*hone"));
  EXPECT_THAT(draft.seed, HasSubstr("// Scales rows."));
  EXPECT_THAT(draft.oracle, AllOf(HasSubstr("BLOCK = [128]"), HasSubstr("\"ref:result\"")));
}

TEST(NewTask, APlanFromWhichNoTaskCanBeDrawnIsRefusedWithItsLine) {
  const auto refusal = [](const std::string& from, const std::string& to, NewTaskOptions options = Options("scale")) {
    std::string text = kWithPlan;
    text.replace(text.find(from), from.size(), to);
    return DraftTask(text, options).status().message();
  };
  EXPECT_THAT(
      refusal("[[launch]]", "[[workspace]]\nname = \"w\"\nbytes = \"4\"\n[[launch]]"),
      AllOf(HasSubstr("scale.cu:6: "), HasSubstr("it has a [[workspace]]"), HasSubstr("Write task.toml yourself")));
  EXPECT_THAT(
      refusal("\"in\"", "\"in + rows\""),
      HasSubstr("scale.cu:10: the file has a launch plan, and no task can be drawn from it, for args has 'in + rows'"));
  EXPECT_THAT(
      refusal("scale_rows<2>", "scale_row<2>"),
      HasSubstr("scale.cu:6: the launch plan launches 'scale_row', which the file does not define; it has scale_rows"));
  EXPECT_THAT(
      refusal("\"width:i32\"", "\"width\""),
      HasSubstr("'width' is given to 'n' of kernel 'scale_rows', which takes a number: write NAME:TYPE, as in n:i32"));
  EXPECT_THAT(refusal(", \"width:i32\"", ""), HasSubstr("takes 5 arguments and is given 4"));
  EXPECT_THAT(refusal("\"rows\"]", "\"rows *\"]"), HasSubstr("scale.cu:8: the launch plan's field 'grid': 'rows *'"));
  NewTaskOptions with_grid = Options("scale");
  with_grid.grid = {"1"};
  EXPECT_THAT(refusal("factor", "factor", with_grid),
              HasSubstr("scale.cu:2: --grid is said by the launch plan that stands there"));
}

TEST(NewTask, TheSizesThatMainRunsAreTheTimedCase) {
  const std::string source = R"(
__global__ void add(const float* a, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + 1;
}
void launch_add(const float* a, float* c, int n) { add<<<(n + 255) / 256, 256>>>(a, c, n); }
int main(int argc, char** argv) {
  const int N = 3 << 20;
  float *a, *c;
  cudaMalloc(&a, N * sizeof(float));
  cudaMalloc(&c, N * sizeof(float));
  launch_add(a, c, 1000);
  launch_add(a, c, N);
}
)";
  const TaskDraft draft = DraftTask(source, Options("add")).value();
  EXPECT_THAT(draft.inferred,
              Contains(HasSubstr("the timed case: n=3145728, which add.cu itself runs; --case for other sizes")));
  EXPECT_THAT(draft.guessed, Not(Contains(HasSubstr("timed case"))));
  const Task task = Parsed(draft);
  EXPECT_EQ(task.cases[0].role, CaseRole::kTime);
  EXPECT_EQ(task.cases[0].dims.at("n"), 3 << 20);
  // A size that main() reads from the command line is not a constant; the draft says so.
  std::string asked = source;
  asked.replace(asked.find("3 << 20"), 7, "atoi(argv[1])");
  asked.erase(asked.find("  launch_add(a, c, 1000);\n"), 26);
  const TaskDraft guess = DraftTask(asked, Options("add")).value();
  EXPECT_THAT(guess.guessed,
              Contains(AllOf(HasSubstr(
                  "the timed case: a guess (line 12: main() passes 'N' for n, whose value is not a constant there)"))));
}

TEST(NewTask, AFileThatDoesNotParseIsRefused) {
  EXPECT_THAT(DraftTask("__global__ void k(float* x, int n) {\n  if (threadIdx.x < n { x[0] = 1; }\n}\n", Options("k"))
                  .status()
                  .message(),
              AllOf(HasSubstr("k.cu:"), HasSubstr("has no partner: mend the file first")));
}

}  // namespace
}  // namespace hone
