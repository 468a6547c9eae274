// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/compile/host_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(HostCode, ATestProgramBelowTheKernelIsNamedWithItsLines) {
  const std::string advice = HostCodeAdvice(
      "#include <vector>\n"
      "/*hone\n*/\n"
      "__global__ void k(const float* x) {}\n"
      "void run(const float* x, int n) {\n"
      "  k<<<n / 256, 256>>>(x);\n"
      "}\n"
      "int main() {\n"
      "  std::vector<float> h(8);\n"
      "}\n",
      "k.cu");
  EXPECT_THAT(advice,
              HasSubstr("k.cu:5: this is host code (a <<<…>>> launch). A candidate holds only its launch plan"));
  EXPECT_THAT(advice, HasSubstr("Delete 'run' in lines 5 to 7, 'main' in lines 8 to 10, and the #include lines"));
}

TEST(HostCode, ItIsFoundInNamespacesAndCountedWhereThereIsMuch) {
  std::string source = "namespace a {\nextern \"C\" {\nvoid first() { cudaMalloc(0, 4); }\n}\n";
  for (int i = 0; i < 5; ++i)
    source += "int* f" + std::to_string(i) + "() { int* p; cudaMallocAsync(&p, 4, 0); return p; }\n";
  const std::string advice = HostCodeAdvice(source + "}\n", "k.cu");
  EXPECT_THAT(advice, HasSubstr("k.cu:3: this is host code (cudaMalloc)"));
  EXPECT_THAT(advice, HasSubstr("'first' in line 3, 'f0' in line 5, 'f1' in line 6, 'f2' in line 7, 2 more, and"));
}

TEST(HostCode, DeviceCodeCommentsAndStringsAreNoHostCode) {
  EXPECT_EQ(HostCodeAdvice("// main() { k<<<1, 1>>>(); }\n"
                           "/* cudaMalloc */\n"
                           "#define MAIN int main() { cudaMalloc }\n"
                           "constexpr int kMany = 1'000; constexpr char kQuote = '\"';\n"
                           "struct Pair { float a, b; };\n"
                           "namespace cg { inline constexpr int n = 4; }\n"
                           "template <int N> __device__ float f(float x) { return x < N ? x : 0; }\n"
                           "__global__ void domain(float* x) {\n"
                           "  cudaGridDependencySynchronize();\n"
                           "  asm volatile(\"k<<<\" : : : \"memory\");\n"
                           "}\n",
                           "k.cu"),
            "");
}

TEST(HostCode, TextThatIsCutOffOrUnbalancedIsRead) {
  EXPECT_EQ(HostCodeAdvice("", "k.cu"), "");
  EXPECT_EQ(HostCodeAdvice("}}}} \"", "k.cu"), "");
  EXPECT_EQ(HostCodeAdvice("/* never closed int main() {}", "k.cu"), "");
  EXPECT_THAT(HostCodeAdvice("} int main() { }", "k.cu"), HasSubstr("k.cu:1: this is host code. A candidate"));
}

}  // namespace
}  // namespace hone
