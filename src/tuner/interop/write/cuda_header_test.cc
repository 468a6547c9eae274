// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests generated headers by compiling and running them with a fake CUDA runtime: they make the same launches as the
// evaluator, and the outputs are right. nvcc compiles and links them if it is installed.
#include "tuner/interop/write/cuda_header.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tuner/core/plan/bindings.h"
#include "tuner/interop/interop_test_support.h"
#include "tuner/interop/interop_test_task.h"
#include "tuner/interop/read/host_expression.h"
#include "tuner/interop/write/embed_source.h"
#include "tuner/interop/write/header_support.h"
#include "tuner/interop/write/join_seed.h"
#include "tuner/interop/write/served_shapes.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace hone::testing;

// Calls hone::scale_add for every "rows d" on the command line and prints the launches and whether `out` is right.
constexpr char kProgram[] = R"cpp(
#include "hone_scale_add.cuh"
#include <cmath>
  namespace k = hone_kernels_scale_add;
  bool LinkedTwice(int rows);
  int main(int argc, char** argv) {
    RunKernel("winner scale<4>", k::winner_0::HoneKernel0(), &k::winner_0::scale<4>);
    RunKernel("winner inner::add_bias", k::winner_0::HoneKernel1(), &k::winner_0::inner::add_bias);
    RunKernel("winner scale<(2 / 2)>", k::winner_1::HoneKernel0(), &k::winner_1::scale<1>);
    RunKernel("seed scale_add", k::seed_0::HoneKernel0(), &k::seed_0::scale_add);
    for (int a = 1; a + 1 < argc; a += 2) {
      const long long rows = atoll(argv[a]), d = atoll(argv[a + 1]), n = rows * d;
      const bool real = rows >= 0 && d >= 0 && rows < 10000 && d < 10000;
      float* memory = static_cast<float*>(aligned_alloc(256, 4 * (2 * (real ? n : 0) + 2 * 10000 + 512) / 256 * 256));
      float *bias = memory, *x = memory + 10048, *out = x + (real ? (n + 63) / 64 * 64 : 0);
      for (long long i = 0; real && i < n; ++i) x[i] = i % 17;
      for (long long i = 0; real && i < d; ++i) bias[i] = i % 5;
      fake_launches().clear();
      size_t bytes = 1;
      const cudaError_t sized = hone::scale_add_workspace(x, bias, out, 3.0f, rows, d, nullptr, &bytes);
      const cudaError_t error = hone::scale_add(x, bias, out, 3.0f, rows, d, nullptr);
      bool right = error == cudaSuccess;
      for (long long i = 0; right && i < n; ++i) right = out[i] == 3.0f * (i % 17) + (i % d) % 5;
      printf("%lld %lld: error %d %d %s\n", rows, d, int(sized), int(error), right ? "right" : "wrong");
      for (const std::string& line : fake_launches()) printf("  %s\n", line.c_str());
      // The function is called again, with a workspace that the caller allocates.
      if (real && sized == cudaSuccess) {
        void* workspace = aligned_alloc(256, (bytes + 511) / 256 * 256);
        for (long long i = 0; i < n; ++i) out[i] = -1;
        bool again = hone::scale_add(x, bias, out, 3.0f, rows, d, workspace, nullptr) == cudaSuccess;
        for (long long i = 0; again && i < n; ++i) again = out[i] == 3.0f * (i % 17) + (i % d) % 5;
        if (!again) printf("  WRONG with the caller's workspace\n");
        free(workspace);
      }
      free(memory);
    }
    alignas(256) static float tensors[3][64];
    printf("null %d\n", int(hone::scale_add(nullptr, tensors[1], tensors[2], 1, 2, 8, nullptr)));
    printf("misaligned %d\n", int(hone::scale_add(tensors[0] + 1, tensors[1], tensors[2], 1, 2, 8, nullptr)));
    fake_attributes[cudaDevAttrComputeCapabilityMajor] = 8;
    fake_launches().clear();
    hone::scale_add(tensors[0], tensors[1], tensors[2], 1, 1, 64, nullptr);
    printf("older device: %s\n", fake_launches()[0].c_str());
    return LinkedTwice(1) ? 0 : 1;
  }
)cpp";
constexpr char kSecondFile[] = R"cpp(
#include "hone_scale_add.cuh"
  bool LinkedTwice(int rows) {
    return hone::scale_add(nullptr, nullptr, nullptr, 1, rows, 0, nullptr) == cudaSuccess;
  }
)cpp";

