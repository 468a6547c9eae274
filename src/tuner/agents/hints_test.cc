// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that hints are ordered by what the profile found, on made-up findings and on the profiles of recorded runs.
#include "tuner/agents/hints.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files/file.h"
#include "tuner/agents/prompt.h"
#include "tuner/run/log/fold.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kMenu[] =
    "What pays:\n\n"
    "- **Wide.** <!-- answers: narrow scattered --> 16 bytes a load,\n  several in flight.\n"
    "- **Tiles.** <!-- answers: scattered --> Through shared memory.\n"
    "- **Grid.** <!-- answers: few_blocks --> Enough blocks.\n"
    "- **Cheaper.** Fewer instructions.\n";

Evaluation EvaluationWithFindings(std::vector<ProfileFinding> findings) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.profile = Profile();
  evaluation.profile->findings = std::move(findings);
  return evaluation;
}

ProfileFinding MakeFinding(std::string kind, double gain) {
  return {std::move(kind), "a fault", "figures", "k", "seed.cu:8", {{"n", 4}}, gain};
}

std::vector<std::string> Names(const std::vector<Hint>& hints) {
  std::vector<std::string> names;
  for (const Hint& h : hints) {
    names.push_back(h.given.hint + (h.given.finding.empty() ? "" : " for " + h.given.finding));
  }
  return names;
}

TEST(Hints, AMenuIsReadAndShownWithoutItsComments) {
  const std::vector<MenuEntry> entries = MenuEntries(kMenu);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].name, "Wide");
  EXPECT_EQ(entries[0].text, "**Wide.** 16 bytes a load,\n  several in flight.");
  EXPECT_THAT(entries[0].answers, ElementsAre("narrow", "scattered"));
  EXPECT_TRUE(entries[3].answers.empty());
  EXPECT_THAT(ShownMenu(kMenu), AllOf(HasSubstr("- **Tiles.** Through"), Not(HasSubstr("<!--"))));
  EXPECT_EQ(ShownMenu("- **A.** <!-- answers: --> b <!-- answers: x --> c <!-- other --> d <!-- answers: y"),
            "- **A.** b c <!-- other --> d <!-- answers: y");
}

TEST(Hints, FindingsComeFirstByTheirGainAndTheRestAfter) {
  const Evaluation judged = EvaluationWithFindings({MakeFinding("few_blocks", 0.1), MakeFinding("scattered", 0.4),
                                                    MakeFinding("unheard_of", 0.2), MakeFinding("scattered", 0.3),
                                                    MakeFinding("near_floor", 0)});
  const std::vector<Hint> hints = OrderedHints(&judged, kMenu, 1);
  EXPECT_THAT(Names(hints), ElementsAre("Wide for scattered", "unheard_of for unheard_of", "Grid for few_blocks",
                                        "Tiles for scattered", "Cheaper"));
  EXPECT_THAT(hints[0].why, AllOf(HasSubstr("`scattered` at seed.cu:8: a fault (figures)"), HasSubstr("up to 40 %")));
  EXPECT_EQ(hints[0].given.gain, 0.4);
  EXPECT_EQ(hints[4].why, "");
  EXPECT_EQ(OrderedHints(&judged, "no entries", 1).size(), 3u) << "the findings alone";
}

TEST(Hints, WithoutAProfileTheMenuIsShuffledOnceForAll) {
  std::set<std::string> firsts;
  for (uint64_t shuffle = 0; shuffle < 20; ++shuffle) {
    const std::vector<std::string> names = Names(OrderedHints(nullptr, kMenu, shuffle));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
              (std::set<std::string>{"Wide", "Tiles", "Grid", "Cheaper"}));
    EXPECT_EQ(names, Names(OrderedHints(nullptr, kMenu, shuffle)));
    firsts.insert(names[0]);
  }
  EXPECT_GT(firsts.size(), 1u);
}

// A recorded run, to which siblings are added that start from one of its versions.
struct Recorded {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunView view;
  Task task;
  DeviceFacts facts;
  Recorded(const std::string& file, const std::string& task_name)
      : task(LoadTask(HONE_SOURCE_DIR "/tasks/" + task_name).value()) {
    const std::string id = ImportRun(*store, ReadFile(HONE_SOURCE_DIR "/examples/runs/h200/" + file).value()).value();
    view = LoadRun(*store, id).value();
    view.options.parallel = 8;
    facts.name = "NVIDIA H200";
    facts.cc_major = 9;
  }
  // Opens an attempt from `parent` and returns its prompt and the hint that the record would hold.
  std::pair<std::string, std::optional<GivenHint>> Ask(int64_t parent, const std::string& prompt, bool profile = true) {
    RunNode node;
    node.id = static_cast<int64_t>(view.nodes.size());
    node.parent = parent;
    node.origin = "reply";
    node.purpose = "plan";  // no recorded attempt has this purpose: these siblings are counted alone
    node.known = node.id;
    node.turns = {{"coder", prompt, 0.5, profile, true, {}}};
    view.nodes.push_back(node);
    const PromptInputs in{&task, &facts, &view, &PromptLibrary::Embedded(),
                          [&](int64_t n) { return store->Source(view.node(n).source_hash); }};
    std::optional<GivenHint> given;
    std::string text = MakeRequest(in, node.id, 0, &given).value().messages[0].text;
    return {std::move(text), std::move(given)};
  }
};

