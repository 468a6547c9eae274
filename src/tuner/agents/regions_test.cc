// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/regions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tuner/agents/reply.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSource[] = R"cu(/*hone
[[launch]]
kernel = "rows<4>"
*/
#include <cuda_fp16.h>
namespace {
constexpr int kTable[] = {1, 2};
struct Pair { float a; float sum() const { return a; } };

// Adds up a warp.
__device__ __forceinline__ float WarpSum(float x) {
  for (int i = 16; i; i /= 2) x += __shfl_xor_sync(~0u, x, i);
  return x;
}
__device__ float WarpSum(float2 x) { return x.x + x.y; }
}  // namespace
template <int kVec, typename = void>
__global__ void __launch_bounds__(256) rows(const float* x, float* out, int n) {
  if (n > 0) { out[0] = WarpSum(x[0]); }
}
template <>
__global__ void rows<8, void>(const float* x, float* out, int n) { out[0] = x[0] }
// the end
)cu";

std::vector<std::string> Names(std::string_view source) {
  std::vector<std::string> names;
  for (const Region& r : SplitRegions(source)) names.push_back(r.name);
  return names;
}

TEST(Regions, AreThePlanThePreludeAndEachFunction) {
  EXPECT_THAT(Names(kSource), ElementsAre("plan", "prelude", "WarpSum", "WarpSum#2", "prelude-2", "rows", "rows#2"));
  const std::vector<Region> regions = SplitRegions(kSource);
  EXPECT_EQ(regions[5].kind, "kernel");
  EXPECT_EQ(regions[2].kind, "function");
  const std::string_view warp_sum = std::string_view(kSource).substr(regions[2].begin, regions[2].end - regions[2].begin);
  EXPECT_TRUE(warp_sum.starts_with("\n// Adds up a warp.")) << "a comment belongs to what it stands above";
  EXPECT_TRUE(warp_sum.ends_with("return x;\n}\n"));
}

TEST(Regions, CoverEverySourceOfTheRepositoryAndFindNoFaultInIt) {
  int sources = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks")) {
    if (!std::filesystem::exists(entry.path() / "seed.cu")) continue;
    const Task task = LoadTask(entry.path().string()).value();
    size_t at = 0;
    for (const Region& r : SplitRegions(task.seed_source)) {
      EXPECT_EQ(r.begin, at) << task.name << " " << r.name;
      at = r.end;
    }
    EXPECT_EQ(at, task.seed_source.size());
    const Candidate candidate = ParseCandidate(task.seed_source, "seed.cu", task).value();
    EXPECT_EQ(CheckStructure(task.seed_source, candidate.plan).detail, "") << task.name;
    ++sources;
  }
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tests/honest")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    EXPECT_EQ(CheckStructure(text.str(), LaunchPlan{}).detail, "") << entry.path();
    const std::vector<std::string> names = Names(text.str());
    EXPECT_EQ(names.front(), "plan") << entry.path();
    EXPECT_EQ(ReplaceRegions(text.str(), {}).source, text.str());
    ++sources;
  }
  EXPECT_GT(sources, 40);
}

TEST(Regions, BodiesTakeTheirPlaceAndNothingElseMoves) {
  const RegionResult r = ReplaceRegions(kSource, {{"WarpSum#2", "__device__ float More() { return 1; }\n__device__ float WarpSum(float2 x) { return x.y; }"}});
  EXPECT_EQ(r.problem, "");
  EXPECT_THAT(Names(r.source), ElementsAre("plan", "prelude", "WarpSum", "More", "WarpSum#2", "prelude-2", "rows", "rows#2"));
  EXPECT_THAT(ReplaceRegions(kSource, {{"WarpSum", ""}}).source, testing::Not(HasSubstr("Adds up")));
  const RegionResult unknown = ReplaceRegions(kSource, {{"main", ""}});
  EXPECT_EQ(unknown.problem, "unknown_region");
  EXPECT_THAT(unknown.detail, HasSubstr("plan, prelude, WarpSum, WarpSum#2"));
  EXPECT_EQ(ReplaceRegions(kSource, {{"rows", "a"}, {"rows", "b"}}).problem, "region_twice");
}

TEST(Regions, APreludeIsAddedWhereThereIsNone) {
  const std::string source = "// Doubles.\n/*hone\n*/\n\n__global__ void f() {\n}\n";
  EXPECT_THAT(Names(source), ElementsAre("plan", "f"));
  EXPECT_EQ(ReplaceRegions(source, {{"prelude", "#include <mma.h>"}, {"f", "__global__ void f() { }"}}).source,
            "// Doubles.\n/*hone\n*/\n#include <mma.h>\n__global__ void f() { }\n");
  EXPECT_EQ(ReplaceRegions(source, {{"prelude", "a"}, {"prelude", "b"}}).problem, "region_twice");
  EXPECT_EQ(ReplaceRegions(source, {{"prelude", "a"}}, /*add_prelude=*/false).problem, "unknown_region")
      << "as in logs up to version 6";
  EXPECT_EQ(ReplaceRegions(source, {{"prelude-2", "a"}}).problem, "unknown_region");
}

