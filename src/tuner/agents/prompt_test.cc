// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that prompts contain what an agent needs and nothing that it must not know yet.
#include "tuner/agents/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/files/file.h"
#include "tuner/agents/prompt_text.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

DeviceFacts HopperFacts() {
  DeviceFacts f;
  f.name = "NVIDIA H200";
  f.cc_major = 9;
  f.sm_count = 132;
  f.l2_bytes = 50 << 20;
  f.smem_optin = 227 << 10;
  f.smem_per_sm = 228 << 10;
  f.memory_bandwidth = 4.8e12;
  f.fp32_flops = 67e12;
  f.tensor_bf16_flops = 989e12;
  return f;
}

struct Desk {
  Task task = LoadTask(HONE_SOURCE_DIR "/tasks/silu_and_mul").value();
  DeviceFacts facts = HopperFacts();
  RunView view;
  Desk() {
    RunNode seed;
    seed.origin = "seed";
    seed.source_hash = SourceHash("0");
    seed.speedup = 1;
    Evaluation e;
    e.verdict = Verdict::kOk;
    CaseResult c;
    for (const Case& wanted_case : task.cases) {
      if (wanted_case.role == CaseRole::kTime) c.dims = wanted_case.dims;
    }
    c.time_us = Interval{100, 99, 101};
    c.floor_us = 80;
    c.floor_fraction = 0.8;
    e.cases = {c};
    e.resources = {{"silu_and_mul", 112, 16, 1024, 0, 0.31}};
    e.findings = {{"uncoalesced", "reads 4 bytes of each sector", "seed.cu:12"}};
    seed.evaluation = e;
    seed.state = NodeState::kEvaluated;
    view.nodes.push_back(seed);
    view.settled = 1;
  }
  // A node that asks with this prompt.
  std::string Ask(const std::string& prompt, const std::string& role = "coder", int64_t known = 1) {
    RunNode node;
    node.id = static_cast<int64_t>(view.nodes.size());
    node.parent = 0;
    node.origin = "reply";
    node.purpose = "optimise";
    node.known = known;
    node.turns = {{role, prompt, 0.5, true, true, {0}}};
    view.nodes.push_back(node);
    PromptInputs in{&task, &facts, &view, &PromptLibrary::Embedded(), [&](int64_t) { return Result<std::string>(task.seed_source); }};
    return MakeRequest(in, node.id, 0).value().messages[0].text;
  }
};

TEST(Prompts, EveryTemplateFillsForEveryTask) {
  for (const auto& [name, text] : PromptLibrary::Embedded().texts()) {
    if (name.starts_with("part_") || name.starts_with("class_") || name == "repair") continue;
    Desk desk;
    const std::string prompt = desk.Ask(name);
    EXPECT_THAT(prompt, Not(HasSubstr("{{"))) << name;
    EXPECT_THAT(prompt, HasSubstr(desk.task.summary)) << name;
    EXPECT_THAT(prompt, HasSubstr("132 multiprocessors")) << name;
  }
}

TEST(Prompts, SayWhereTheKernelStandsOnTheDevice) {
  Desk desk;
  const std::string prompt = desk.Ask("refine_optimise");
  for (const char* expected_text :
       {"80 % of that speed", "112 registers a thread, 16 bytes spilled", "spills registers to local memory",
        "reads 4 bytes of each sector at seed.cu:12", "% of peak", "227 KiB", "wgmma", "__global__"}) {
    EXPECT_THAT(prompt, HasSubstr(expected_text));
  }
  EXPECT_THAT(prompt, Not(HasSubstr("CuTe\n"))) << "only where the source uses it";
}

TEST(Prompts, ShowTheProfileOfTheShapesThatItsFindingsRestOn) {
  Desk desk;
  Profile profile;
  profile.source = "cupti";
  for (int64_t rows = 1; rows <= 5; ++rows) {
    KernelProfile kernel;
    kernel.kernel = "silu_and_mul";
    kernel.duration_us = static_cast<double>(rows);
    profile.cases.push_back({{{"num_tokens", rows}}, {kernel}});
  }
  profile.findings = {{"uncoalesced", "reads one word in eight", "8 sectors a request", "silu_and_mul", "seed.cu:12",
                       {{"num_tokens", 5}}, 0.4}};
  Evaluation& e = *desk.view.nodes[0].evaluation;
  e.profile = profile;
  e.findings.push_back({"untested_alternative", "no case took the second launch", ""});
  const std::string prompt = desk.Ask("team_profile", "analyst");
  EXPECT_THAT(prompt, HasSubstr("profile: counted by CUPTI"));
  EXPECT_THAT(prompt, HasSubstr("uncoalesced at seed.cu:12 (up to 40 % of the time): reads one word in eight"));
  EXPECT_LT(prompt.find("num_tokens=5\n"), prompt.find("num_tokens=1\n")) << "what the finding rests on comes first";
  EXPECT_THAT(prompt, HasSubstr("counts of 2 more shapes are left out"));
  EXPECT_THAT(prompt, Not(HasSubstr("num_tokens=4\n")));
  EXPECT_THAT(prompt, Not(HasSubstr("reads 4 bytes of each sector"))) << "the profile says it better";
  EXPECT_THAT(prompt, HasSubstr("no case took the second launch"));
}

