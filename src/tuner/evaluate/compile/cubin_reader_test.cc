// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests compare the cubin reader with the compiler's own figures: nvcc --resource-usage prints what ptxas
// counted, and the reader must find the same in the bytes. They are skipped, with the reason, where nvcc is not
// installed.
#include "tuner/evaluate/compile/cubin_reader.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/process/subprocess.h"

#ifndef HONE_NVCC_PATH
#define HONE_NVCC_PATH ""
#endif

namespace hone {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct Compiled {
  std::string bytes, messages;
};

#define SKIP_WITHOUT_NVCC() \
  if (!FileExists(HONE_NVCC_PATH)) GTEST_SKIP() << "nvcc is not installed"

Compiled Nvcc(const std::string& source, const std::string& architecture) {
  auto directory = MakeTemporaryDirectory();
  EXPECT_TRUE(WriteFileAtomically(*directory / "a.cu", source).ok());
  SubprocessOptions options;
  options.argv = {HONE_NVCC_PATH, "-cubin", "-arch=" + architecture, "--resource-usage", "-o", *directory / "a.cubin", *directory / "a.cu"};
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + directory->path()};
  const auto result = RunSubprocess(options);
  EXPECT_TRUE(result.ok() && result->exit.success()) << (result.ok() ? result->err : result.status().message());
  auto bytes = ReadFile(*directory / "a.cubin");
  return {bytes.ok() ? *bytes : "", result.ok() ? result->out + result->err : ""};
}

struct Figures {
  int registers = 0;
  int64_t stack = 0, shared = 0;
  bool operator==(const Figures&) const = default;
};

// Returns the figures of each kernel from nvcc's messages: "Compiling entry function '_Z1k' for …" to
// "Used 32 registers, …, 256 bytes cumulative stack size, 400 bytes smem".
std::map<std::string, Figures> FiguresOf(const std::string& messages) {
  std::map<std::string, Figures> figures_by_kernel;
  std::string current;
  const auto number_before = [](const std::string& line, const std::string& words) -> int64_t {
    const size_t at = line.find(words);
    if (at == std::string::npos) return 0;
    size_t start = at;
    while (start > 0 && (std::isdigit(static_cast<unsigned char>(line[start - 1])) != 0)) --start;
    return std::stoll(line.substr(start, at - start));
  };
  size_t begin = 0;
  while (begin < messages.size()) {
    const size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string line = messages.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("Compiling entry function '") != std::string::npos) {
      const size_t open = line.find('\'');
      current = line.substr(open + 1, line.find('\'', open + 1) - open - 1);
    } else if (line.find("Used ") != std::string::npos && !current.empty()) {
      figures_by_kernel[current] = {static_cast<int>(number_before(line, " registers")),
                                    number_before(line, " bytes cumulative stack"), number_before(line, " bytes smem")};
    }
  }
  return figures_by_kernel;
}

const char* const kSource = R"(
template <int kV> __global__ void __launch_bounds__(256) spills(float* x, int n) {
  __shared__ float s[100];
  extern __shared__ float dynamic[];
  s[threadIdx.x % 100] = x[0];
  __syncthreads();
  float a[64];
  for (int i = 0; i < n; i++) a[i % 64] = x[i];
  dynamic[0] = a[n % 64];
  x[1] = s[(threadIdx.x + 1) % 100];
}
template __global__ void spills<3>(float*, int);
__device__ __noinline__ float helper(float x, int n) {
  float a[16];
  for (int i = 0; i < n; i++) a[i & 15] = x * i;
  return a[n & 15];
}
__global__ void calls(float* x, int n) { x[0] = helper(x[0], n); }
__global__ void shared(float* x) { __shared__ double d[33]; d[threadIdx.x] = x[0]; __syncthreads(); x[1] = d[1]; }
__global__ void plain(float* x) { x[threadIdx.x] *= 2; }
)";

class CubinReaderArchitectures : public ::testing::TestWithParam<const char*> {};