TEST(Structure, DamageIsSeenBeforeAnythingIsCompiled) {
  LaunchPlan plan;
  plan.entries.resize(1);
  plan.entries[0].kernel = "rows<4>";
  plan.entries[0].line = 3;
  EXPECT_EQ(CheckStructure(kSource, plan).problem, "");
  std::string text = kSource;
  text.erase(text.find("  return x;\n}") + 12, 1);
  const StructureFault brace = CheckStructure(text, plan);
  EXPECT_EQ(brace.problem, "unbalanced_brackets");
  EXPECT_THAT(brace.detail, HasSubstr("line "));
  const std::string twice = std::string(kSource) + "__device__ float WarpSum(float2 x) { return 0; }\n";
  EXPECT_EQ(CheckStructure(twice, plan).problem, "duplicate_definition");
  EXPECT_EQ(CheckStructure("#if A\nvoid f() {\n#else\nvoid f() { {\n#endif\n}", {}).problem, "") << "branches are not counted";
  plan.entries[0].kernel = "columns";
  EXPECT_THAT(CheckStructure(kSource, plan).detail, HasSubstr("line 3: the plan launches 'columns'"));
}

// --- replies made of regions, plans, cases ---

ModelReply Text(const std::string& text) {
  ModelReply reply;
  reply.text = text;
  return reply;
}

TEST(ParseReply, RegionsAndEditsMix) {
  const Proposal p = ParseReply(Text("IDEA: two\n**REGION:** `WarpSum#2`\n```cuda\n__device__ float WarpSum(float2 x) { return x.y; }\n```\n"
                                     "<<<<<<< SEARCH\nconstexpr int kTable[] = {1, 2};\n=======\nconstexpr int kTable[] = {3};\n>>>>>>> REPLACE\n"),
                                kSource);
  EXPECT_EQ(p.problem, "") << p.detail;
  EXPECT_THAT(p.source, testing::AllOf(HasSubstr("return x.y; }\n}  // namespace"), HasSubstr("{3};")));
  EXPECT_EQ(p.form, "regions");
}

TEST(ParseReply, ThreeBlocksWithoutNamesAreNoGuess) {
  const std::string block = "```cuda\n__device__ int f{}() {{ return 0; }}\n```\n";
  const Proposal p = ParseReply(Text("IDEA: three\n" + block + block + block), kSource);
  EXPECT_EQ(p.problem, "no_plan");
  EXPECT_THAT(p.detail, HasSubstr("REGION: name"));
  EXPECT_EQ(ParseReply(Text("IDEA: x\nREGION: nowhere\n" + block), kSource).problem, "unknown_region");
  const Proposal both = ParseReply(Text("IDEA: x\nREGION: rows\n" + block + "```\n/*hone */\n```\n"), kSource);
  EXPECT_EQ(both.problem, "several_files");
}

TEST(ParsePlan, NamesRegionsThatExistAndLinesThatStandInThem) {
  const PlanReply plan = ParsePlanReply(Text("IDEA: Use float2\nWHY: bytes\nREGION: WarpSum\n```\n  return x;\n```\nThere.\n- REGION: plan (the launch)\nmore\n"), kSource, false);
  EXPECT_EQ(plan.problem, "") << plan.detail;
  EXPECT_THAT(plan.regions, ElementsAre("WarpSum", "plan"));
  EXPECT_EQ(plan.idea_key, "use-float2");
  const PlanReply nowhere = ParsePlanReply(Text("IDEA: x\nREGION: epilogue\n"), kSource, false);
  EXPECT_EQ(nowhere.problem, "unknown_region");
  EXPECT_THAT(nowhere.detail, HasSubstr("there are: plan, prelude"));
  EXPECT_EQ(ParsePlanReply(Text("IDEA: x\nREGION: WarpSum\n```\n  return y;\n```\n"), kSource, false).problem, "anchor_not_found");
  EXPECT_EQ(ParsePlanReply(Text("  "), kSource, false).problem, "empty_reply");
  EXPECT_EQ(ParsePlanReply(Text("Make it faster."), kSource, false).idea, "Make it faster.");
}

TEST(ParseText, HasTheSameFaultsAsCode) {
  EXPECT_EQ(ParseTextReply(Text("")).problem, "empty_reply");
  EXPECT_EQ(ParseTextReply(Text("\xc3\x28")).problem, "not_text");
  EXPECT_EQ(ParseTextReply(Text(std::string(5 << 20, 'a'))).problem, "too_long");
  EXPECT_LE(ParseTextReply(Text(std::string(100000, 'a'))).text.size(), 12010u);
}

TEST(ParseCases, TakesWholeNewCasesOnly) {
  const Task task = LoadTask(HONE_SOURCE_DIR "/tasks/relu").value();
  std::string first;
  for (const auto& [name, value] : task.cases[0].dims) first += fmt::format("{}={} ", name, value);
  std::string dims;
  for (const auto& [name, text] : task.dims) dims += fmt::format("{} = 7, ", name);
  const CasesReply cases = ParseCasesReply(Text("- CASE: " + dims + ": prime\nCASE: " + dims + "again\nCASE: " + first + ": known\nCASE: nonsense=3\nCASE: lots\n"), task, 10);
  ASSERT_EQ(cases.cases.size(), 1u) << cases.detail;
  EXPECT_EQ(cases.cases[0].reason, "prime");
  const CasesReply none = ParseCasesReply(Text("I see no risks."), task, 10);
  EXPECT_EQ(none.problem, "no_cases");
  EXPECT_THAT(none.detail, HasSubstr("CASE: "));
}

}  // namespace
}  // namespace hone