TEST(Prompts, OnASimulatedGpuNothingIsSaidThatItRefuses) {
  for (const auto& [name, text] : PromptLibrary::Embedded().texts()) {
    if (name.starts_with("part_") || name.starts_with("class_") || name == "repair") continue;
    for (const char* workload : {"gemm", "attention", "reduction", "gather"}) {
      Desk desk;
      desk.facts.modelled = true;
      desk.task.workload = *WorkloadClassFromName(workload);
      const std::string prompt = desk.Ask(name);
      for (const char* refused : {"wgmma", "TMA", "cluster", "tensor_map", "CuTe"}) {
        EXPECT_THAT(prompt, Not(HasSubstr(refused))) << name << ", " << workload;
      }
    }
  }
  Desk desk;
  desk.facts.modelled = true;
  EXPECT_THAT(desk.Ask("refine_optimise"), HasSubstr("Floating-point operations set a lower bound"));
  EXPECT_THAT(Desk().Ask("refine_optimise"), Not(HasSubstr("Floating-point operations set a lower bound")));
}

TEST(Prompts, LicencesAndHandWorkedResultsAreLeftOut) {
  Desk desk;
  desk.task = LoadTask(HONE_SOURCE_DIR "/tasks/softmax").value();
  ASSERT_THAT(desk.task.toml, HasSubstr("[[hand]]"));
  ASSERT_THAT(desk.task.seed_source, HasSubstr("SPDX-"));
  const std::string prompt = desk.Ask("refine_generate") + desk.Ask("refine_optimise");
  EXPECT_THAT(prompt, Not(HasSubstr("SPDX-")));
  EXPECT_THAT(prompt, Not(HasSubstr("[[hand]]")));
  EXPECT_THAT(prompt, HasSubstr("[[case]]"));
  EXPECT_EQ(WithoutLicence("// SPDX-License-Identifier: MIT\n//\n// What it does.\nint x;  // SPDX- no head\n"),
            "// What it does.\nint x;  // SPDX- no head\n");
  EXPECT_EQ(ShownTask("a = 1\n# by hand\n[[hand]]\nx = [\n[1], [2]]\n\n# cases\n[[case]]\nd = 1\n"),
            "a = 1\n\n# cases\n[[case]]\nd = 1\n");
}

// `hone new --accept-licence` writes `accepted`.
TEST(Prompts, AProblemsOwnTextIsShownOnlyWhereItsLicenceIsAccepted) {
  const std::tuple<const char*, bool, const char*> cases[] = {
      {"licence = \"Licence of the board\"\n", false, "under the Licence of the board, which nobody has accepted"},
      {"licence = \"Licence of the board\"\n", true, ""},
      {"", false, "under a licence that was not found, which nobody has accepted"},
      {"", true, ""},
  };
  for (const auto& [licence, accepted, told] : cases) {
    Desk desk;
    desk.task = ParseTask(std::string("name = \"halves\"\nsummary = \"x / 2\"\nclass = \"elementwise\"\nslice = \"n\"\n[dims]\nn = \"elements\"\n"
                                      "[[tensor]]\nname = \"x\"\nrole = \"in\"\ndtype = \"float32\"\nshape = [\"n\"]\n"
                                      "[[tensor]]\nname = \"out\"\nrole = \"out\"\ndtype = \"float32\"\nshape = [\"n\"]\n"
                                      "[tolerance.out]\nc_max = 1e-6\nc_rms = 1e-6\n[reference]\nkind = \"torch\"\nclass = \"Model\"\nmode = \"eval\"\n"
                                      "inputs = [\"x\"]\noutputs = [\"out\"]\n[reference.board]\nproblem = \"halves\"\ninputs = 1\nleaves = [0]\nfilled = []\n") +
                              licence + "accepted = " + (accepted ? "true" : "false") +
                              "\n[[case]]\nrole = \"time\"\ndims = { n = 1048576 }\n[[case]]\nrole = \"check\"\ndims = { n = 7 }\n",
                          "task.toml").value();
    desk.task.oracle_source = "def ref_kernel(data):\n    return data * 0.5  # the board's own words\n";
    const std::string prompt = desk.Ask("refine_generate") + desk.Ask("refine_optimise");
    EXPECT_EQ(prompt.find("the board's own words") != std::string::npos, accepted);
    EXPECT_EQ(prompt.find("hone new --accept-licence accepts it") != std::string::npos, !accepted);
    EXPECT_THAT(AnswerForModels(desk.task), HasSubstr(accepted ? "own words" : told));
  }
}

