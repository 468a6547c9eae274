// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests read a listing as nvdisasm 13 writes it, of a kernel of six lines.
#include "tuner/evaluate/profiling/sass_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kListing = R"(	.target	sm_90a
.text._Z1kPKfPfi:
	//## File "/tmp/k.cu", line 1
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/tmp/k.cu", line 3
        /*0060*/                   ISETP.GE.AND P0, PT, R7, UR4, PT ;
        /*0070*/               @P0 EXIT ;
	//## File "/opt/h.cuh", line 40 inlined at "/tmp/k.cu", line 4
	//## File "/tmp/k.cu", line 4
        /*00c0*/                   LDG.E R2, desc[UR4][R2.64] ;
        /*00c8*/                   LDG.E R3, desc[UR4][R2.64+0x4] ;
.L_x_0:
        /*0110*/                   BRA `(.L_x_0);
        /*0120*/                   NOP;
.text.other:
        /*0000*/                   EXIT ;
)";

TEST(SassLines, InstructionsAreCountedByKernelLineAndOpcode) {
  const std::vector<SassLine> lines = ParseSass(kListing, {{"_Z1kPKfPfi", "k<4>"}});
  EXPECT_THAT(lines, ElementsAre(Field(&SassLine::location, "k.cu:1"), Field(&SassLine::location, "k.cu:3"),
                                 Field(&SassLine::location, "k.cu:4"), Field(&SassLine::location, "")));
  EXPECT_EQ(lines[0].kernel, "k<4>");
  EXPECT_THAT(lines[1].opcodes, ElementsAre(Pair("EXIT", 1), Pair("ISETP.GE.AND", 1)));
  EXPECT_THAT(lines[2].opcodes, ElementsAre(Pair("BRA", 1), Pair("LDG.E", 2)));
  EXPECT_EQ(lines[2].instructions, 3);
  EXPECT_EQ(lines[3].kernel, "other");
}

TEST(SassLines, TheCandidatesOwnLinesStandBesideTheirCode) {
  std::vector<SassLine> lines = ParseSass(kListing, {});
  lines.push_back({"k", "bfloat16.h:2", "", 1, {}});
  AddSourceText("one\ntwo\n  if (i < n) return;\nfour", "kernels/k.cu", &lines);
  EXPECT_EQ(lines[0].source, "one");
  EXPECT_EQ(lines[1].source, "if (i < n) return;");
  EXPECT_EQ(lines[2].source, "four");
  EXPECT_EQ(lines[3].source, "");  // code that belongs to no source line
  EXPECT_EQ(lines[4].source, "");  // a line of another file
  const std::string description = DescribeProfile({.sass = lines}, "");
  EXPECT_THAT(description, HasSubstr("k.cu:3  if (i < n) return;\n         2  1 EXIT, 1 ISETP.GE.AND\n"));
  // Loads, stores and products come before more numerous instructions.
  const std::string long_line = DescribeProfile(
      {.sass = {{"k", "k.cu:1", "", 60, {{"IMAD", 20}, {"MOV", 15}, {"LEA", 10}, {"SEL", 5}, {"IADD3", 4}, {"LDC", 4}, {"STS", 1}, {"LDG.E", 1}}}}}, "");
  EXPECT_THAT(long_line, HasSubstr("60  1 LDG.E, 1 STS, 20 IMAD, 15 MOV, 10 LEA, 5 SEL, …"));
}

TEST(SassLines, WithoutNvdisasmTheRemedyIsNamed) {
  const auto lines = DisassembleLines("", {}, {"/nonexistent"});
  EXPECT_EQ(lines.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(lines.status().message(), HasSubstr("cuda-nvdisasm"));
}

}  // namespace
}  // namespace hone
