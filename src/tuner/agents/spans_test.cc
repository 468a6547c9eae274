// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a plan's marks are exact to the line, and that a coder that leaves them is caught.
#include "tuner/agents/spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/agents/reply.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr char kPlanned[] =
    "/*hone\n[[launch]]\nkernel = \"f\"\n*/\n"  // 1 to 4
    "#include <mma.h>\n"                        // 5
    "__global__ void f(int a) {\n"              // 6
    "  int b = a;\n"                            // 7
    "  __syncthreads();\n"                      // 8
    "  int c = b;\n"                            // 9
    "  __syncthreads();\n"                      // 10
    "}\n"                                       // 11
    "__global__ void g() {\n  f();\n}\n";       // 12 to 14

PlanReply ParsePlan(const std::string& text, bool bound = true) {
  ModelReply reply;
  reply.text = text;
  return ParsePlanReply(reply, kPlanned, bound);
}
std::string SpanText(const PlanReply& plan) {
  std::string text = plan.problem;
  for (const PlanSpan& s : plan.spans)
    text += s.region + " " + std::to_string(s.first) + "-" + std::to_string(s.last) + (s.whole ? " whole; " : "; ");
  return text;
}

TEST(PlanSpans, EveryQuoteIsResolved) {
  EXPECT_EQ(
      SpanText(ParsePlan("IDEA: x\nREGION: plan\nAnother grid.\nREGION: f\n```\n  int b = a;   \n```\nas float\n```\n  "
                         "int c = b;\n```\nlikewise\n")),
      "plan 1-4 whole; f 7-7; f 9-9; ");
  EXPECT_EQ(SpanText(ParsePlan("IDEA: x\nREGION: f (kernel)\nThe loop\n```cuda\n  int b = a;\n  "
                        "__syncthreads();\n```\nbecomes\n```cuda\n  int b = 2 * a;\n```\n")),
            "f 7-8; ")
      << "code that does not stand there is an illustration";
  EXPECT_EQ(SpanText(ParsePlan("IDEA: x\nREGION: f\nAll of it.\nREGION: f\n```\n  int c = b;\n```\n")),
            "f 6-11 whole; ")
      << "joined";
}

TEST(PlanSpans, WhatCannotBeResolvedHasANameAndARemedy) {
  const auto problem = [](const std::string& text, const std::string& remedy) {
    const PlanReply plan = ParsePlan(text);
    EXPECT_THAT(plan.detail, HasSubstr(remedy));
    EXPECT_EQ(ParsePlan(text, false).problem, plan.problem == "anchor_not_found" ? plan.problem : "")
        << "as plans were read before";
    return plan.problem;
  };
  EXPECT_EQ(problem("IDEA: x\nREGION: f\n```\n  int c = b;\n  return;\n```\n", "the source has '"), "anchor_not_found");
  EXPECT_EQ(problem("IDEA: x\nREGION: g\n```\n  int c = b;\n```\n", "stand in region 'f'"), "anchor_not_found");
  EXPECT_EQ(problem("IDEA: x\nREGION: f\n```\n  __syncthreads();\n```\n", "stand 2 times"), "anchor_not_unique");
  EXPECT_EQ(problem("IDEA: x\nREGION: f\n```\n  int b = a;\n```\n```\n  __syncthreads();\n```\n", "stand 2 times"),
            "anchor_not_unique");
  EXPECT_EQ(problem("IDEA: x\nMake it faster.\n", "'REGION: name'"), "no_region");
  EXPECT_EQ(problem("IDEA: x\nREGION: f\n```\n  int b = a;\n", "not closed"), "unclosed_block");
}