TEST(Prompts, TheSeedIsNotComparedWithItselfAndRepeatedFindingsAreMerged) {
  Desk desk;
  Evaluation& e = *desk.view.nodes[0].evaluation;
  e.baseline = "seed.cu";
  e.cases[0].speedup = Interval{0.991, 0.99, 0.992};
  e.findings.push_back({"uncoalesced", "reads 4 bytes of each sector", "seed.cu:14"});
  const std::string prompt = desk.Ask("refine_optimise");
  EXPECT_THAT(prompt, Not(HasSubstr("0.991x")));
  EXPECT_THAT(prompt, HasSubstr("reads 4 bytes of each sector at seed.cu:12, seed.cu:14\n"));
}

TEST(Prompts, ShowWhatTheDecisionKnewAndNothingLater) {
  Desk desk;
  EXPECT_THAT(desk.Ask("refine_optimise", "coder", 0), Not(HasSubstr("Its times"))) << "a blind start knows no times";
  desk.view.ledger.push_back({"later", "later idea", 1, "kept"});
  EXPECT_THAT(desk.Ask("refine_optimise", "coder", 1), Not(HasSubstr("later idea")));
  EXPECT_THAT(desk.Ask("refine_optimise", "coder", 2), HasSubstr("later idea"));
}

TEST(Prompts, TheLedgerTellsGainsByShapeAndWhatTheTunablesWere) {
  Desk desk;
  desk.Ask("refine_optimise");
  RunNode& tried_node = desk.view.nodes[1];
  tried_node.state = NodeState::kEvaluated;
  tried_node.evaluation = Evaluation{.verdict = Verdict::kOk};
  for (const double gain : {1.25, 0.5}) {
    CaseResult c;
    c.time_us = Interval{100, 99, 101};
    c.speedup = Interval{gain, gain - 0.01, gain + 0.01};
    tried_node.evaluation->cases.push_back(c);
  }
  tried_node.evaluation->binding = {{"BLOCK", 512}};
  desk.view.ledger.push_back({"wider", "wider blocks", 1, "0.79x of the start, not kept"});
  EXPECT_THAT(desk.Ask("refine_optimise", "coder", 2),
              HasSubstr("node 1 (from node 0): wider blocks: 0.79x of the start, not kept; by shape 1.25 0.50; BLOCK=512\n"));
}

TEST(Prompts, AttemptsSideBySideGetDifferentShares) {
  Desk desk;
  desk.view.options.parallel = 4;
  std::set<std::string> shares;
  for (int i = 0; i < 4; ++i) {
    const std::string prompt = desk.Ask("refine_optimise");
    const size_t at = prompt.find("consider **");
    ASSERT_NE(at, std::string::npos);
    shares.insert(prompt.substr(at, 40));
  }
  EXPECT_EQ(shares.size(), 4u);
}

TEST(Prompts, EveryClassHasAMenuAndCuteHasItsGuidance) {
  for (const char* name : {"gemm", "elementwise", "reduction", "convolution", "attention", "gather", "graph", "other"}) {
    Desk desk;
    desk.task.workload = *WorkloadClassFromName(name);
    desk.view.options.parallel = 2;
    EXPECT_THAT(desk.Ask("refine_optimise"), HasSubstr("consider **")) << name;
  }
  Desk desk;
  desk.task.seed_source = "#include <cute/tensor.hpp>\n" + desk.task.seed_source;
  EXPECT_THAT(desk.Ask("refine_optimise"), HasSubstr("partition_S"));
}