// Returns the launches that the evaluator's ResolvePlan makes, as the fake runtime prints them.
std::string Expected(const KernelPackage& package, const Dims& dims, bool seed) {
  DeviceFacts facts;
  facts.sm_count = 4;
  facts.cc_major = 9;
  facts.smem_optin = 200 * 1024;
  const Candidate& candidate = seed ? package.seed : package.winner;
  const Result<ResolvedPlan> plan =
      ResolvePlan(candidate, package.task, dims, seed ? Binding{} : package.winner_binding, facts);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  std::string text;
  for (const ResolvedStep& s : plan->steps) {
    if (s.is_memset) {
      text += fmt::format("  memset {} {}\n", s.memset_value, s.memset_bytes);
      continue;
    }
    if (s.shared_bytes > 48 * 1024) text += fmt::format("  attribute {}\n", s.shared_bytes);
    text += fmt::format("  {} {} grid {} {} {} block {} {} {} shared {}{}\n", seed ? "seed" : "winner", s.kernel,
                        s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.shared_bytes,
                        s.programmatic_dependent_launch ? " dependent" : "");
  }
  return text;
}

TEST(CudaHeader, LaunchesWhatTheEvaluatorWould) {
  const KernelPackage package = ScaleAddPackage();
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "hone_scale_add.cuh", CudaHeader(package).value());
  Write(directory / "main.cu", kProgram);
  Write(directory / "second.cu", kSecondFile);
  ASSERT_EQ(CompileForHost(directory.path(), {"main.cu", "second.cu"}, "program"), "");
  const std::vector<std::pair<int64_t, int64_t>> shapes = {
      {64, 1024}, {2, 8}, {3, 5}, {33, 37}, {1, 1025}, {1, 1024}, {0, 7}, {7, 0}, {50, 84}, {2000, 3}, {1, 9000}};
  std::vector<std::string> argv = {directory / "program"};
  std::string expected;
  for (const auto& [rows, d] : shapes) {
    argv.push_back(std::to_string(rows));
    argv.push_back(std::to_string(d));
    expected += fmt::format("{} {}: error 0 0 right\n", rows, d);
    expected += Expected(package, {{"rows", rows}, {"d", d}}, rows * d <= 1024);
  }
  // Sizes that no tensor can have are refused; their product does not wrap around.
  for (const char* text : {"-1", "5", "4611686018427387904", "4"}) argv.emplace_back(text);
  expected += "-1 5: error 1 1 wrong\n4611686018427387904 4: error 1 1 wrong\n";
  expected += "null 1\nmisaligned 716\nolder device: seed scale_add grid 1 1 1 block 128 1 1 shared 0\n";
  const SubprocessResult run = RunProgram(argv);
  EXPECT_TRUE(run.exit.success()) << run.exit.Describe() << run.err;
  EXPECT_EQ(run.out, expected);
}

// The judge runs the task's seed for the shapes that a plan leaves out, and so must the generated function.
TEST(CudaHeader, ShapesThatThePlanLeavesOutRunTheSeed) {
  KernelPackage package = ScaleAddPackage();
  std::string source = kScaleAddWinner;
  const size_t second = source.find("[[launch]]\nstep = 1\nkernel = \"scale<(VEC / 2)>");
  source.erase(second, source.find("[[launch]]\nstep = 2") - second);
  package.winner = ParseCandidate(source, "partial.cu", package.task).value();
  package.winner_binding = DefaultBinding(package.winner.plan);
  package.seed_shapes.clear();
  EXPECT_THAT(ServedWhen(package.winner.plan), ElementsAre("d % 4 == 0 && align(x) >= 16"));
  EXPECT_THAT(RefusedUnless(package), IsEmpty());
  EXPECT_THAT(DescribeServedShapes(package), HasSubstr("the task's seed, which is compiled in, runs for all others"));
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "hone_scale_add.cuh", CudaHeader(package).value());
  std::string program = kProgram;
  const size_t gone = program.find("    RunKernel(\"winner scale<(2 / 2)>");
  program.erase(gone, program.find('\n', gone) - gone);
  Write(directory / "main.cu", program);
  Write(directory / "second.cu", kSecondFile);
  ASSERT_EQ(CompileForHost(directory.path(), {"main.cu", "second.cu"}, "program"), "");
  std::vector<std::string> argv = {directory / "program"};
  std::string expected;
  for (const auto& [rows, d] : std::vector<std::pair<int64_t, int64_t>>{{64, 1024}, {3, 5}, {7, 8}, {2000, 3}}) {
    argv.push_back(std::to_string(rows));
    argv.push_back(std::to_string(d));
    expected += fmt::format("{} {}: error 0 0 right\n", rows, d);
    expected += Expected(package, {{"rows", rows}, {"d", d}}, d % 4 != 0);
  }
  const SubprocessResult run = RunProgram(argv);
  EXPECT_THAT(run.out, ::testing::StartsWith(expected));

  // Without a seed for these shapes they are refused, and the user is told the condition.
  package.seed = package.winner;
  EXPECT_THAT(RefusedUnless(package), ElementsAre("d % 4 == 0 && align(x) >= 16"));
  EXPECT_THAT(CudaHeader(package).value(),
              AllOf(HasSubstr("refused with cudaErrorInvalidValue"), HasSubstr("the plan serves no such shape")));
}