TEST_P(CubinReaderArchitectures, FindsWhatPtxasCounted) {
  SKIP_WITHOUT_NVCC();
  const Compiled compiled = Nvcc(kSource, GetParam());
  const auto info = ReadCubin(compiled.bytes);
  ASSERT_TRUE(info.ok()) << info.status().message();
  const std::map<std::string, Figures> expected = FiguresOf(compiled.messages);
  ASSERT_EQ(expected.size(), 4u) << compiled.messages;
  ASSERT_EQ(info->kernels.size(), 4u);
  for (const KernelResources& kernel : info->kernels) {
    const Figures computed{kernel.registers, kernel.spill_bytes, kernel.static_shared_bytes};
    const Figures& expected_figures = expected.at(kernel.kernel);
    EXPECT_EQ(computed.registers, expected_figures.registers) << kernel.kernel;
    EXPECT_EQ(computed.stack, expected_figures.stack) << kernel.kernel;
    EXPECT_EQ(computed.shared, expected_figures.shared) << kernel.kernel;
  }
  EXPECT_THAT(info->externs, IsEmpty());
  EXPECT_THAT(info->globals, IsEmpty());
  EXPECT_THAT(info->labels, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Sm, CubinReaderArchitectures, ::testing::Values("sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"),
                         [](const auto& test) { return std::string(test.param); });

TEST(CubinReader, ListsGlobalsOfEveryLinkage) {
  SKIP_WITHOUT_NVCC();
  const Compiled compiled = Nvcc(R"(
__device__ int plain;
static __device__ int hidden;
namespace { __device__ float anonymous[10]; }
__device__ double started = 2.5;
__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ __managed__ int managed;
__global__ void k(float** p) {
  static __device__ int local = 7;
  p[0][0] = plain++ + hidden++ + anonymous[threadIdx.x]++ + started++ + coefficients[threadIdx.x] + local++ + managed;
  p[1] = (float*)malloc(8);
  printf("%d", plain);
})", "sm_90");
  const auto info = ReadCubin(compiled.bytes);
  ASSERT_TRUE(info.ok()) << info.status().message();
  std::map<std::string, int64_t> sizes;
  for (const DeviceGlobal& global : info->globals) {
    EXPECT_TRUE(global.reachable);
    EXPECT_EQ(global.writable, global.symbol != "coefficients");
    for (const char* part : {"plain", "hidden", "anonymous", "started", "local", "coefficients"}) {
      if (global.symbol.ends_with(part) || global.symbol.ends_with(part + std::string("E"))) sizes[part] = global.bytes;
    }
  }
  EXPECT_EQ(sizes, (std::map<std::string, int64_t>{
                       {"plain", 4}, {"hidden", 4}, {"anonymous", 40}, {"started", 8}, {"local", 4}, {"coefficients", 16}}));
  EXPECT_THAT(info->variables, Contains("hidden"));
  EXPECT_THAT(info->managed, UnorderedElementsAre("managed"));
  EXPECT_THAT(info->externs, UnorderedElementsAre("malloc", "vprintf"));
}

TEST(CubinReader, ManyVariablesOfHeadersAreListedOneByOne) {
  SKIP_WITHOUT_NVCC();
  std::string source = "namespace cuda { namespace std {\n", uses;
  for (int i = 0; i < 100; ++i) {
    source += "__device__ int constant" + std::to_string(i) + ";\n";
    uses += "p[0] += cuda::std::constant" + std::to_string(i) + ";";
  }
  source += "} }\n__device__ int own;\nnamespace { __device__ long long mine; }\n__global__ void k(int* p) { own++; mine++; " + uses + " }";
  const auto info = ReadCubin(Nvcc(source, "sm_90").bytes);
  ASSERT_TRUE(info.ok()) << info.status().message();
  ASSERT_EQ(info->globals.size(), 102u);
  int64_t bytes = 0;
  for (const DeviceGlobal& global : info->globals) bytes += global.bytes;
  EXPECT_EQ(bytes, 100 * 4 + 4 + 8);
}

TEST(CubinReader, NamesTheTensorCoresOperands) {
  SKIP_WITHOUT_NVCC();
  const char* const mma = R"(
__global__ void k(float* d, const unsigned* a) {
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.%s {%%0,%%1,%%2,%%3},{%%4,%%5,%%6,%%7},{%%8,%%9},{%%0,%%1,%%2,%%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
  d[0] = c[0] + c[1] + c[2] + c[3];
})";
  const auto labels = [&](const std::string& shape, const std::string& architecture) {
    std::string source = mma;
    source.replace(source.find("%s"), 2, shape);
    for (size_t at = source.find("%%"); at != std::string::npos; at = source.find("%%", at + 1)) source.erase(at, 1);
    const auto info = ReadCubin(Nvcc(source, architecture).bytes);
    return info.ok() ? info->labels : std::vector<std::string>{info.status().message()};
  };
  EXPECT_THAT(labels("m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80"), UnorderedElementsAre("tensor_cores", "tensor_bf16"));
  EXPECT_THAT(labels("m16n8k16.row.col.f32.f16.f16.f32", "sm_90"), UnorderedElementsAre("tensor_cores", "tensor_f16"));
  EXPECT_THAT(labels("m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90"), UnorderedElementsAre("tensor_cores", "tensor_tf32"));
  EXPECT_THAT(labels("m16n8k8.row.col.f32.tf32.tf32.f32", "sm_120"), UnorderedElementsAre("tensor_cores", "tensor_tf32"));
}

// The reader returns for any bytes: a cubin cut off anywhere, or with any one byte changed. (Under AddressSanitizer,
// the test also shows that it reads nothing outside of the bytes.)
TEST(CubinReader, SurvivesDamage) {
  SKIP_WITHOUT_NVCC();
  const std::string cubin = Nvcc(
                                "__device__ int g = 1; __global__ void k(int* x) { __shared__ int s[9]; s[threadIdx.x] "
                                "= g++; __syncthreads(); x[0] = s[1]; }",
                                "sm_90")
                                .bytes;
  ASSERT_TRUE(ReadCubin(cubin).ok());
  size_t refused = 0;
  for (size_t length = 0; length < cubin.size(); length += 13)
    refused += ReadCubin(cubin.substr(0, length)).ok() ? 0 : 1;
  EXPECT_GT(refused, 0u);
  for (size_t at = 0; at < cubin.size(); ++at) {
    std::string damaged = cubin;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)ReadCubin(damaged).ok();
  }
  EXPECT_FALSE(ReadCubin("").ok());
  EXPECT_FALSE(ReadCubin("\x7f" "ELF").ok());
  EXPECT_FALSE(ReadCubin(ReadFile("/proc/self/exe").value()).ok()) << "a program for the host is no cubin";
}

}  // namespace
}  // namespace hone
