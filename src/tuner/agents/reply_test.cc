// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/agents/edit.h"
#include "tuner/agents/prompt.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr char kParent[] =
    "/*hone\n[[launch]]\nkernel = \"f\"\n*/\n__global__ void f(int a) {\n  int b = a;  \n  int c = b;\n  int b2 = "
    "a;\n}\n";

Proposal Parse(const std::string& text, FinishReason finish = FinishReason::kStop) {
  ModelReply reply;
  reply.text = text;
  reply.finish = finish;
  return ParseReply(reply, kParent);
}

TEST(ParseReply, TakesAWholeFile) {
  const Proposal p =
      Parse("**IDEA:** Unroll the *inner* loop\nIt helps.\n```cuda\n/*hone x */\nvoid g();\n```\nDone.\n");
  EXPECT_EQ(p.problem, "");
  EXPECT_EQ(p.idea, "Unroll the *inner* loop");
  EXPECT_EQ(p.idea_key, "unroll-the-inner-loop");
  EXPECT_EQ(p.source, "/*hone x */\nvoid g();\n");
  EXPECT_THAT(p.reasoning, HasSubstr("It helps."));
}

TEST(ParseReply, IllustrationsBesideTheFileDoNotConfuse) {
  const Proposal p = Parse("IDEA: x\n```\nfor (;;) {}\n```\nand\n```cuda\n/*hone y */\n```\n");
  EXPECT_EQ(p.source, "/*hone y */\n");
}

TEST(ParseReply, TheSameFileTwiceIsOneFileButTwoDifferentAreAProblem) {
  const std::string a = "```\n/*hone a */\n```\n", b = "```\n/*hone b */\n```\n";
  EXPECT_EQ(Parse("IDEA: x\n" + a + a).problem, "");
  const Proposal p = Parse("IDEA: x\n" + a + b + b);
  EXPECT_EQ(p.problem, "several_files");
  EXPECT_THAT(p.detail, HasSubstr("2 different"));
}

// A reply as a command that prints a .cu file gives it.
TEST(ParseReply, AReplyMayBeTheFileItself) {
  const std::string file = "// A kernel.\n/*hone x */\nvoid g();\n";
  EXPECT_EQ(Parse(file).source, file);
  EXPECT_EQ(Parse(file).idea, "a whole file");
  const Proposal proposal = Parse("\nIDEA: wider *loads* of x\n\n" + file);
  EXPECT_EQ(proposal.source, file);
  EXPECT_EQ(proposal.idea, "wider *loads* of x");
  EXPECT_EQ(Parse(file, FinishReason::kLength).problem, "cut_off");
  EXPECT_EQ(Parse("// A kernel without a plan.\nvoid g();\n").problem, "no_code");
  EXPECT_EQ(Parse("Try this:\n" + file).problem, "no_code");  // where the file begins is a guess
}

TEST(ParseReply, AFileWithoutAPlanIsToldSoInAFenceAndWithoutOne) {
  const std::string file = "// A kernel.\n#include <cuda_fp16.h>\n__global__ void g(half* x) { *x = 1; }\n";
  const Proposal bare = Parse(file), fenced = Parse("Wider loads.\n```cuda\n" + file + "```\n");
  EXPECT_EQ(bare.problem, "no_plan");
  EXPECT_THAT(bare.detail, HasSubstr("a .cu file without a launch plan (/*hone … */ at its top)"));
  EXPECT_EQ(fenced.problem, bare.problem);
  EXPECT_EQ(fenced.detail, bare.detail);
  EXPECT_EQ(Parse("IDEA: wider\n\n" + file).detail, bare.detail);
  // A kernel alone may be meant for a region.
  EXPECT_THAT(Parse("```cuda\n__global__ void f() {}\n```\n").detail, HasSubstr("say which region a block replaces"));
}

TEST(ParseReply, AppliesEditsInsideAndOutsideOfCodeBlocks) {
  const std::string edit = "<<<<<<< SEARCH\n  int c = b;\n=======\n  int c = 2 * b;\n>>>>>>> REPLACE\n";
  const Proposal outside = Parse("IDEA: double\n" + edit);
  const Proposal inside = Parse("IDEA: double\n```cuda\n" + edit + "```\n");
  EXPECT_THAT(outside.source, HasSubstr("  int b = a;  \n  int c = 2 * b;\n  int b2"));
  EXPECT_EQ(inside.source, outside.source);
}

TEST(ParseReply, WhatCannotBecomeACandidateHasANameAndASentence) {
  const auto problem = [](const Proposal& p) {
    EXPECT_EQ(p.source, "");
    EXPECT_NE(p.detail, "");
    EXPECT_NE(p.idea, "");
    return p.problem;
  };
  EXPECT_EQ(problem(Parse("")), "empty_reply");
  EXPECT_EQ(problem(Parse(" \n\t\n")), "empty_reply");
  EXPECT_EQ(problem(Parse("\xc3\x28 broken")), "not_text");
  EXPECT_EQ(problem(Parse(std::string(5 << 20, 'a'))), "too_long");
  EXPECT_EQ(problem(Parse("I cannot help with that.", FinishReason::kRefused)), "refused");
  EXPECT_EQ(problem(Parse("I would use tensor cores.")), "no_code");
  EXPECT_EQ(problem(Parse("IDEA: x\n```cuda\n__global__ void f() {}\n```\n")), "no_plan");
  EXPECT_EQ(problem(Parse("IDEA: x\n```cuda\n/*hone a */\nvoid f() {", FinishReason::kLength)), "cut_off");
  EXPECT_EQ(problem(Parse("IDEA: x\n```cuda\n/*hone a */\nvoid f() {")), "unclosed_block");
  EXPECT_EQ(problem(Parse("IDEA: x\n<<<<<<< SEARCH\na\n=======\nb\n")), "unclosed_block");
  EXPECT_EQ(problem(Parse("IDEA: x\n```\n" + std::string(kParent) + "```\n")), "same_as_parent");
  EXPECT_EQ(problem(Parse("IDEA: x\n<<<<<<< SEARCH\n  int z;\n=======\n\n>>>>>>> REPLACE\n")), "search_not_found");
}

