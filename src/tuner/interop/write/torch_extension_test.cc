// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests generated PyTorch bindings: they compile and run with a fake PyTorch, and their text is as expected.
#include "tuner/interop/write/torch_extension.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/core/program/include_sets.h"
#include "tuner/interop/interop_test_support.h"
#include "tuner/interop/interop_test_task.h"
#include "tuner/interop/write/architecture_option.h"
#include "tuner/interop/write/cuda_header.h"

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace hone::testing;

constexpr char kProgram[] = R"cpp(
#include "hone_scale_add_torch.cu"
  namespace k = hone_kernels_scale_add;
  template <typename F>
  void Try(const char* what, F f) {
    try {
      f();
      printf("%s: done\n", what);
    } catch (const std::exception& e) {
      printf("%s: %s\n", what, e.what());
    }
  }
  int main() {
    RunKernel("winner scale<4>", k::winner_0::HoneKernel0(), &k::winner_0::scale<4>);
    RunKernel("winner inner::add_bias", k::winner_0::HoneKernel1(), &k::winner_0::inner::add_bias);
    RunKernel("winner scale<(2 / 2)>", k::winner_1::HoneKernel0(), &k::winner_1::scale<1>);
    RunKernel("seed scale_add", k::seed_0::HoneKernel0(), &k::seed_0::scale_add);
    torch::TensorOptions f32, f16 = f32.dtype(torch::kFloat16), elsewhere;
    elsewhere.place.index = 1;
    torch::Tensor x({3, 500}, f32), bias({500}, f32);
    for (int i = 0; i < 1500; ++i) static_cast<float*>(x.data_ptr())[i] = i;
    for (int i = 0; i < 500; ++i) static_cast<float*>(bias.data_ptr())[i] = 1;
    torch::Tensor out = scale_add(x, bias, 3.0);
    printf("%g\n", static_cast<float*>(out.data_ptr())[1499]);
    Try("right", [&] { scale_add(x, bias, 3.0); });
    Try("rank", [&] { scale_add(bias, bias, 3.0); });
    Try("shape", [&] { scale_add(x, torch::Tensor({499}, f32), 3.0); });
    Try("dtype", [&] { scale_add(x, torch::Tensor({500}, f16), 3.0); });
    Try("device", [&] { scale_add(x, torch::Tensor({500}, elsewhere), 3.0); });
    Try("host", [&] { scale_add(torch::Tensor({3, 500}, f32, /*cuda=*/false), bias, 3.0); });
    torch::Tensor strided = x;
    strided.contiguous = false;
    Try("strided", [&] { scale_add(strided, bias, 3.0); });
    pybind11::module_ module;
    FakeModule(module);
    for (const std::string& name : module.defined) printf("%s\n", name.c_str());
  }
)cpp";

// Runs a program and returns what it prints: on standard error, if it fails.
std::string OutputOf(std::vector<std::string> argv, std::vector<std::string> environment) {
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = std::move(environment);
  options.limit_seconds = 60;
  const SubprocessResult result = RunSubprocess(options).value();
  return result.exit.success() ? result.out : result.err;
}

TEST(TorchExtension, ChecksWhatItIsGivenAndComputes) {
  const KernelPackage package = ScaleAddPackage();
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / "hone_scale_add.cuh", CudaHeader(package).value());
  const std::vector<GeneratedFile> files = TorchExtension(package).value();
  for (const GeneratedFile& file : files) Write(directory / file.name, file.text);
  Write(directory / "main.cu", kProgram);
  ASSERT_EQ(CompileForHost(directory.path(), {"main.cu"}, "program"), "");
  const SubprocessResult run = RunProgram({directory / "program"});
  EXPECT_EQ(run.out,
            "4498\n"
            "right: done\n"
            "rank: x: expected 2 dimensions, found 1\n"
            "shape: bias: expected shape [500], found [499]\n"
            "dtype: bias: expected 1, found 2\n"
            "device: bias: lies on cuda:1, the first tensor on cuda:0\n"
            "host: x: expected a CUDA tensor\n"
            "strided: x: must be contiguous; call .contiguous() first\n"
            "scale_add\n"
            "scale_add_out\n")
      << run.err;
}