// A run that starts from a plan that leaves shapes out starts from a joined plan. For each shape, either every step is
// the plan's own, or every step is the seed's.
TEST(JoinSeed, PutsTheSeedBehindAPlanThatLeavesShapesOut) {
  KernelPackage package = ScaleAddPackage();
  package.task.seed_source = kScaleAddSeed;
  EXPECT_EQ(JoinSeed(package.task, kScaleAddWinner, "k.cu").value(), kScaleAddWinner) << "serves every shape by itself";
  std::string partial = kScaleAddWinner;
  const size_t second = partial.find("[[launch]]\nstep = 1\nkernel = \"scale<(VEC / 2)>");
  partial.erase(second, partial.find("[[launch]]\nstep = 2") - second);
  const std::string joined = JoinSeed(package.task, partial, "k.cu").value();
  const Candidate candidate = ParseCandidate(joined, "k.cu", package.task).value();
  EXPECT_THAT(ServedWhen(candidate.plan), IsEmpty());
  DeviceFacts facts;
  facts.sm_count = 4;
  facts.cc_major = 9;
  facts.smem_optin = 200 * 1024;
  const auto kernels = [&](const Dims& dims) {
    std::vector<std::string> names;
    const ResolvedPlan plan = ResolvePlan(candidate, package.task, dims, DefaultBinding(candidate.plan), facts).value();
    for (const ResolvedStep& s : plan.steps) names.push_back(s.is_memset ? "memset" : s.kernel);
    return names;
  };
  EXPECT_THAT(kernels({{"rows", 3}, {"d", 8}}), ElementsAre("memset", "scale<4>", "inner::add_bias"));
  EXPECT_THAT(kernels({{"rows", 3}, {"d", 5}}), ElementsAre("hone_seed::scale_add"));
  // The header of the joined candidate compiles, although both sources define the macro WIDTH.
  package.winner = candidate;
  package.winner_binding = DefaultBinding(candidate.plan);
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "hone_scale_add.cuh", CudaHeader(package).value());
  Write(directory / "main.cu", "#include \"hone_scale_add.cuh\"\nint main() { return 0; }\n");
  EXPECT_EQ(CompileForHost(directory.path(), {"main.cu"}, "program"), "");

  // Plans that cannot be joined are refused with the file's own name, before anything runs.
  package.task.seed_source.clear();
  EXPECT_THAT(JoinSeed(package.task, partial, "k.cu").status().message(),
              AllOf(::testing::StartsWith("k.cu:"), HasSubstr("d % 4 == 0"), HasSubstr("the task has none"),
                    HasSubstr("without `when`")));
}

