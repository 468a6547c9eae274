// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/cuda_lexer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  std::vector<std::string> out;
  for (const Token& t : LexCuda(text)) out.emplace_back(t.text);
  return out;
}

TEST(CudaLexer, CommentsAndStringsAreNeverCode) {
  EXPECT_EQ(Texts("a /* expf(x) */ b // logf(y)\nc \"expf(\\\"z\" 'q'"),
            (std::vector<std::string>{"a", "b", "c", "\"expf(\\\"z\"", "'q'"}));
}

TEST(CudaLexer, RawStringsEndAtTheirOwnDelimiter) {
  EXPECT_EQ(Texts("f(R\"x(a \")\" b)x\", 1)"),
            (std::vector<std::string>{"f", "(", "R\"x(a \")\" b)x\"", ",", "1", ")"}));
}

TEST(CudaLexer, NumbersKeepExponentsSuffixesAndSeparators) {
  EXPECT_EQ(Texts("1.5e-3f+0x1p-4-1'000u*.5f"),
            (std::vector<std::string>{"1.5e-3f", "+", "0x1p-4", "-", "1'000u", "*", ".5f"}));
}

TEST(CudaLexer, ADirectiveIsOneTokenWithItsContinuations) {
  const auto tokens = LexCuda("#define A \\\n  expf(x)\nb #c");
  ASSERT_GE(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].kind, TokenKind::kDirective);
  EXPECT_EQ(tokens[0].text, "#define A \\\n  expf(x)");
  EXPECT_EQ(tokens[1].text, "b");
  EXPECT_EQ(tokens[2].kind, TokenKind::kPunctuation);  // '#' in the middle of a line
}

TEST(CudaLexer, BracketsArePairedAndStrayOnesAreNot) {
  const auto tokens = LexCuda("f(a[1]) }");
  EXPECT_EQ(tokens[1].match, 6);
  EXPECT_EQ(tokens[3].match, 5);
  EXPECT_EQ(tokens[7].match, -1);
}

TEST(CudaLexer, FindsKernelsWithTemplatesBoundsAndDefaults) {
  const std::string_view text =
      "__device__ float g(float x) { return x; }\n"
      "template <int kV>\n__global__ void __launch_bounds__(256, 2) silu(const __half* __restrict__ x, uint4 *out, "
      "long "
      "long n, Map<int, 2> m) { if (n) { out[0] = x[0]; } }\n"
      "__global__ void declared_only(int);\n"
      "extern \"C\" __global__ void second(float* a) {}\n";
  const auto tokens = LexCuda(text);
  const auto kernels = FindKernels(tokens);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "silu");
  EXPECT_GE(kernels[0].launch_bounds, 0);
  ASSERT_EQ(kernels[0].parameters.size(), 4u);
  EXPECT_TRUE(kernels[0].parameters[0].to_const);
  EXPECT_TRUE(kernels[0].parameters[0].restricted);
  EXPECT_EQ(kernels[0].parameters[0].pointee, "__half");
  EXPECT_EQ(tokens[static_cast<size_t>(kernels[0].parameters[0].name)].text, "x");
  EXPECT_EQ(kernels[0].parameters[1].pointee, "uint4");
  EXPECT_FALSE(kernels[0].parameters[1].restricted);
  EXPECT_FALSE(kernels[0].parameters[2].pointer);
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].launch_bounds, -1);
}

TEST(CudaLexer, FindsForLoopsWithTheirBodiesAndNesting) {
  const auto tokens = LexCuda(
      "{ for (int i = 0; i < n; ++i) { for (int j = 0; j < 4; ++j) s += a[i]; } "
      "for (auto& x : xs) { } for (;;) if (a) b; else c; d; }");
  const auto loops = FindForLoops(tokens, 0, static_cast<int>(tokens.size()) - 1);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_TRUE(loops[0].has_inner_loop);
  EXPECT_EQ(loops[1].depth, 1);
  EXPECT_EQ(tokens[static_cast<size_t>(loops[1].body_last)].text, ";");
  EXPECT_EQ(tokens[static_cast<size_t>(loops[2].body_last)].text, ";");
  EXPECT_EQ(tokens[static_cast<size_t>(loops[2].body_last) - 1].text, "c");
}

TEST(CudaLexer, EditsApplyInAnyOrderAndKeepTheRest) {
  EXPECT_EQ(ApplyEdits("abcdef", {{4, 5, "E"}, {0, 1, "A"}, {2, 2, "-"}, {2, 2, "+"}}), "Ab-+cdEf");
}

TEST(CudaLexer, UnfinishedTextDoesNotHurt) {
  for (const std::string_view text :
       {"\"abc", "/* abc", "R\"(abc", "'", "#define \\", "((((", "__global__ void f(", "for (", "__global__", "1e"}) {
    const auto tokens = LexCuda(text);
    FindKernels(tokens);
    if (!tokens.empty()) FindForLoops(tokens, 0, static_cast<int>(tokens.size()) - 1);
  }
}

}  // namespace
}  // namespace hone
