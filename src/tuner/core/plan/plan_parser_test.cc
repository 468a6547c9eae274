// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests plans field by field. For each rule, a plan that breaks it must be refused with line, field and remedy.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/tuner/candidate.h"
#include "tuner/core/plan/plan_test_support.h"

namespace hone {
namespace {

using namespace testing_support;  // NOLINT: a test's own vocabulary
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Candidate Parsed(const std::string& source, bool is_oracle = false) {
  Result<Candidate> candidate = ParseCandidate(source, "candidate.cu", PlanTask(), is_oracle);
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  return candidate.ok() ? std::move(candidate).value() : Candidate{};
}

std::string ParserRefusal(const std::string& plan, bool is_oracle = false) {
  Result<Candidate> candidate = ParseCandidate(Source(plan), "candidate.cu", PlanTask(), is_oracle);
  if (candidate.ok()) return "accepted";
  EXPECT_EQ(candidate.status().code(), StatusCode::kInvalidArgument);
  return candidate.status().message();
}

TEST(PlanParser, ReadsEveryField) {
  const Candidate candidate = Parsed(Source(R"plan(
options = ["--use_fast_math", "--maxrregcount=64", "-lineinfo", "--fmad=false"]
include_set = "full"
constraints = ["VEC * BLOCK <= 4096"]
[tune]
VEC = [4, 8]
BLOCK = [128, 256]
SPLIT = 1
[[workspace]]
name = "partial"
bytes = "4 * tokens * SPLIT"
align = 512
zero = true
[[tensor_map]]
name = "tm"
tensor = "x"
dtype = "float16"
dims = ["d", "tokens"]
strides = ["2 * d"]
box = [64, 8]
element_strides = [1, 1]
interleave = "none"
swizzle = "128B"
l2_promotion = "256B"
oob_fill = "nan"
[[memset]]
step = -1
target = "partial"
value = 255
bytes = "4 * tokens"
when = "SPLIT > 1"
[[launch]]
kernel = "ns::first<VEC, (VEC > 4)>"
grid = ["ceil_div(tokens * d, VEC * BLOCK)", 2, "1"]
block = ["BLOCK"]
shared = "BLOCK * 4"
args = ["x", "x + 4", "out", "partial + 16", "tokens:i32", "d * 2 : i64", "d > 4 : bool", "eps:f32", "tensormap:tm",
        "struct:Shape<4>{tokens:i32, x, eps:f64}", "d > 4 ? 1 : 2:u32"]
when = "d % VEC == 0 && align(x) >= 16 && stride(s, 0) > 4"
with = { VEC = 8 }
cluster = [2]
cooperative = true
[[launch]]
kernel = "first<1, false>"
grid = "sm_count * occupancy(first)"
block = 32
args = ["out"]
[[launch]]
kernel = "second"
grid = 1
block = [32, 2, 2]
args = ["out"]
step = 3
pdl = true
)plan"));
  const LaunchPlan& plan = candidate.plan;
  EXPECT_EQ(candidate.name, "candidate.cu");
  EXPECT_THAT(plan.compiler_options, ElementsAre("--use_fast_math", "--maxrregcount=64", "-lineinfo", "--fmad=false"));
  EXPECT_EQ(plan.include_set, "full");
  EXPECT_THAT(plan.constraints, ElementsAre("VEC * BLOCK <= 4096"));
  EXPECT_THAT(plan.tunables, ElementsAre(Pair("VEC", ElementsAre(4, 8)), Pair("BLOCK", ElementsAre(128, 256)),
                                         Pair("SPLIT", ElementsAre(1))));
  ASSERT_EQ(plan.workspaces.size(), 1u);
  EXPECT_EQ(plan.workspaces[0].align, 512);
  EXPECT_TRUE(plan.workspaces[0].zero_on_entry);
  ASSERT_EQ(plan.tensor_maps.size(), 1u);
  EXPECT_EQ(plan.tensor_maps[0].swizzle, "128B");
  EXPECT_EQ(plan.tensor_maps[0].oob_fill, "nan");
  EXPECT_EQ(plan.tensor_maps[0].box.size(), 2u);

  ASSERT_EQ(plan.entries.size(), 4u);
  EXPECT_TRUE(plan.entries[0].is_memset);
  EXPECT_EQ(plan.entries[0].step, -1);
  EXPECT_EQ(plan.entries[0].memset_value, 255);
  const PlanEntry& first = plan.entries[1];
  EXPECT_EQ(first.kernel, "ns::first<VEC, (VEC > 4)>");
  EXPECT_EQ(first.grid.size(), 3u);
  EXPECT_EQ(first.grid[1].text(), "2");
  EXPECT_THAT(first.with, ElementsAre(Pair("VEC", 8)));
  EXPECT_TRUE(first.cooperative);
  EXPECT_EQ(first.cluster.size(), 1u);
  ASSERT_EQ(first.args.size(), 11u);
  EXPECT_EQ(first.args[1].kind, ArgumentKind::kTensor);
  EXPECT_EQ(first.args[1].offset->text(), "4");
  EXPECT_EQ(first.args[3].kind, ArgumentKind::kWorkspace);
  EXPECT_EQ(first.args[5].type, "i64");
  EXPECT_EQ(first.args[5].value->text(), "d * 2");
  EXPECT_EQ(first.args[6].type, "bool");
  EXPECT_EQ(first.args[7].kind, ArgumentKind::kScalar);
  EXPECT_EQ(first.args[8].kind, ArgumentKind::kTensorMap);
  EXPECT_EQ(first.args[9].kind, ArgumentKind::kStruct);
  EXPECT_EQ(first.args[9].type, "Shape<4>");
  ASSERT_EQ(first.args[9].fields.size(), 3u);
  EXPECT_EQ(first.args[9].fields[2].type, "f64");
  EXPECT_EQ(first.args[10].value->text(), "d > 4 ? 1 : 2");
  EXPECT_EQ(plan.entries[3].step, 3);
  EXPECT_TRUE(plan.entries[3].programmatic_dependent_launch);
  // The [[launch]] is on line 34: after two lines above the plan, an empty line, and 30 lines of fields.
  EXPECT_EQ(first.line, 34);
}

TEST(PlanParser, LineNumbersAreThoseOfTheFile) {
  EXPECT_THAT(ParserRefusal(OneLaunch("blok = 3")),
              HasSubstr("candidate.cu:8: [[launch]] #1 field 'blok': is not a known field"));
  EXPECT_THAT(ParserRefusal("[[launch]]\nkernel = \n"), HasSubstr("candidate.cu:4: not valid TOML"));
  // The plan may begin on the comment's own line.
  Result<Candidate> one_line = ParseCandidate("\n\n/*hone nonsense = 1 */", "c.cu", PlanTask());
  EXPECT_THAT(one_line.status().message(), HasSubstr("c.cu:3:"));
}

TEST(PlanParser, AFileWithoutAPlanIsToldWhatOneIs) {
  const auto error = [](const std::string& source) {
    return ParseCandidate(source, "c.cu", PlanTask()).status().message();
  };
  EXPECT_THAT(error("__global__ void k();"), HasSubstr("begin the file with a comment /*hone"));
  EXPECT_THAT(error("/*honest comment*/"), HasSubstr("no launch plan"));
  EXPECT_THAT(error("\n/*hone\n[[launch]]\n"), HasSubstr("c.cu:2: the launch plan's comment /*hone is never closed"));
  EXPECT_THAT(error(std::string("/*hone\n") + '\0' + "*/"), HasSubstr("c.cu:2: the file holds a NUL byte"));
  EXPECT_THAT(error(std::string(5 << 20, ' ')), HasSubstr("bytes"));
}

struct BrokenPlan {
  std::string plan;
  const char* expected;
};

TEST(PlanParser, EveryRuleRefusesThePlanThatBreaksIt) {
  const std::string args = R"(["x", "out"])";
  const BrokenPlan broken[] = {
      {"", "at least one [[launch]]"},
      // The error names the misspelt word, not its consequences.
      {"[tun]\nBLOCK = [256]\n[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = \"BLOCK\"\nargs = [\"out\"]\n",
       "field 'tun': is not a known field (did you mean 'tune'?)"},
      {"[[launch]]\nkernl = \"k\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n",
       "field 'kernl': is not a known field (did you mean 'kernel'?)"},
      {"[[lunch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n",
       "field 'lunch': is not a known field (did you mean 'launch'?)"},
      {"[[launch]]\ngrid = 1\nblock = 1\nargs = [\"out\"]\n", "field 'kernel': is missing"},
      {"[[launch]]\nkernel = \"k\"\nblock = 1\nargs = [\"out\"]\n", "field 'grid': is missing"},
      {"[[launch]]\nkernel = \"k\"\ngrid = [1,1,1,1]\nblock = 1\nargs = [\"out\"]\n", "has 4 extents"},
      {"[[launch]]\nkernel = \"k\"\ngrid = []\nblock = 1\nargs = [\"out\"]\n", "has 0 extents"},
      {"[[launch]]\nkernel = \"k<8\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n", "unbalanced"},
      {"[[launch]]\nkernel = \"k; int x\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n", "';' cannot stand in"},
      {"[[launch]]\nkernel = \"8k\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n", "does not begin with an identifier"},
      {"[[launch]]\nkernel = \"k/*\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n", "holds a comment"},
      {OneLaunch("", R"(["x", "out", "y"])"), "argument 3: 'y' is not a tensor or workspace"},
      {OneLaunch("", R"(["x", "ot"])"), "did you mean 'out'?"},
      {OneLaunch("", R"(["x", "out", "tokens"])"), "'tokens:i32'"},
      {OneLaunch("", R"(["x", "out", "eps"])"), "'eps:f32'"},
      {OneLaunch("", R"(["x", "out", "tokens:int"])"), "'int' is not a type"},
      {OneLaunch("", R"(["x", "out", "tokens:f32"])"), "not a scalar of the task"},
      {OneLaunch("", R"(["x", "out", "rows:i32"])"), "'rows' in 'rows' is not a dimension"},
      {OneLaunch("", R"(["x", "out", "eps:i32"])"), "not a dimension"},
      {OneLaunch("", R"(["x - 1", "out"])"), "expected 'x' or 'x + OFFSET'"},
      {OneLaunch("", R"(["x", "out", "ref:out"])"), "only an oracle"},
      {OneLaunch("", R"(["x", "out", "tensormap:tm"])"), "not the name of a [[tensor_map]]"},
      {OneLaunch("", R"(["x", "out", "struct:P{a"])"), "struct:TypeName{FIELD"},
      {OneLaunch("", R"(["x", "out", "struct:P{x, }"])"), "field of the struct is empty"},
      {OneLaunch("", R"(["x", "out", "struct:{x}"])"), "not the name of a C++ type"},
      {OneLaunch("", R"(["x", "out", ""])"), "argument is empty"},
      {OneLaunch("", R"(["x"])"), "the output 'out' is passed to no kernel"},
      {OneLaunch("", "\"x\""), "expected an array of strings"},
      {OneLaunch("shared = \"-\""), "field 'shared'"},
      {OneLaunch("when = \"d % VEC == 0\""), "'VEC' in 'd % VEC == 0' is not a dimension, tunable or device fact"},
      {OneLaunch("when = \"floor(d)\""), "'floor' is not a function"},
      {OneLaunch("when = \"occupancy(k) > 1\""), "occupancy() is known in grid and args only"},
      {OneLaunch("when = \"align(y) > 1\""), "align takes the name"},
      {OneLaunch("when = \"stride(x, 2) > 1\""), "'2' is not an axis of 'x'"},
      {OneLaunch("when = \"stride(x) > 1\""), "stride takes"},
      {OneLaunch("with = { VEC = 8 }"), "declare it in [tune]"},
      {OneLaunch("pdl = true"), "no step of this plan to depend on"},
      {OneLaunch("step = 5000"), "between -1000 and 1000"},
      {OneLaunch("cooperative = 1"), "true or false"},
      {OneLaunch("options = [\"--use_fast_math\"]"), "write it above the first [table]"},
      {OneLaunch() + OneLaunch(), "can never run: the entry of line 3 belongs to the same step 0"},
      {OneLaunch() + "[[memset]]\ntarget = \"out\"\n", "give it step = 1"},
      {OneLaunch() + "[[memset]]\ntarget = \"x\"\nstep = 1\n", "is an input"},
      {OneLaunch() + "[[memset]]\ntarget = \"y\"\nstep = 1\n", "not a tensor or workspace"},
      {OneLaunch() + "[[memset]]\ntarget = \"out\"\nstep = 1\nvalue = 256\n", "not a byte"},
      {OneLaunch("", args, "options = [\"-DVEC=4\"]\n"), "'-DVEC=4' is not allowed"},
      {OneLaunch("", args, "options = [\"--maxrregcount=8\"]\n"), "is not allowed"},
      {OneLaunch("", args, "options = [\"-I/\"]\n"), "is not allowed"},
      {OneLaunch("", args, "mode = \"gpu\"\n"), "'gpu' is not one of device, host"},
      {OneLaunch("", args, "function = \"f\"\n"), "belongs to mode = \"host\""},
      {OneLaunch("", args, "include_set = \"all\"\n"), "'all' is not one of"},
      {OneLaunch("", args, "[tune]\nVEC = []\n"), "has no choices"},
      {OneLaunch("", args, "[tune]\nVEC = [4, 4]\n"), "lists 4 twice"},
      {OneLaunch("", args, "[tune]\nVEC = [\"4\"]\n"), "expected integers"},
      {OneLaunch("", args, "[tune]\nd = [4]\n"), "already the name"},
      {OneLaunch("", args, "[tune]\nsm_count = [4]\n"), "already the name"},
      {OneLaunch("", args, "[tune]\n\"a-b\" = [4]\n"), "not an identifier"},
      {OneLaunch("", args, "constraints = [\"VEC < 4\"]\n[tune]\nVEC = [4, 2]\n"), "(VEC=4) break a constraint"},
      {OneLaunch("", args, "constraints = [\"d < 4\"]\n[tune]\nVEC = [4, 2]\n"), "'d' in 'd < 4' is not a tunable"},
      {OneLaunch("", args, "[[workspace]]\nname = \"w\"\n"), "field 'bytes': is missing"},
      {OneLaunch("", args, "[[workspace]]\nname = \"x\"\nbytes = 4\n"), "already the name"},
      {OneLaunch("", args, "[[workspace]]\nname = \"w\"\nbytes = 4\nalign = 3\n"), "power of two"},
      {OneLaunch("", args, "[[workspace]]\nname = \"w\"\nbytes = 4\n[[workspace]]\nname = \"w\"\nbytes = 4\n"),
       "already the name"},
      {OneLaunch("", args, "[[tensor_map]]\nname = \"t\"\ntensor = \"y\"\ndims = [1]\nbox = [1]\n"),
       "'y' is not a tensor"},
      {OneLaunch("", args, "[[tensor_map]]\nname = \"t\"\ntensor = \"x\"\ndims = [1, 1]\nbox = [1, 1]\n"),
       "field 'strides': has 0 entries; give 1"},
      {OneLaunch("", args, "[[tensor_map]]\nname = \"t\"\ntensor = \"x\"\ndims = [1]\nbox = [1, 1]\n"), "field 'box'"},
      {OneLaunch("", args, "[[tensor_map]]\nname = \"t\"\ntensor = \"x\"\ndims = [1]\nbox = [1]\nswizzle = \"64\"\n"),
       "field 'swizzle'"},
      {"mode = \"host\"\nargs = [\"out\"]\n", "field 'function': is missing"},
      {"mode = \"host\"\nfunction = \"run\"\n" + OneLaunch(), "belongs to device code"},
      {"mode = \"host\"\nfunction = \"run\"\nargs = [\"x\"]\n", "'out' is passed to no kernel"},
  };
  for (const BrokenPlan& one : broken) {
    EXPECT_THAT(ParserRefusal(one.plan), AllOf(HasSubstr("candidate.cu:"), HasSubstr(one.expected))) << one.plan;
  }
}

TEST(PlanParser, ConstraintsMayStandInsideTune) {
  const Candidate candidate =
      Parsed(Source(OneLaunch("", R"(["x", "out"])", "[tune]\nVEC = [4, 8]\nconstraints = [\"VEC < 8\"]\n")));
  EXPECT_THAT(candidate.plan.constraints, ElementsAre("VEC < 8"));
  EXPECT_EQ(candidate.plan.tunables.size(), 1u);
}

TEST(PlanParser, AlternativesKeepTheOrderOfTheFileAndStepsTheirOwn) {
  const Candidate candidate =
      Parsed(Source("[[launch]]\nkernel = \"late\"\nstep = 2\ngrid = 1\nblock = 1\nargs = [\"out\"]\n"
                    "[[launch]]\nkernel = \"a\"\nwhen = \"d > 4\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n"
                    "[[memset]]\ntarget = \"out\"\nwhen = \"d > 2\"\n"
                    "[[launch]]\nkernel = \"c\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n"));
  std::vector<std::string> order;
  for (const PlanEntry& entry : candidate.plan.entries) order.push_back(entry.is_memset ? "memset" : entry.kernel);
  EXPECT_THAT(order, ElementsAre("a", "memset", "c", "late"));
}

TEST(PlanParser, TheIncludeSetFollowsTheIncludes) {
  const auto set = [](const std::string& code) { return Parsed(Source(OneLaunch()) + code).plan.include_set; };
  EXPECT_EQ(set(""), "");
  EXPECT_EQ(set("#include <cuda_fp16.h>\n"), "");
  EXPECT_EQ(set("#include <mma.h>\n"), "full");
  EXPECT_EQ(set("  #  include \"cooperative_groups/reduce.h\"\n"), "full");
  EXPECT_EQ(set("#include <cuda/pipeline>\n"), "full");
  EXPECT_EQ(set("#include <cub/cub.cuh>\n#include <cute/tensor.hpp>\n"), "cute");
  EXPECT_EQ(set("// mma.h is not included\n"), "");
  EXPECT_EQ(
      Parsed(Source(OneLaunch("", R"(["x", "out"])", "include_set = \"\"\n")) + "#include <mma.h>\n").plan.include_set,
      "");
}

TEST(PlanParser, OraclesReadPristineTensorsAndWriteReferences) {
  const Candidate oracle = Parsed(Source(OneLaunch("", R"(["x", "ref:out"])")), true);
  EXPECT_EQ(oracle.plan.entries[0].args[1].kind, ArgumentKind::kReference);
  EXPECT_THAT(ParserRefusal(OneLaunch("", R"(["x", "out"])"), true), HasSubstr("writes doubles to 'ref:out'"));
  EXPECT_THAT(ParserRefusal(OneLaunch("", R"(["x", "ref:x"])"), true), HasSubstr("not a tensor with role"));
  EXPECT_THAT(ParserRefusal(OneLaunch("", R"(["x"])"), true), HasSubstr("add \"ref:out\""));
}

TEST(PlanParser, HostModeNamesOneFunctionAndItsArguments) {
  const Candidate candidate =
      Parsed(Source("mode = \"host\"\nfunction = \"run\"\nargs = [\"x\", \"out\", \"d:i64\"]\n"
                    "[[workspace]]\nname = \"w\"\nbytes = 4\n"));
  EXPECT_TRUE(candidate.plan.host_mode);
  EXPECT_EQ(candidate.plan.host_function, "run");
  ASSERT_EQ(candidate.plan.entries.size(), 1u);
  EXPECT_EQ(candidate.plan.entries[0].args.size(), 3u);
}

TEST(PlanParser, PlansThatWouldTakeMinutesToWorkOutAreRefused) {
  const auto message = [](const std::string& plan) {
    return ParseCandidate(Source(plan), "k.cu", PlanTask()).status().message();
  };
  const auto repeated = [](const std::string& piece, size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
  };
  const std::string launch = "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"out\"]\nwhen = \"";
  const std::string condition = "d % 4 == 0" + repeated(" || tokens * d > 4194304", 3900) + "\"\n";
  EXPECT_NE(message(repeated(launch + condition, 20000)).find("conditions"), std::string::npos);
  // A plan with the largest number of alternatives, and conditions of ordinary length, is accepted.
  std::string honest;
  for (int i = 0; i < 250; ++i) honest += launch + "tokens == " + std::to_string(i) + " && d % 8 == 0 && ld > d\"\n";
  EXPECT_EQ(message(honest), "");

  std::string tunables = "[tune]\n";
  for (int i = 0; i < 100; ++i) tunables += "T" + std::to_string(i) + " = 1\n";
  EXPECT_NE(message(tunables + OneLaunch()).find("one tunable too many"), std::string::npos);
  std::string wide = "[tune]\n";
  for (int i = 0; i < 16; ++i) wide += "T" + std::to_string(i) + " = [1, 2]\n";
  EXPECT_NE(message(wide + "constraints = [\"T0 > 0" + repeated(" || T1 > T2", 3900) + "\"]\n" + OneLaunch()).find("combinations"),
            std::string::npos);
  EXPECT_NE(message(OneLaunch("", "[\"" + repeated("x", 100000) + "\"]")).find("at most 4096"), std::string::npos);
  EXPECT_NE(message("options = [" + repeated("\"-lineinfo\",", 1000) + "]\n" + OneLaunch()).find("a plan may have"), std::string::npos);
  std::string workspaces;
  for (int i = 0; i < 100; ++i) workspaces += "[[workspace]]\nname = \"w" + std::to_string(i) + "\"\nbytes = 4\n";
  EXPECT_NE(message(OneLaunch() + workspaces).find("a plan may have 64"), std::string::npos);
}

}  // namespace
}  // namespace hone