TEST(CudaHeader, SaysWhereItComesFromAndWhatItPromises) {
  KernelPackage package = ScaleAddPackage();
  package.winner.plan.compiler_options = {"--use_fast_math"};
  std::string header = CudaHeader(package).value();
  EXPECT_THAT(header, HasSubstr("node 3 of run 20260921-000000-0001"));
  EXPECT_THAT(header, HasSubstr("2.000x [1.900, 2.100]"));
  EXPECT_THAT(header, HasSubstr("-> the seed runs"));
  EXPECT_THAT(header, HasSubstr("--use_fast_math"));
  EXPECT_THAT(header, HasSubstr("not checked with these"));
  EXPECT_THAT(header, Not(HasSubstr("MODELLED")));
  EXPECT_THAT(header, Not(HasSubstr("--seed-kernel")));
  package.modelled = true;
  package.paired = false;
  package.other_seed = true;
  header = CudaHeader(package).value();
  EXPECT_THAT(header, HasSubstr("the kernel with which the run began (--seed-kernel), and not the task's seed.cu"));
  EXPECT_THAT(header, HasSubstr("MODELLED by the simulator"));
  EXPECT_THAT(header, HasSubstr("NOT paired"));
}

TEST(EmbedSource, TakesOutWhatANamespaceCannotHold) {
  const EmbeddedSource source = EmbedSource(
      "#pragma once\n#include <a.h>\n# include \"b.h\"\n#include <a.h>\n#define N 4\n#define F(x) \\\n (x)\n"
      "extern \"C\" __global__ void k() { }\nextern \"C\" {\nvoid f();\n}\n// #include <in_a_comment.h>\n");
  EXPECT_THAT(source.includes, ElementsAre("<a.h>", "\"b.h\""));
  EXPECT_THAT(source.macros, ElementsAre("N", "F"));
  EXPECT_THAT(source.text, Not(HasSubstr("extern")));
  EXPECT_THAT(source.text, HasSubstr("inline namespace c_linkage {\nvoid f();"));
  EXPECT_THAT(source.text, HasSubstr("in_a_comment"));
}

TEST(HostExpression, ReplacesNamesAndNothingElse) {
  HostNames names;
  names.names = {{"int", "int_"}, {"sm_count", "Int(Sms())"}};
  names.call = [](std::string_view f, const std::vector<std::string>& a) -> Result<std::string> {
    return fmt::format("<{}|{}>", f, fmt::join(a, "|"));
  };
  EXPECT_EQ(HostExpression("ceil_div(int * 2, 8) > sm_count ? 1 : 0", names).value(),
            "ceil_div(int_ * 2, 8) > Int(Sms()) ? 1 : 0");
  EXPECT_EQ(HostExpression("occupancy(k<4, A<1>>) + stride(x, 1)", names).value(),
            "<occupancy|k<4, A<1>>> + <stride|x|1>");
  EXPECT_EQ(HostExpression("100000 * 100000", names).value(), "100000LL * 100000LL");
  EXPECT_FALSE(HostExpression("align(x)", {}).ok());
  EXPECT_EQ(HostIdentifier("float"), "float_");
  EXPECT_EQ(HostIdentifier("ok", {"ok", "ok_"}), "ok__");
}

// The generated C++ gives the same values as the evaluator, and fails for the same expressions.
TEST(HostExpression, MeansWhatTheEvaluatorMeans) {
  const std::vector<std::string> texts = {"a + b * 2 - 7",
                                          "a / b",
                                          "a % b",
                                          "ceil_div(a, b)",
                                          "round_up(a, 8)",
                                          "min(a, b, 5, 3)",
                                          "max(a, b, -9)",
                                          "log2(a)",
                                          "a > b ? a - b : b - a",
                                          "a != 0 && b / a > 2",
                                          "a == 0 || b % a == 1",
                                          "!(a < b) + 3",
                                          "-a - -b",
                                          "a * b * 4611686018427387904",
                                          "(a > 3) + (b > 3) * 2",
                                          "a * 70000 * 70000",
                                          "a >= b ? b > 2 && a > 2 : 7",
                                          "9223372036854775807 + a"};
  const std::vector<std::pair<int64_t, int64_t>> values = {{0, 0}, {1, 3}, {7, 2}, {-5, 3}, {12, -4}, {1024, 31}};
  std::string program = "#include <cuda_runtime.h>\n#include <limits.h>\n#include <stdint.h>\nnamespace {\n" +
                        std::string(HeaderSupport()) + "}\nint main() {\n";
  std::string expected;
  for (const std::string& text : texts) {
    for (const auto& [x, y] : values) {
      program += fmt::format(
          "  {{ bool ok = true; const Int a({}LL, &ok), b({}LL, &ok); const Int r = {}; if (ok) printf(\"%lld\\n\", "
          "r.value); else printf(\"refused\\n\"); }}\n",
          x, y, HostExpression(text, {}).value());
      const Result<int64_t> value = Expression::Parse(text)->Evaluate({{"a", x}, {"b", y}});
      expected += value.ok() ? fmt::format("{}\n", *value) : "refused\n";
    }
  }
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "main.cc", program + "}\n");
  ASSERT_EQ(CompileForHost(directory.path(), {"main.cc"}, "program"), "");
  const SubprocessResult run = RunProgram({directory / "program"});
  std::istringstream actual_numbers(run.out), expected_numbers(expected);
  std::string g, w;
  for (const std::string& text : texts) {
    for (const auto& [x, y] : values) {
      ASSERT_TRUE(std::getline(actual_numbers, g) && std::getline(expected_numbers, w));
      EXPECT_EQ(g, w) << text << " with a = " << x << ", b = " << y;
    }
  }
}