TEST(MarkedSource, ShowsEachSpanAndIsTheSourceWithoutItsMarks) {
  const std::vector<PlanSpan> spans =
      ParsePlan("IDEA: x\nREGION: plan\nREGION: f\n```\n  int b = a;\n```\nREGION: g\n").spans;
  const std::string marked = MarkSpans(kPlanned, spans);
  EXPECT_TRUE(marked.starts_with("// [span 1 begins]\n/*hone\n"));
  EXPECT_THAT(marked, HasSubstr("// [span 2 begins]\n  int b = a;\n// [span 2 ends]\n  __syncthreads();\n"));
  EXPECT_TRUE(marked.ends_with("}\n// [span 3 ends]\n"));
  EXPECT_EQ(WithoutMarks(marked), kPlanned);
  EXPECT_EQ(WithoutMarks("  // [span 12 ends]  \n// [span of rows]\n"), "// [span of rows]\n");
  EXPECT_EQ(SpanList(spans), "span 1 is the region `plan`, span 2 lies in `f`, span 3 is the region `g`");
}

TEST(PlanSpans, APreludeThatIsNotThereIsAPlaceForOne) {
  const std::string source = "/*hone\n*/\n__global__ void f() {\n}\n";
  ModelReply reply;
  reply.text = "IDEA: x\nREGION: prelude\nInclude mma.h.\n```\n#include <mma.h>\n```\nREGION: f\nUse it.\n";
  const PlanReply plan = ParsePlanReply(reply, source, /*bound=*/true);
  EXPECT_EQ(SpanText(plan), "prelude 3-2 whole; f 3-4 whole; ");
  EXPECT_EQ(ParsePlanReply(reply, source, /*bound=*/true, /*add_prelude=*/false).problem, "unknown_region")
      << "as in logs up to version 6";
  EXPECT_EQ(MarkSpans(source, plan.spans),
            "/*hone\n*/\n// [span 1 begins]\n// [span 1 ends]\n// [span 2 begins]\n__global__ void f() {\n}\n// [span 2 ends]\n");
  EXPECT_EQ(SpanList(plan.spans), "span 1 is the place for a new region `prelude`, span 2 is the region `f`");

  const std::vector<PlanSpan> alone{plan.spans.front()};
  EXPECT_EQ(MarkSpans(source, alone), "/*hone\n*/\n// [span 1 begins]\n// [span 1 ends]\n__global__ void f() {\n}\n");
  EXPECT_EQ(OutsideSpans(source, alone, "/*hone\n*/\n#include <mma.h>\n__global__ void f() {\n}\n"), "");
  EXPECT_THAT(OutsideSpans(source, alone, "/*hone\n*/\n#include <mma.h>\n__global__ void f(int) {\n}\n"), HasSubstr("region 'f'"));
  EXPECT_EQ(SpanText({.spans = JoinSpans({*RegionSpan(source, "plan"), alone.front()})}),
            "plan 1-2 whole; prelude 3-2 whole; ");
}

TEST(OutsideSpans, WhatStandsBetweenMayChangeAndNothingElse) {
  const std::string source = kPlanned;
  const std::vector<PlanSpan> spans =
      ParsePlan("IDEA: x\nREGION: f\n```\n  int b = a;\n```\n```\n  int c = b;\n```\n").spans;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = source;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return OutsideSpans(source, spans, changed.replace(at, from.size(), to));
  };
  EXPECT_EQ(with("  int b = a;\n", "  int b = 2 * a;\n  int e = b;\n"), "");
  EXPECT_EQ(with("  int c = b;\n", ""), "");
  EXPECT_EQ(with("__syncthreads();\n", "__syncthreads();   \n\n"), "") << "blank lines and line ends do not count";
  EXPECT_THAT(with("#include <mma.h>\n", "#include <mma.h>\n#include <cuda_fp16.h>\n"), HasSubstr("region 'f'"))
      << "an addition outside";
  EXPECT_THAT(with("#include <mma.h>\n", ""), HasSubstr("'#include <mma.h>' of region 'prelude'"));
  EXPECT_THAT(with("  f();\n", "  f(1);\n"), HasSubstr("'f();' of region 'g'"));
  EXPECT_THAT(with("  f();\n}\n", "  f();\n}\nint last;\n"), HasSubstr("region 'g'"));
  EXPECT_THAT(with("  __syncthreads();\n  int c", "  int c"), HasSubstr("'__syncthreads();'")) << "between two spans";
  EXPECT_THAT(OutsideSpans(source, spans, "int x;\n"), HasSubstr("'/*hone' of region 'plan'"));
}

}  // namespace
}  // namespace hone