TEST(IdeaKey, IgnoresCaseSpacesAndPunctuation) {
  EXPECT_EQ(IdeaKey("  Use `__ldg` for X!"), IdeaKey("use __LDG, for x"));
  EXPECT_NE(IdeaKey("block 128"), IdeaKey("block 256"));
}

TEST(Utf8, KnowsGoodFromBad) {
  EXPECT_TRUE(IsUtf8("plain, größer, 你好, 🙂"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(IsUtf8(bad));
}

TEST(ApplySearchReplace, SeveralBlocksReferToTheSourceAsGiven) {
  const EditResult r = ApplySearchReplace("a\nb\nc\n", {{"c\n", "a\n"}, {"a\n", "c\n"}});
  EXPECT_EQ(r.source, "c\nb\na\n");
}

TEST(ApplySearchReplace, SaysWhatTheSourceHasInstead) {
  EXPECT_THAT(ApplySearchReplace("  int a = 1;\n  int b = 2;\n", {{"  int a = 1;\n  int b = 3;\n", ""}}).detail,
              HasSubstr("the source has '  int b = 2;'"));
  EXPECT_THAT(ApplySearchReplace("  int a;\n", {{"int a;\n", ""}}).detail, HasSubstr("indented differently"));
  const EditResult twice = ApplySearchReplace("x\nx\n", {{"x\n", "y"}});
  EXPECT_EQ(twice.problem, "search_not_unique");
  EXPECT_THAT(twice.detail, HasSubstr("2 times"));
  EXPECT_EQ(ApplySearchReplace("a\nb\nc\n", {{"a\nb", "x"}, {"b\nc", "y"}}).problem, "edits_overlap");
  EXPECT_EQ(ApplySearchReplace("a\n", {{"\n", "x"}}).problem, "search_empty");
}

TEST(ApplySearchReplace, DeletesAndKeepsTheLastLineWithoutANewline) {
  EXPECT_EQ(ApplySearchReplace("a\nb", {{"a", ""}}).source, "b");
  EXPECT_EQ(ApplySearchReplace("a\nb", {{"b", "c"}}).source, "a\nc\n");
}

TEST(FillTemplate, AnUnknownNameIsAFault) {
  EXPECT_EQ(FillTemplate("a {{x}} b {{x}}", {{"x", "{{y}}"}}).value(), "a {{y}} b {{y}}");
  EXPECT_FALSE(FillTemplate("{{z}}", {{"x", ""}}).ok());
  EXPECT_FALSE(FillTemplate("{{x", {{"x", ""}}).ok());
  EXPECT_EQ(FillTemplate("a{{#x}} b {{x}}{{/x}} c", {{"x", "1"}}).value(), "a b 1 c");
  EXPECT_EQ(FillTemplate("a\n{{#x}}\nb\n{{/x}}\nc", {{"x", ""}}).value(), "a\nc");
  EXPECT_EQ(FillTemplate("a\n{{#x}}\nb\n{{/x}}\nc", {{"x", "1"}}).value(), "a\nb\nc");
  EXPECT_FALSE(FillTemplate("{{#x}}", {{"x", ""}}).ok());
  EXPECT_FALSE(FillTemplate("{{/x}}", {{"x", ""}}).ok());
  EXPECT_TRUE(PromptLibrary::Embedded().Expanded("refine_optimise").ok());
  EXPECT_FALSE(PromptLibrary::Embedded().Expanded("poet").ok());
}

TEST(Reply, PredictedTimesHaveUnitsOrAreMicroseconds) {
  const auto predicted = [](const std::string& line) {
    ModelReply reply;
    reply.text = "IDEA: faster\n" + line + "\n```cuda\n/*hone\n*/\nint x;\n```\n";
    return ParseReply(reply, "/*hone\n*/\n").predicted_us;
  };
  EXPECT_THAT(predicted("PREDICT: 850, 1.2 ms, 33us"), testing::ElementsAre(850, 1200, 33));
  EXPECT_THAT(predicted("**PREDICT:** 0.001 s"), testing::ElementsAre(1000));
  EXPECT_THAT(predicted("PREDICT: 850, soon"), testing::IsEmpty()) << "a part of the times says nothing";
  EXPECT_THAT(predicted("PREDICT: 0"), testing::IsEmpty());
  EXPECT_THAT(predicted("PREDICT: nan"), testing::IsEmpty());
  EXPECT_THAT(predicted("no line"), testing::IsEmpty());
}

}  // namespace
}  // namespace hone