// Compiles with C++20, which PyTorch needs from 2.15 on; the header's own test uses C++17. nvcc names unnamed
// namespaces after the file, so that the binding's own must not make names in the header's ambiguous.
TEST(TorchExtension, CompilesWithNvcc) {
#ifndef HONE_NVCC_PATH
  GTEST_SKIP() << "nvcc is not installed";
#else
  KernelPackage package;
  package.task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/silu_and_mul").value();
  package.winner = package.seed = ParseCandidate(package.task.seed_source, "seed.cu", package.task).value();
  package.winner_binding = DefaultBinding(package.winner.plan);
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  Write(directory / CudaHeaderName(package), CudaHeader(package).value());
  const std::vector<GeneratedFile> files = TorchExtension(package).value();
  Write(directory / files[0].name, files[0].text);
  const SubprocessResult nvcc =
      RunProgram({HONE_NVCC_PATH, "-std=c++20", "-arch=sm_90a", "-DTORCH_EXTENSION_NAME=hone_silu_and_mul",
                  "-I" + FakeTorchDirectory(), "-c", files[0].name, "-o", "binding.o"},
                 directory.path());
  EXPECT_TRUE(nvcc.exit.success()) << nvcc.out << nvcc.err;
#endif
}

constexpr char kProductTask[] = R"(
name = "fused"
summary = "relu of a product, halved"
class = "gemm"
[dims]
rows = "rows"
inner = "summed over"
width = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "inner"]
[[tensor]]
name = "weight"
role = "in"
dtype = "float32"
shape = ["width", "inner"]
[[tensor]]
name = "bias"
role = "in"
dtype = "float32"
shape = ["width"]
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["rows", "width"]
[tolerance.y]
c_max = 1e-3
c_rms = 1e-3
[[case]]
role = "check"
dims = { rows = 2, inner = 3, width = 2 }
)";

// Returns a candidate whose plan calls a library for a product; `more`: further fields of the call.
std::string ProductSource(const std::string& more) {
  return "/*hone\n[[workspace]]\nname = \"h\"\nbytes = \"rows * width * 4\"\n"
         "[[call]]\nop = \"matmul\"\na = \"x\"\nb = \"weight\"\ntranspose_b = true\nout = \"h\"\nm = \"rows\"\nn = \"width\"\nk = \"inner\"\n" +
         more +
         "[[launch]]\nstep = 1\nkernel = \"halve\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [\"h\", \"y\", \"rows * width:i64\"]\n*/\n"
         "__global__ void halve(const float* h, float* y, long long n) { for (long long i = 0; i < n; ++i) y[i] = 0.5f * h[i]; }\n";
}

// The library calls of a plan become calls of PyTorch's functions in the binding.
TEST(TorchExtension, CallsOfLibrariesBecomePyTorchs) {
  const Task task = ParseTask(kProductTask, "task.toml").value();
  const struct {
    const char *more, *expected;
  } kCalls[] = {{"", "-2 16 -11 47.5"},
                {"bias = \"bias\"\n", "3 11 -6 42.5"},
                {"bias = \"bias\"\nepilogue = \"relu\"\n", "3 11 0 42.5"},
                {"epilogue = \"relu\"\n", "0 16 0 47.5"}};
  for (const auto& one : kCalls) {
    SCOPED_TRACE(one.more);
    KernelPackage package;
    package.task = task;
    const Result<Candidate> candidate = ParseCandidate(ProductSource(one.more), "fused.cu", task);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    package.winner = package.seed = *candidate;
    package.winner_binding = DefaultBinding(package.winner.plan);
    const TemporaryDirectory directory = MakeTemporaryDirectory().value();
    const Result<std::string> header = CudaHeader(package);
    ASSERT_TRUE(header.ok()) << header.status().message();
    Write(directory / "hone_fused.cuh", *header);
    const std::vector<GeneratedFile> files = TorchExtension(package).value();
    for (const GeneratedFile& file : files) Write(directory / file.name, file.text);
    Write(directory / "main.cu", R"cpp(
#include "hone_fused_torch.cu"
  namespace k = hone_kernels_fused;
  int main() {
    RunKernel("winner halve", k::winner_0::HoneKernel0(), &k::winner_0::halve);
    torch::TensorOptions f32;
    torch::Tensor x({2, 3}, f32), weight({2, 3}, f32), bias({2}, f32);
    const float xs[] = {1, -2, 3, 4, 5, 6}, ws[] = {-7, 0, 1, 2, 3, 12}, bs[] = {10, -10};
    for (int i = 0; i < 6; ++i) static_cast<float*>(x.data_ptr())[i] = xs[i], static_cast<float*>(weight.data_ptr())[i] = ws[i];
    for (int i = 0; i < 2; ++i) static_cast<float*>(bias.data_ptr())[i] = bs[i];
    torch::Tensor y = fused(x, weight, bias);
    const float* values = static_cast<const float*>(y.data_ptr());
    printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  }
)cpp");
    ASSERT_EQ(CompileForHost(directory.path(), {"main.cu"}, "program"), "");
    EXPECT_EQ(RunProgram({directory / "program"}).out, std::string(one.expected) + "\n");
  }
}

