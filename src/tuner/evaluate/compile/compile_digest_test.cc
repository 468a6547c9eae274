// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests digest logs as compilers really write them, and logs made to be difficult.
#include "tuner/evaluate/compile/compile_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CompileDigest, KeepsErrorsWithTheirSourceLinesAndDropsTheRest) {
  const std::string log =
      "candidate.cu(3): warning #177-D: variable \"y\" was declared but never referenced\n"
      "    int y;\n"
      "        ^\n\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
      "candidate.cu(7): error: identifier \"foo\" is undefined\n"
      "    x[0] = foo;\n"
      "           ^\n\n"
      "1 error detected in the compilation of \"candidate.cu\".\n";
  EXPECT_EQ(DigestCompilerLog(log),
            "candidate.cu:7: error: identifier \"foo\" is undefined\n    x[0] = foo;\n           ^\n");
}

TEST(CompileDigest, CutsLongInstantiationTracesAndManyErrors) {
  std::string log = "a.cu(1): error: excessive recursion\n  source\n   ^\n          detected during:\n";
  for (int i = 0; i < 50; ++i) log += "            instantiation of class \"A<N>\" at line 1\n";
  log += "\n";
  for (int i = 0; i < 40; ++i) log += "a.cu(" + std::to_string(100 + i) + "): error: again\n  line\n  ^\n\n";
  const std::string digest = DigestCompilerLog(log);
  EXPECT_THAT(digest, HasSubstr("a.cu:110: error: again"));
  EXPECT_THAT(digest, Not(HasSubstr("a.cu:111: error: again")));  // 12 errors: the first, and 100 to 110
  EXPECT_THAT(digest, HasSubstr("more errors"));
  size_t traces = 0;
  for (size_t at = digest.find("instantiation of"); at != std::string::npos; at = digest.find("instantiation of", at + 1)) ++traces;
  EXPECT_EQ(traces, 1u);
}

TEST(CompileDigest, LeavesOutWhatFollowsFromAnOpenBrace) {
  const std::string log =
      "candidate.cu(25): error: expected a \"}\"\n\nhone-plan-checks(2): error: a template declaration is not allowed here\n  template\n  ^\n\n";
  EXPECT_EQ(DigestCompilerLog(log), "candidate.cu:25: error: expected a \"}\"\n");
  EXPECT_THAT(DigestCompilerLog("hone-plan-checks(2): error: alone\n"), HasSubstr("alone"));
}

TEST(CompileDigest, StripsDirectoriesAndExplainsNameLookups) {
  DigestOptions options;
  options.strip_prefixes = {"/usr/local/cuda/include/cccl", "/usr/local/cuda/include"};
  EXPECT_EQ(DigestCompilerLog("/usr/local/cuda/include/cccl/cuda/std/x(5): error: bad\n", options), "cuda/std/x:5: error: bad\n");
  const std::string name = DigestCompilerLog("__nv_name_map(2): error: identifier \"foo\" is undefined\n  #pragma nv_mangled_name foo<3>\n");
  EXPECT_EQ(name, "launch plan: kernel name: error: identifier \"foo\" is undefined\n  foo<3>\n");
}

TEST(CompileDigest, KnowsPtxasGccAndTheLinker) {
  EXPECT_THAT(DigestCompilerLog("ptxas error   : Entry function 'k' uses too much shared data (0x3a980 bytes, 0x38c00 max)\n"),
              HasSubstr("too much shared data"));
  EXPECT_THAT(DigestCompilerLog("ptxas warning : adjusting\nptxas application ptx input, line 27; error   : Unknown modifier\n"),
              ::testing::StartsWith("ptxas application ptx input, line 27; error"));
  EXPECT_EQ(DigestCompilerLog("a.cu: In function 'f':\na.cu:3:7: error: 'x' was not declared\n    3 |   x = 1;\n      |   ^\n"),
            "a.cu:3:7: error: 'x' was not declared\n    3 |   x = 1;\n      |   ^\n");
  EXPECT_THAT(DigestCompilerLog("/tmp/x.o: undefined reference to `foo'\n"), HasSubstr("foo"));
}

TEST(CompileDigest, WhatItDoesNotUnderstandItQuotes) {
  EXPECT_EQ(DigestCompilerLog(""), "");
  EXPECT_EQ(DigestCompilerLog("\n\nsomething odd\n\n"), "something odd\n");
}

TEST(CompileDigest, TenMegabytesOfOneLineStayShort) {
  const std::string log = "a.cu(1): error: " + std::string(10 << 20, 'x') + "\n" + std::string(10 << 20, ' ') + "^\n";
  EXPECT_LT(DigestCompilerLog(log).size(), 2000u);
  // The log is cut between characters, not inside one.
  std::string umlauts = "a.cu(1): error: ";
  for (int i = 0; i < 500; ++i) umlauts += "\xc3\xa4";
  for (size_t length = 230; length < 240; ++length) {
    DigestOptions options;
    options.max_line_length = length;
    std::string digest = DigestCompilerLog(umlauts, options);
    digest.resize(digest.find("…"));
    EXPECT_EQ(static_cast<unsigned char>(digest.back()), 0xa4) << length;
  }
}

}  // namespace
}  // namespace hone