// Only nvcc compiles kernels in unnamed namespaces, and the launches, for both architectures.
TEST(CudaHeader, CompilesAndLinksWithNvcc) {
#ifndef HONE_NVCC_PATH
  GTEST_SKIP() << "nvcc is not installed";
#else
  const std::string tasks = std::string(HONE_SOURCE_DIR) + "/tasks/";
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "hone_scale_add.cuh", CudaHeader(ScaleAddPackage()).value());
  KernelPackage package;
  package.task = LoadTask(tasks + "fused_add_rmsnorm").value();
  package.winner = ParseCandidate(package.task.seed_source, "winner.cu", package.task).value();
  package.seed = package.winner;
  package.winner_binding = DefaultBinding(package.winner.plan);
  package.winner_binding["BLOCK"] = 256;
  package.seed_shapes = {"tokens <= 16"};
  package.run = "r";
  Write(directory / "hone_fused_add_rmsnorm.cuh", CudaHeader(package).value());
  // A kernel takes integers of every type. The header's check that a value fits must not compare an unsigned type with
  // zero, of which nvcc warns.
  package.task =
      ParseTask(
          "name = \"count\"\nsummary = \"count\"\nclass = \"other\"\n[dims]\nn = \"n\"\n[[tensor]]\nname = \"y\"\nrole "
          "= "
          "\"out\"\ndtype = \"float32\"\nshape = [\"n\"]\n[tolerance.y]\nc_max = 1e-3\nc_rms = 1e-3\n[[case]]\nrole = "
          "\"check\"\ndims = { n = 3 }\n",
          "task.toml")
          .value();
  package.winner = package.seed = ParseCandidate(
                                      "/*hone\n[[launch]]\nkernel = \"count\"\ngrid = [\"n\"]\nblock = [\"1\"]\nargs = "
                                      "[\"y\", \"n:u32\", \"n:u64\", "
                                      "\"n:i32\", \"n > 1:bool\"]\n*/\n__global__ void count(float* y, unsigned a, "
                                      "unsigned long long b, int c, bool d) "
                                      "{ y[blockIdx.x] = d ? a : b + c; }\n",
                                      "count.cu", package.task)
                                      .value();
  package.winner_binding.clear();
  package.seed_shapes.clear();
  Write(directory / "hone_count.cuh", CudaHeader(package).value());
  Write(directory / "main.cu", R"cpp(
#include "hone_count.cuh"
#include "hone_fused_add_rmsnorm.cuh"
#include "hone_scale_add.cuh"
    int main(int argc, char**) {
      __half* none = nullptr;
      const cudaError_t a = hone::fused_add_rmsnorm(none, none, none, 1e-6f, argc - 1, 8, nullptr);
      const cudaError_t b = hone::scale_add(nullptr, nullptr, nullptr, 2.0f, argc - 1, 8, nullptr);
      const cudaError_t c = hone::count(nullptr, argc - 1, nullptr);
      return a == cudaSuccess && b == cudaSuccess && c == cudaSuccess ? 0 : 1;
    }
  )cpp");
  const SubprocessResult nvcc = RunProgram(
      {HONE_NVCC_PATH, "-std=c++17", "-Werror=all-warnings", "-Wno-deprecated-gpu-targets", "-t", "2",
       "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a", "main.cu", "-o", "program"},
      directory.path());
  EXPECT_TRUE(nvcc.exit.success()) << nvcc.out << nvcc.err;
#endif
}

}  // namespace
}  // namespace hone