TEST(TorchExtension, BuildFilesNameTheSourceAndTheOptions) {
  KernelPackage package = ScaleAddPackage();
  package.winner.plan.compiler_options = {"--use_fast_math"};
  const std::vector<GeneratedFile> files = TorchExtension(package).value();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].name, "hone_scale_add_torch.cu");
  EXPECT_THAT(files[0].text, HasSubstr("getCurrentCUDAStream"));
  EXPECT_THAT(files[1].text, HasSubstr("CUDAExtension"));
  EXPECT_THAT(files[1].text, HasSubstr("\"--use_fast_math\""));
  EXPECT_THAT(files[2].text, HasSubstr("scale_add(x, bias, factor=3)"));
  EXPECT_THAT(files[2].text, HasSubstr("hone_scale_add_torch.cu"));
  // PyTorch's headers need C++17 or C++20, depending on the version, and its build adds the option only if no standard
  // is given.
  for (size_t i = 1; i < 3; ++i) EXPECT_THAT(files[i].text, Not(HasSubstr("-std=")));
  // The scripts' brackets are balanced, as Python requires.
  for (size_t i = 1; i < 3; ++i) {
    const std::string& text = files[i].text;
    for (const auto& [open, close] : {std::pair{'(', ')'}, {'[', ']'}, {'{', '}'}})
      EXPECT_EQ(std::count(text.begin(), text.end(), open), std::count(text.begin(), text.end(), close)) << text;
  }
}

TEST(TorchExtension, LooksForCutlassWhereHoneDoes) {
  KernelPackage package = ScaleAddPackage();
  EXPECT_THAT(TorchExtension(package).value()[2].text, Not(HasSubstr("CUTLASS")));
  package.winner.plan.include_set = "cute";
  const std::string load = TorchExtension(package).value()[2].text;
  EXPECT_THAT(load, HasSubstr("extra_include_paths=[_here, _cutlass_include()]"));
  const std::string header = CudaHeader(package).value();
  for (const std::string_view name : IncludeSetHeaders("cute")) EXPECT_THAT(header, HasSubstr(fmt::format("#include {}\n", name)));

  const Result<std::string> python = FindExecutable("python3", {"/usr/bin", "/usr/local/bin"});
  if (!python.ok()) GTEST_SKIP() << "needs python3: " << python.status().message();
  // The search for CUTLASS is cut out of load.py and run without torch.
  const size_t from = load.find("def _cutlass_include"), to = load.find("\n_here", from);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  for (const char* place : {"checkout/include", "package/cutlass_library/source/include"}) {
    ASSERT_TRUE(MakeDirectories(folder / (std::string(place) + "/cute")).ok());
    ASSERT_TRUE(WriteFileAtomically(folder / (std::string(place) + "/cute/tensor.hpp"), "").ok());
  }
  ASSERT_TRUE(WriteFileAtomically(folder / "search.py", "import os\nimport sys\n" + load.substr(from, to - from) + "\nprint(_cutlass_include())\n").ok());
  const auto found = [&](std::vector<std::string> environment) {
    return OutputOf({*python, folder / "search.py"}, std::move(environment));
  };
  EXPECT_EQ(found({"CUTLASS_HOME=" + (folder / "checkout"), "CUTLASS_PATH=/nowhere"}), (folder / "checkout/include") + "\n");
  EXPECT_EQ(found({"CUTLASS_HOME=" + (folder / "checkout/include")}), (folder / "checkout/include/") + "\n");
  EXPECT_EQ(found({"CUTLASS_PATH=" + (folder / "package")}), (folder / "package/cutlass_library/source/include") + "\n");
  EXPECT_THAT(found({"CUTLASS_HOME=/nowhere"}), HasSubstr("pip install nvidia-cutlass"));
}