// Node 2 of the run was profiled on an H200: uncoalesced 52 %, memory_queue 33 %, low_occupancy 25 %, shared_queue 11
// %, bank_conflict 7 %.
TEST(Hints, SiblingsOfARecordedVersionAreGivenTheRemediesOfItsFindingsInTurn) {
  for (const char* prompt : {"refine_optimise", "tree_plan", "team_plan"}) {
    Recorded run("single-transpose.jsonl", "transpose");
    std::vector<std::string> given_hints;
    for (int i = 0; i < 8; ++i) {
      const auto [text, hint] = run.Ask(2, prompt);
      ASSERT_TRUE(hint) << prompt;
      EXPECT_THAT(text,
                  HasSubstr(fmt::format(
                      "consider **{}** first{}", hint->hint,
                      hint->finding.empty() ? ", and" : " (because of the profile's finding `" + hint->finding + "`")))
          << prompt;
      EXPECT_THAT(text, Not(HasSubstr("<!--"))) << prompt;
      given_hints.push_back(hint->hint + (hint->finding.empty() ? "" : " for " + hint->finding));
    }
    EXPECT_THAT(
        std::vector<std::string>(given_hints.begin(), given_hints.begin() + 5),
        ElementsAre("Coalescing for uncoalesced", "More in flight for memory_queue", "Parallelism for low_occupancy",
                    "Shorter chains for shared_queue", "Launch for low_occupancy"))
        << prompt;
    EXPECT_EQ(std::set<std::string>(given_hints.begin(), given_hints.end()).size(), 8u) << prompt;
  }
}

TEST(Hints, APromptThatWithholdsTheProfileDoesNotHintAtItAndOneWithoutAHintRecordsNone) {
  Recorded run("single-transpose.jsonl", "transpose");
  const auto [text, hint] = run.Ask(2, "refine_optimise", /*profile=*/false);
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->finding, "");
  EXPECT_THAT(text, Not(HasSubstr("because of the profile")));
  EXPECT_FALSE(run.Ask(2, "tree_code").second) << "the coder carries out a plan";
  run.view.options.parallel = 1;
  EXPECT_FALSE(run.Ask(2, "refine_optimise").second) << "attempts one after the other need no hints";
}

TEST(Hints, EveryRecordedProfileOrdersItsHintsByGainAndGivesNoneTwice) {
  int profiles = 0;
  for (const auto& [file, task] :
       std::vector<std::pair<std::string, std::string>>{{"refine-transpose.jsonl", "transpose"},
                                                        {"sample-transpose.jsonl", "transpose"},
                                                        {"single-transpose.jsonl", "transpose"},
                                                        {"sample-fused_add_rmsnorm.jsonl", "fused_add_rmsnorm"},
                                                        {"team-fused_add_rmsnorm.jsonl", "fused_add_rmsnorm"},
                                                        {"tree-edge_softmax.jsonl", "edge_softmax"}}) {
    const Recorded run(file, task);
    const std::string menu =
        *PromptLibrary::Embedded().Expanded("class_" + std::string(WorkloadClassName(run.task.workload)));
    for (const RunNode& node : run.view.nodes) {
      if (!node.evaluation || !node.evaluation->profile) continue;
      ++profiles;
      const std::vector<ProfileFinding> findings = DistinctFindings(&*node.evaluation);
      const std::vector<Hint> hints = OrderedHints(&*node.evaluation, menu, 3);
      std::set<std::string> names;
      bool rest = false;
      for (const Hint& h : hints) {
        EXPECT_TRUE(names.insert(h.given.hint).second) << file << " node " << node.id << ": " << h.given.hint;
        rest = rest || h.given.finding.empty();
        EXPECT_EQ(h.given.finding.empty(), rest) << file << " node " << node.id << ": findings come first";
      }
      EXPECT_GE(names.size(), MenuEntries(menu).size());
      if (!findings.empty()) {
        EXPECT_EQ(hints[0].given.finding, findings[0].kind) << file << " node " << node.id;
      }
    }
  }
  EXPECT_GE(profiles, 30);
}

}  // namespace
}  // namespace hone