// CuTe is taught by a tested kernel of the class, said in what the device can run.
TEST(Prompts, AFirstVersionInCuteIsShownAKernelOfItsClass) {
  const auto first = [](const char* workload, bool modelled, const char* name = "silu_and_mul") {
    Desk desk;
    desk.task.workload = *WorkloadClassFromName(workload);
    desk.task.name = name;
    desk.facts.modelled = modelled;
    desk.view.options.target = "cute";
    return desk.Ask("refine_generate");
  };
  using testing::AllOf;
  using testing::Not;
  EXPECT_THAT(first("elementwise", true), AllOf(HasSubstr("rms_rows<4, 4>"), HasSubstr("A ladder for rows"), Not(HasSubstr("A matrix product's ladder")),
                                                Not(HasSubstr("SM80_CP_ASYNC"))));
  EXPECT_THAT(first("reduction", false), AllOf(HasSubstr("rms_rows<4, 4>"), HasSubstr("5. Rows too long for registers")));
  EXPECT_THAT(first("gemm", true), AllOf(HasSubstr("kernel = \"shared_tiles\""), HasSubstr("A matrix product's ladder"), Not(HasSubstr("products by a TiledMMA."))));
  EXPECT_THAT(first("gemm", false), AllOf(HasSubstr("using Mma = decltype(make_tiled_mma("), HasSubstr("products by a TiledMMA."), Not(HasSubstr("A ladder for rows"))));
  // The task that the example is of is shown another one.
  EXPECT_THAT(first("reduction", true, "rmsnorm"), AllOf(HasSubstr("kernel = \"shared_tiles\""), Not(HasSubstr("rms_rows"))));
}

TEST(Prompts, AFolderReplacesThemFileByFile) {
  TemporaryDirectory folder = MakeTemporaryDirectory().value();
  EXPECT_EQ(PromptLibrary::WithFolder(folder / "none").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(PromptLibrary::WithFolder(folder.path()).status().message(), HasSubstr("no NAME.md"));
  ASSERT_TRUE(WriteFileAtomically(folder / "sample.md", "Only {{task_name}}").ok());
  EXPECT_EQ(PromptLibrary::WithFolder(folder.path()).value().Expanded("sample").value(), "Only {{task_name}}");
  ASSERT_TRUE(WriteFileAtomically(folder / "sample.md", "Only {{tusk_name}}").ok());
  EXPECT_THAT(PromptLibrary::WithFolder(folder.path()).status().message(), testing::AllOf(HasSubstr("sample.md"), HasSubstr("tusk_name")));
  ASSERT_TRUE(WriteFileAtomically(folder / "sample.md", "x").ok());
  ASSERT_TRUE(WriteFileAtomically(folder / "simple.md", "x").ok());
  EXPECT_THAT(PromptLibrary::WithFolder(folder.path()).status().message(), HasSubstr("did you mean 'sample'"));
}

TEST(Prompts, TheRepairTurnShowsTheReplyAndItsFault) {
  Desk desk;
  desk.Ask("refine_optimise");
  Memo memo;
  memo.node = 1;
  memo.kind = "problem";
  memo.problem = "no_code";
  memo.detail = "the reply holds no code";
  desk.view.memos.push_back(memo);
  PromptInputs in{&desk.task, &desk.facts, &desk.view, &PromptLibrary::Embedded(), [&](int64_t) { return Result<std::string>(desk.task.seed_source); }};
  const ModelRequest request = MakeRepairRequest(in, 1, 0, "I refuse.").value();
  EXPECT_EQ(request.number, RequestNumber(1, 0, true));
  ASSERT_EQ(request.messages.size(), 3u);
  EXPECT_EQ(request.messages[1].role, "assistant");
  EXPECT_EQ(request.messages[1].text, "I refuse.");
  EXPECT_THAT(request.messages[2].text, testing::AllOf(HasSubstr("no_code"), HasSubstr("the reply holds no code"), HasSubstr("silu_and_mul")));
}

TEST(Prompt, SaysWhichShareOfALaunchCallsOfLibrariesTake) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  CaseResult& c = e.cases.emplace_back();
  c.dims = {{"rows", 4}};
  c.time_us = Interval{80, 79, 81};
  EXPECT_EQ(TimesText(e, true), "- rows=4: 80.00 us\n");
  c.calls_us = 60;
  EXPECT_EQ(TimesText(e, true), "- rows=4: 80.00 us; library calls take 75 % of it, the plan's own kernels 25 %\n");
  c.calls_us = 84;  // timed by themselves, they may take longer than in the plan
  EXPECT_EQ(TimesText(e, true), "- rows=4: 80.00 us; library calls take 100 % of it, the plan's own kernels 0 %\n");
}

}  // namespace
}  // namespace hone