// wgmma and its like exist for sm_90a alone, which PyTorch does not ask for by itself.
TEST(TorchExtension, CompilesForTheArchitectureOfTheGpu) {
  const std::vector<GeneratedFile> files = TorchExtension(ScaleAddPackage()).value();
  EXPECT_THAT(files[1].text, HasSubstr("+ _architecture()}"));
  EXPECT_THAT(files[2].text, HasSubstr("] + _architecture(),"));
  const Result<std::string> python = FindExecutable("python3", {"/usr/bin", "/usr/local/bin"});
  if (!python.ok()) GTEST_SKIP() << "needs python3: " << python.status().message();
  const TemporaryDirectory folder = MakeTemporaryDirectory().value();
  // A module of this name stands in for PyTorch.
  ASSERT_TRUE(WriteFileAtomically(folder / "torch.py", "import os\n\nclass cuda:\n"
                                  "    is_available = staticmethod(lambda: 'CAPABILITY' in os.environ)\n"
                                  "    get_device_capability = staticmethod(lambda: tuple(map(int, os.environ['CAPABILITY'].split('.'))))\n").ok());
  ASSERT_TRUE(WriteFileAtomically(folder / "asked.py", std::string(kArchitectureOption) + "\nprint(_architecture())\n").ok());
  const auto options = [&](std::vector<std::string> environment) {
    return OutputOf({*python, folder / "asked.py"}, std::move(environment));
  };
  EXPECT_EQ(options({"CAPABILITY=9.0"}), "['-gencode=arch=compute_90a,code=sm_90a']\n");
  EXPECT_EQ(options({"CAPABILITY=8.6"}), "['-gencode=arch=compute_86,code=sm_86']\n");
  EXPECT_EQ(options({"CAPABILITY=9.0", "TORCH_CUDA_ARCH_LIST=9.0"}), "[]\n");
  EXPECT_EQ(options({}), "[]\n");
}

TEST(TorchExtension, InPlaceTensorsAreUpdatedAndReturned) {
  const std::string tasks = std::string(HONE_SOURCE_DIR) + "/tasks/";
  KernelPackage package;
  package.task = LoadTask(tasks + "fused_add_rmsnorm").value();
  package.winner = package.seed = ParseCandidate(package.task.seed_source, "seed.cu", package.task).value();
  const std::vector<GeneratedFile> files = TorchExtension(package).value();
  const std::string& text = files[0].text;
  EXPECT_THAT(text, HasSubstr("m.def(\"fused_add_rmsnorm\", &fused_add_rmsnorm_out"));
  EXPECT_THAT(text, HasSubstr("static_cast<__half*>(residual.data_ptr())"));
  EXPECT_THAT(text, HasSubstr("pybind11::arg(\"eps\") = 1e-06"));
  EXPECT_THAT(text, Not(HasSubstr("torch::empty")));
}

TEST(TorchExtension, FindsDimensionsBehindMultiples) {
  const Task silu = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/silu_and_mul").value();
  const std::vector<DimSource> dims = FindDimensions(silu);
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[1].tensor, "x");
  EXPECT_EQ(dims[1].axis, 1);
  EXPECT_EQ(dims[1].divisor, 2);
}

TEST(TorchExtension, FindsADimensionBehindAProductWithAnother) {
  const Task task =
      ParseTask(
          "name = \"turn\"\nsummary = \"turn\"\nclass = \"other\"\n[dims]\ngroup = \"queries a head\"\nheads = \"key "
          "heads\"\n"
          "[[tensor]]\nname = \"q\"\nrole = \"in\"\ndtype = \"float32\"\nshape = [\"group * heads\"]\n"
          "[[tensor]]\nname = \"k\"\nrole = \"in\"\ndtype = \"float32\"\nshape = [\"heads\"]\n"
          "[[tensor]]\nname = \"y\"\nrole = \"out\"\ndtype = \"float32\"\nshape = [\"heads\"]\n"
          "[tolerance.y]\nc_max = 1e-3\nc_rms = 1e-3\n[[case]]\nrole = \"check\"\ndims = { group = 2, heads = 3 }\n",
          "task.toml")
          .value();
  const std::vector<DimSource> dims = FindDimensions(task);
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[0].tensor, "q");
  EXPECT_EQ(dims[0].other, "heads");
  EXPECT_EQ(dims[1].tensor, "k");
  EXPECT_EQ(dims[1].other, "");
}

}  // namespace
}  // namespace hone
