// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each strategy does what its paper describes, and that all of them keep the best version, which the papers'
// systems may lose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "tuner/report/run_summary.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/grounding.h"
#include "tuner/run/log/strategy_summary.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"
#include "tuner/strategies/config_file.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> PurposesOf(const RunView& view) {
  std::vector<std::string> purposes;
  for (const RunNode& n : view.nodes) purposes.push_back(n.purpose);
  return purposes;
}
std::vector<int64_t> ParentsOf(const RunView& view) {
  std::vector<int64_t> parents;
  for (const RunNode& n : view.nodes) parents.push_back(n.parent);
  return parents;
}
std::vector<std::string> RolesOf(const RunNode& node) {
  std::vector<std::string> roles;
  for (const Turn& t : node.turns) roles.push_back(t.role);
  return roles;
}

// Returns a model whose n-th file, in the coder's role, has the n-th mark; in other roles it gives plausible replies.
Mind::Answer ModelWithMarks(std::vector<std::string> marks) {
  return [marks = std::move(marks), next = std::make_shared<size_t>(0)](const ModelRequest& r) -> Result<std::string> {
    if (r.role != "coder" && r.messages[0].text.find("## Your answer\n\nSend the code") == std::string::npos) {
      return Journeyman(r);
    }
    if (*next >= marks.size()) return FileReply(fmt::format("late {}", r.number), fmt::format("SPEED {}", 200 + r.number));
    const std::string mark = marks[(*next)++];
    return FileReply("idea " + mark, mark);
  };
}

// --- refine ---

TEST(Refine, AFailedStepIsDiagnosedPatchedAndThenGeneratedAnew) {
  std::vector<std::string> marks;
  for (int i = 0; i < 8; ++i) marks.push_back(fmt::format("SCRIPT_WRONG {}", i));
  marks.push_back("SPEED 50");
  ScriptedRun run("refine", ModelWithMarks(marks));
  run.options.settings = {{"refine.fixes", 2}, {"refine.regenerations", 2}, {"refine.depth", 4}};
  run.options.max_attempts = 9;
  const RunView view = run.RunToTheEnd();
  // Step 1 is written twice, with two repairs each; then step 2 is written, with two repairs. None is correct.
  EXPECT_THAT(PurposesOf(view), ElementsAre("seed", "optimise", "debug", "debug", "optimise", "debug", "debug",
                                            "optimise", "debug", "debug"));
  EXPECT_THAT(ParentsOf(view), ElementsAre(-1, 0, 1, 2, 0, 4, 5, 0, 7, 8))
      << "a repair mends the latest version of its step";
  EXPECT_THAT(RolesOf(view.nodes[2]), ElementsAre("debugger", "coder"));
  EXPECT_EQ(view.best, 9);
  const ModelRequest& diagnosis = run.mind.requests.at(RequestNumber(2, 0, /*repair=*/false));
  EXPECT_THAT(diagnosis.messages[0].text, HasSubstr("scripted: wrong at [0]"));
  EXPECT_THAT(run.mind.requests.at(RequestNumber(2, 1, /*repair=*/false)).messages[0].text, HasSubstr("CAUSE: x"))
      << "the patcher reads the diagnosis";
}

TEST(Refine, StepsStartFromTheBestUnlessToldOtherwise) {
  const std::vector<std::string> marks{"SPEED 50", "SPEED 70", "SPEED 60"};
  ScriptedRun best("refine", ModelWithMarks(marks));
  best.options.settings = {{"refine.depth", 3}};
  const RunView view_of_best = best.RunToTheEnd();
  EXPECT_THAT(ParentsOf(view_of_best), ElementsAre(-1, 0, 1, 1));
  EXPECT_EQ(view_of_best.ended, "depth_reached");
  ScriptedRun newest("refine", ModelWithMarks(marks));
  newest.options.settings = {{"refine.depth", 3}, {"refine.from_best", 0}};
  const RunView chain = newest.RunToTheEnd();
  EXPECT_THAT(ParentsOf(chain), ElementsAre(-1, 0, 1, 2)) << "as published";
  EXPECT_EQ(chain.best, 1) << "the best is kept even so";
}

TEST(Refine, TheProfileIsShownFromTheFirstRequestOrWithheldAsPublished) {
  ScriptedRun run("refine", ModelWithMarks({"SPEED 90", "SPEED 80", "SPEED 70", "SPEED 60"}));
  run.options.settings = {{"refine.depth", 4}, {"refine.profile_from_start", 0}};
  run.RunToTheEnd();
  std::string shown;
  for (const auto& [number, request] : run.mind.requests) {
    shown += request.messages[0].text.find("Where it stands on the device") == std::string::npos ? "-" : "p";
  }
  EXPECT_EQ(shown, "--pp") << "elementwise: from the third step on";
  ScriptedRun always("refine", ModelWithMarks({"SPEED 90"}));
  always.options.settings = {{"refine.depth", 1}};
  always.RunToTheEnd();
  EXPECT_THAT(always.mind.requests.begin()->second.messages[0].text, HasSubstr("Where it stands on the device")) << "by default";
}

TEST(Refine, GeneratesFromTheReferenceWhenAsked) {
  ScriptedRun run("refine", ModelWithMarks({"SPEED 120", "SPEED 110"}));
  run.options.settings = {{"refine.depth", 2}, {"refine.generate", 1}};
  const RunView view = run.RunToTheEnd();
  EXPECT_THAT(PurposesOf(view), ElementsAre("seed", "generate", "optimise"));
  EXPECT_EQ(view.nodes[2].parent, 1) << "from its own first version, although the seed is faster";
  EXPECT_EQ(view.best, 0);
  const std::string& prompt = run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text;
  EXPECT_THAT(prompt, HasSubstr("not used by a scripted evaluator"));
  EXPECT_THAT(prompt, Not(HasSubstr("__global__ void copy"))) << "the seed is not shown";
}

// --- team ---

TEST(Team, PlansCodesAndTestsInRoundsFromTheBest) {
  ScriptedRun run("team", ModelWithMarks({"SPEED 90", "SPEED 95", "SCRIPT_COMPILE_ERROR", "SPEED 80"}));
  run.options.settings = {{"team.rounds", 3}};
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.ended, "rounds_done");
  EXPECT_THAT(PurposesOf(view), ElementsAre("seed", "optimise", "optimise", "optimise", "debug"));
  EXPECT_THAT(ParentsOf(view), ElementsAre(-1, 0, 1, 1, 3));
  EXPECT_THAT(RolesOf(view.nodes[1]), ElementsAre("analyst", "planner", "coder"));
  EXPECT_THAT(RolesOf(view.nodes[4]), ElementsAre("coder"));
  const std::string& plan = run.mind.requests.at(RequestNumber(1, 1, /*repair=*/false)).messages[0].text;
  EXPECT_THAT(plan, HasSubstr("FINDING: memory"));
  const std::string& code = run.mind.requests.at(RequestNumber(1, 2, /*repair=*/false)).messages[0].text;
  EXPECT_THAT(code, HasSubstr("REGION: copy\nDo it."));
  EXPECT_THAT(run.mind.requests.at(RequestNumber(4, 0, /*repair=*/false)).messages[0].text, HasSubstr("Do it."))
      << "the plan survives its repair";
}

TEST(Team, CasesAreVettedWithTheSeedAndFrozenForEveryCandidate) {
  ScriptedRun run("team", [](const ModelRequest& r) -> Result<std::string> {
    if (r.role == "tester") {
      return std::string(
          "CASE: rows=1, d=3: narrow\nCASE: rows=100000, d=100000: too large\nCASE: rows=3, d=5: known already\n"
          "CASE: rows=2: no width\nCASE: rows=9, d=77: **odd**\n"
          "CASE: rows=3, d=5, x=uniform(-80, 1e2): large\nCASE: rows=3, d=5, out=zero(): no input\nCASE: rows=3, d=5, x=uniform(1): no range\n");
    }
    return r.role == "coder" ? Result<std::string>(FileReply("a", "SPEED 90")) : Journeyman(r);
  });
  run.options.settings = {{"team.rounds", 1}};
  std::set<size_t> cases_seen;
  run.evaluator.on_evaluate = [&](const Task& task, const EvaluationRequest& request) {
    if (request.name != "seed.cu") cases_seen.insert(task.cases.size());
  };
  const RunView view = run.RunToTheEnd();
  ASSERT_EQ(view.cases.size(), 4u);
  EXPECT_EQ(view.cases[0].state, "accepted");
  EXPECT_EQ(view.cases[1].state, "refused");
  EXPECT_THAT(view.cases[1].detail, HasSubstr("elements"));
  EXPECT_EQ(view.cases[2].state, "accepted");
  EXPECT_EQ(view.cases[3].state, "accepted") << view.cases[3].detail;
  EXPECT_EQ(view.cases[3].values.at("x"), "{ distribution = \"uniform\", low = -80, high = 100 }");
  EXPECT_EQ(view.cases[3].reason, "large");
  EXPECT_THAT(cases_seen, ElementsAre(run.task.cases.size() + 3)) << "every candidate is judged with the same cases";
}

TEST(Team, ATesterWithoutCasesDoesNotStopTheTeam) {
  ScriptedRun run("team", [](const ModelRequest& r) -> Result<std::string> {
    return r.role == "tester" ? Result<std::string>(std::string("no idea")) : Journeyman(r);
  });
  run.options.settings = {{"team.rounds", 2}};
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.ended, "rounds_done");
  EXPECT_TRUE(view.cases.empty());
  EXPECT_EQ(run.mind.asks_by_request.at(RequestNumber(0, 0, /*repair=*/true)), 1) << "it had its repair turn";
}

// --- tree ---

TEST(Tree, TheRootIsThrottledAndDeadBranchesArePruned) {
  ScriptedRun run("tree", Journeyman);
  run.options.max_attempts = 60;
  run.options.settings = {{"tree.root_children", 3}, {"tree.dead_children", 2}};
  const RunView view = run.RunToTheEnd();
  std::map<int64_t, std::vector<int64_t>> children;
  for (const RunNode& n : view.nodes) {
    if (n.id == 0) continue;
    // No node gets a child once it is a dead branch.
    int failed = 0, right = 0;
    for (const int64_t c : children[n.parent]) {
      Right(view.node(c)) ? ++right : ++failed;
    }
    if (n.parent != 0) {
      EXPECT_FALSE(failed >= 2 && right == 0) << n.id;
      EXPECT_FALSE(view.node(n.parent).source_hash.empty()) << "nothing grows from a reply without a source";
    }
    EXPECT_EQ(n.purpose == "debug", n.parent != 0 && IsIncorrect(view.node(n.parent))) << n.id;
    children[n.parent].push_back(n.id);
  }
  EXPECT_EQ(view.attempts, 60);
  // Beyond its limit of children, the root gets more only when no other node may have any.
  EXPECT_GE(children[0].size(), 3u);
  EXPECT_LE(children[0].size(), 6u);
  EXPECT_GT(children.size(), 8u) << "it is a tree, not a star";
}

TEST(Tree, RolesHaveTheirTemperaturesAndTheirWindows) {
  ScriptedRun run("tree", Journeyman);
  run.options.max_attempts = 40;
  const RunView view = run.RunToTheEnd();
  // With one attempt in flight, a decision knows all earlier nodes. Prompts show the newest eight relatives of a kind.
  const auto children = [&](const std::set<int64_t>& of, int64_t before) {
    std::vector<int64_t> child_ids;
    for (int64_t id = 1; id < before; ++id) {
      if (of.contains(view.node(id).parent)) child_ids.push_back(id);
    }
    return std::set<int64_t>(child_ids.size() > 8 ? child_ids.end() - 8 : child_ids.begin(), child_ids.end());
  };
  const auto siblings = [&](int64_t id, int64_t before) {
    if (id == 0) return std::set<int64_t>();
    std::set<int64_t> related_ids = children({view.node(id).parent}, before);
    related_ids.erase(id);
    return related_ids;
  };
  const auto leaders = [&](int64_t before) {
    std::vector<int64_t> right;
    for (int64_t id = 1; id < before; ++id) {
      if (Right(view.node(id)) && view.node(id).speedup) right.push_back(id);
    }
    std::stable_sort(right.begin(), right.end(), [&](int64_t x, int64_t y) { return *view.node(x).speedup > *view.node(y).speedup; });
    return std::set<int64_t>(right.begin(), right.begin() + std::min<std::ptrdiff_t>(5, std::ssize(right)));
  };
  const auto expect_window = [](const RunNode& n, size_t turn, std::set<int64_t> wanted, const std::set<int64_t>& more) {
    wanted.insert(more.begin(), more.end());
    wanted.insert(0);
    EXPECT_THAT(n.turns[turn].shown, testing::UnorderedElementsAreArray(wanted)) << "node " << n.id << ", turn " << turn;
    EXPECT_EQ(n.turns[turn].shown.front(), 0) << "the root comes first";
  };
  bool debugged = false, saw_cousins = false;
  for (const RunNode& n : view.nodes) {
    if (n.id == 0 || n.origin != "reply") continue;
    if (n.purpose == "debug") {
      debugged = true;
      ASSERT_THAT(RolesOf(n), ElementsAre("debugger"));
      EXPECT_EQ(n.turns[0].temperature, 0.1);
      expect_window(n, 0, siblings(n.parent, n.id), {});
      continue;
    }
    ASSERT_THAT(RolesOf(n), ElementsAre("planner", "coder"));
    EXPECT_EQ(n.turns[0].temperature, 0.8);
    EXPECT_EQ(n.turns[1].temperature, 0.1);
    const std::set<int64_t> cousins = children(siblings(n.parent, n.id), n.id);
    expect_window(n, 0, children({n.parent}, n.id), leaders(n.id));
    expect_window(n, 1, children({n.parent}, n.id), cousins);
    saw_cousins = saw_cousins || !cousins.empty();
  }
  EXPECT_TRUE(debugged);
  EXPECT_TRUE(saw_cousins);
}

// A run of `tree` whose planners mark the line that stores, and whose coders reply with code(request).
struct BoundRun {
  ScriptedRun run;
  explicit BoundRun(std::function<std::string(const ModelRequest&)> code)
      : run("tree", [code = std::move(code)](const ModelRequest& r) -> Result<std::string> {
          if (r.role == "planner") {
            return fmt::format("IDEA: idea {}\nREGION: copy\n```\n  if (i < n) out[i] = x[i];\n```\nFaster.\n", r.number);
          }
          return code(r);
        }) {
    run.options.max_attempts = 1;
  }
};
// Returns a reply that edits the line that stores.
std::string StoreEdit(const std::string& mark) {
  return "<<<<<<< SEARCH\n// [span 1 begins]\n  if (i < n) out[i] = x[i];\n=======\n  if (i < n) out[i] = x[i];  // " + mark +
         "\n>>>>>>> REPLACE\n";
}
const char kSizeEdit[] = "<<<<<<< SEARCH\nblock  = [\"256\"]\n=======\nblock  = [\"128\"]\n>>>>>>> REPLACE\n";

TEST(Tree, ACoderThatLeavesItsSpansIsToldOnceAndMayTakeARegionIn) {
  BoundRun bound([](const ModelRequest& r) {
    return r.number % 2 == 0 ? "IDEA: x\n" + StoreEdit("SPEED 50") + kSizeEdit
                             : "IDEA: x\nWIDEN: plan: the grid follows\n" + StoreEdit("SPEED 50") + kSizeEdit;
  });
  const RunView view = bound.run.RunToTheEnd();
  EXPECT_TRUE(Right(view.nodes[1])) << view.nodes[1].detail;
  EXPECT_EQ(view.nodes[1].repaired, "outside_plan");
  EXPECT_THAT(view.nodes[1].widened, ElementsAre("plan"));
  const ModelRequest& request = bound.run.mind.requests.at(RequestNumber(1, 1, /*repair=*/false));
  EXPECT_THAT(request.messages[0].text,
              HasSubstr("// [span 1 begins]\n  if (i < n) out[i] = x[i];\n// [span 1 ends]\n"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("span 1 lies in `copy`"));
  const ModelRequest& repair_request = bound.run.mind.requests.at(RequestNumber(1, 1, /*repair=*/true));
  EXPECT_THAT(repair_request.messages[2].text, HasSubstr("'block  = [\"256\"]' of region 'plan'"));
  const GroundingCount count = CountGrounding(view);
  EXPECT_EQ(GroundingText(count), "0 of 1 plans misquoted; 1 of 2 answers left their plan's spans (50.0 %), 1 asked for more");
}

TEST(Tree, ACoderThatLeavesItsSpansTwiceHasMadeNoVersion) {
  BoundRun bound([](const ModelRequest&) { return "IDEA: x\n" + StoreEdit("SPEED 50") + kSizeEdit; });
  const RunView view = bound.run.RunToTheEnd();
  EXPECT_EQ(view.nodes[1].problem, "outside_plan");
  EXPECT_EQ(view.ended, "attempts_spent") << "and the run goes on";
  BoundRun greedy([](const ModelRequest&) {
    return "IDEA: x\nWIDEN: plan: a\nWIDEN: copy: b\nWIDEN: prelude: c\n" + StoreEdit("SPEED 50") + kSizeEdit;
  });
  EXPECT_EQ(greedy.run.RunToTheEnd().nodes[1].problem, "too_wide");
  BoundRun lost([](const ModelRequest&) { return "IDEA: x\nWIDEN: elsewhere: a\n" + StoreEdit("SPEED 50"); });
  EXPECT_EQ(lost.run.RunToTheEnd().nodes[1].problem, "unknown_region");
}

TEST(Tree, ACoderIsFreeWhereToldSoAndInOlderLogs) {
  const auto stray = [](const ModelRequest&) { return "IDEA: x\n" + StoreEdit("SPEED 50").replace(15, 19, "") + kSizeEdit; };
  BoundRun free(stray);
  free.run.options.settings = {{"tree.bind", 0}};
  EXPECT_TRUE(Right(free.run.RunToTheEnd().nodes[1]));
  EXPECT_THAT(free.run.mind.requests.at(RequestNumber(1, 1, /*repair=*/false)).messages[0].text,
              Not(HasSubstr("[span")));
  BoundRun old(stray);
  ASSERT_TRUE(StartRun(*old.run.store, old.run.task, old.run.evaluator.facts(), old.run.options, "r1", 1, nullptr, 5).ok());
  EXPECT_TRUE(Right(old.run.Continue().value().nodes[1])) << "a log of version 5 repeats by its own rule";
}

TEST(Tree, TheStartIsShownAndTheLeaderByWhatItHasMore) {
  ScriptedRun run("tree", [](const ModelRequest& r) -> Result<std::string> {
    if (r.role == "planner") return fmt::format("IDEA: idea {}\nREGION: copy\nFaster.\n", r.number);
    return FileReply("x",
                     fmt::format("SPEED {}", r.number == RequestNumber(1, 1, /*repair=*/false) ? 40 : 60 + r.number));
  });
  run.options.max_attempts = 8;
  run.options.settings = {{"tree.epsilon", 1}};
  const RunView view = run.RunToTheEnd();
  bool start = false, leader = false, whole = false;
  for (const auto& [number, request] : run.mind.requests) {
    const std::string& text = request.messages[0].text;
    const int64_t parent = view.node(number / 8).parent;
    const bool shown = text.find("### Node 0, the seed\n\nRight; by shape 100.00") != std::string::npos;
    if (parent > 0) {
      EXPECT_TRUE(shown) << number;
    }
    start = start || (shown && text.find("Its source:\n\n```cuda\n/*hone") != std::string::npos);
    leader = leader || text.find("has not:\n\n```diff\n--- node-" + std::to_string(parent) + ".cu\n+++ node-1.cu") != std::string::npos;
    whole = whole || text.find("Left out for want of room") != std::string::npos;
  }
  EXPECT_TRUE(start);
  EXPECT_TRUE(leader);
  EXPECT_FALSE(whole);
  ScriptedRun tight("tree", Journeyman);
  tight.options.max_attempts = 6;
  tight.options.settings = {{"prompt.window_tokens", 20}};
  tight.RunToTheEnd();
  bool left_out_for_want_of_room = false;
  for (const auto& [number, request] : tight.mind.requests) {
    left_out_for_want_of_room =
        left_out_for_want_of_room ||
        request.messages[0].text.find("Left out for want of room is the code of node ") != std::string::npos;
  }
  EXPECT_TRUE(left_out_for_want_of_room);
}

TEST(Tree, EpsilonSaysHowOftenItExplores) {
  const auto greedy_share = [](double epsilon) {
    ScriptedRun run("tree", ModelWithMarks({}));
    run.options.max_attempts = 40;
    run.options.settings = {{"tree.epsilon", epsilon}};
    run.RunToTheEnd();
    int exploits = 0;
    const std::vector<Event> events = run.store->Events("r1").value();
    for (const Event& e : events) exploits += e.payload.find("exploits") != std::string::npos;
    return exploits / 40.0;
  };
  EXPECT_EQ(greedy_share(0), 1.0);
  EXPECT_NEAR(greedy_share(0.35), 0.65, 0.25);
  EXPECT_LT(greedy_share(1), 0.2) << "only where there is no leaf to explore";
}

// --- the target ---

// Returns a reply with a file that uses CuTe.
std::string InCute(const std::string& mark) {
  return fmt::format("IDEA: idea {0}\n```cuda\n{1}#include <cute/tensor.hpp>\nusing namespace cute;\n```\n", mark,
                     SourceWithMark(mark));
}

TEST(Target, InARunForCuteAFirstVersionIsWrittenInItAndNothingElseIsTaken) {
  for (const std::string name : {"refine", "team", "tree", "single", "reflexion", "funnel"}) {
    SCOPED_TRACE(name);
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role != "coder") return Journeyman(r);
      const std::string mark = fmt::format("n{} SPEED 150", r.number);
      return r.number == RequestNumber(1, 0, /*repair=*/false) ? FileReply("plain", mark) : InCute(mark);
    });
    run.options.target = "cute";
    run.options.max_attempts = 3;
    run.options.settings = {{"tree.bind", 0}};
    const RunView view = run.RunToTheEnd();
    EXPECT_EQ(view.nodes[1].purpose, "generate");
    EXPECT_EQ(view.nodes[1].repaired, "wrong_target");
    ASSERT_TRUE(Right(view.nodes[1])) << view.nodes[1].detail;
    EXPECT_EQ(view.nodes[2].parent, 1) << "from the version in CuTe, although the seed is faster";
    EXPECT_EQ(view.best, 0);
    const std::string& first = run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text;
    EXPECT_THAT(first, HasSubstr("This run is for kernels in CuTe"));
    EXPECT_THAT(first, HasSubstr("### An example of the form"));
    EXPECT_THAT(first, HasSubstr("local_tile(make_tensor("));
    EXPECT_THAT(first, Not(HasSubstr("SPDX-")));
  }
}

TEST(Target, AStartAtTheFloorInAnotherLanguageDoesNotEndARunForCute) {
  ScriptedRun run("refine", [](const ModelRequest& r) -> Result<std::string> { return InCute(fmt::format("n{} SPEED 150", r.number)); });
  run.options.target = "cute";
  run.options.max_attempts = 3;
  run.options.floor_fraction = 1e-9;  // every correct version reaches the floor
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.ended, "floor_reached");
  ASSERT_EQ(view.nodes.size(), 2u) << "one version in CuTe, which is at the floor";
  EXPECT_TRUE(Right(view.nodes[1])) << view.nodes[1].detail;
  // A replay of a run of log version 6 follows the older rule.
  ASSERT_TRUE(StartRun(*run.store, run.task, run.evaluator.facts(), run.options, "r2", 1, nullptr, 6).ok());
  const RunView old = run.Continue("r2").value();
  EXPECT_EQ(old.ended, "floor_reached");
  EXPECT_EQ(old.nodes.size(), 1u);
}

TEST(Target, InARunForPlainCudaCuteIsRefused) {
  ScriptedRun run("sample", [](const ModelRequest& r) -> Result<std::string> { return InCute(fmt::format("n{} SPEED 50", r.number)); });
  run.options.target = "cuda";
  run.options.max_attempts = 1;
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.nodes[1].problem, "wrong_target");
  EXPECT_THAT(run.mind.requests.begin()->second.messages[0].text, HasSubstr("This run is for plain CUDA"));
  run.options.target = "any";
  run.Start("r2");
  EXPECT_TRUE(Right(run.Continue("r2").value().nodes[1]));
}

// A spool's worker states its tools at its first visit, which comes after the run has begun.
TEST(Target, WhenAJudgeStatesLaterThatItHasNoCuteNewAttemptsAreAskedWithoutAndTheRunRepeats) {
  ScriptedRun run("sample", [](const ModelRequest& r) -> Result<std::string> {
    return InCute(fmt::format("n{} SPEED {}", r.number, 50 + r.number));
  });
  run.options.max_attempts = 3;
  run.options.rounds = true;
  run.options.blind_start = true;
  run.evaluator.pending_rounds = 1;
  run.Start();
  EXPECT_EQ(run.Continue().status().code(), StatusCode::kPending);
  run.evaluator.pending_rounds = 0;
  run.evaluator.cute =
      Status::Unavailable("the worker that last judged in jobs has no headers for CuTe: unpack CUTLASS");
  const RunView view = run.Continue().value();
  EXPECT_EQ(view.no_cute_from, 2);
  EXPECT_EQ(view.node(1).state, NodeState::kEvaluated) << "it was asked for, and answered, before";
  EXPECT_EQ(view.node(2).problem, "wrong_target");
  EXPECT_EQ(view.node(3).problem, "wrong_target");
  EXPECT_EQ(view.options.target, "any") << "the same command finds its run again";
  const auto prompt = [&](int64_t id) { return run.mind.requests.at(RequestNumber(id, 0, false)).messages[0].text; };
  EXPECT_THAT(prompt(1), Not(HasSubstr("This run is for plain CUDA")));
  EXPECT_THAT(prompt(2), HasSubstr("This run is for plain CUDA"));
  ASSERT_EQ(view.remarks.size(), 1u);
  EXPECT_THAT(view.remarks[0].text,
              HasSubstr("from node 2 on, models are asked for CUDA without CuTe: the worker that last"));
  const ReplayedRun again = ReplayRun(*run.store, "r1").value();
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.compared, 4);
}

// --- baselines ---

TEST(Baselines, SampleStartsFromTheSeedReflexionFromTheLastSingleFromTheBest) {
  const std::vector<std::string> marks{"SPEED 50", "SPEED 70", "SCRIPT_WRONG", "SPEED 60"};
  const auto parents = [&](const std::string& strategy) {
    ScriptedRun run(strategy, ModelWithMarks(marks));
    run.options.max_attempts = 4;
    const RunView view = run.RunToTheEnd();
    EXPECT_EQ(view.best, 1) << strategy;
    return ParentsOf(view);
  };
  EXPECT_THAT(parents("sample"), ElementsAre(-1, 0, 0, 0, 0));
  EXPECT_THAT(parents("reflexion"), ElementsAre(-1, 0, 1, 2, 3));
  EXPECT_THAT(parents("single"), ElementsAre(-1, 0, 1, 1, 1));
}

// --- all of them ---

TEST(EveryStrategy, DecidesTheSameWhicheverAttemptEndsFirst) {
  for (const std::string& name : StrategyNames()) {
    for (const bool rounds : {false, true}) {
      std::string expected_tree;
      for (const uint64_t salt : {0, 1, 2}) {
        ScriptedRun run(name, Journeyman);
        run.options.parallel = 4;
        run.options.rounds = rounds;
        run.options.max_attempts = 16;
        run.options.settings = {{"team.rounds", 0}, {"single.rounds", 0}, {"refine.depth", 0}};
        run.mind.salt = salt;
        run.evaluator.delay_us = salt == 2 ? 700 : 0;
        const RunView view = run.RunToTheEnd();
        EXPECT_EQ(view.attempts, 16) << name;
        if (expected_tree.empty()) expected_tree = TreeText(view);
        EXPECT_EQ(TreeText(view), expected_tree) << name << " rounds " << rounds << " salt " << salt;
      }
    }
  }
}

TEST(EveryStrategy, KeepsTheBestAndStopsAtEveryBound) {
  for (const std::string& name : StrategyNames()) {
    SCOPED_TRACE(name);
    const auto ended = [&](auto change, int64_t parallel) {
      ScriptedRun run(name, Journeyman);
      run.options.max_attempts = 30;
      run.options.parallel = parallel;
      run.options.settings = {{"team.rounds", 0}, {"single.rounds", 0}, {"refine.depth", 0}};
      change(run.options);
      const RunView view = run.RunToTheEnd();
      for (const RunNode& n : view.nodes) {
        EXPECT_TRUE(n.done());
        if (Right(n)) {
          EXPECT_LE(*n.speedup, 1.006 * *view.node(view.best).speedup);
        }
      }
      // Only the cost of requests in flight when the limit was reached may exceed it.
      if (view.options.max_cost_usd > 0) {
        EXPECT_LE(view.cost_usd, view.options.max_cost_usd + 0.5 * static_cast<double>(parallel));
      }
      return view.ended;
    };
    EXPECT_EQ(ended([](RunOptions& o) { o.max_attempts = 5; }, 1), "attempts_spent");
    EXPECT_EQ(ended([](RunOptions& o) { o.max_cost_usd = 4; }, 1), "money_spent");
    EXPECT_EQ(ended([](RunOptions& o) { o.max_cost_usd = 4; }, 4), "money_spent");
    EXPECT_EQ(ended([](RunOptions& o) { o.max_tokens = 700; }, 3), "tokens_spent");
    EXPECT_EQ(ended([](RunOptions& o) { o.max_seconds = 60; }, 3), "time_spent");
    EXPECT_EQ(ended([](RunOptions& o) { o.floor_fraction = 1e-9; }, 2), "floor_reached");
    EXPECT_EQ(ended([](RunOptions& o) { o.floor_fraction = 0, o.max_attempts = 5; }, 1), "attempts_spent");
  }
}

TEST(EveryStrategy, DoesNotRepeatAnIdeaThatWasSettled) {
  for (const std::string name : {"refine", "tree", "team"}) {
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role == "planner") return std::string("IDEA: the same\nREGION: copy\nAgain.\n");
      if (r.role != "coder") return Journeyman(r);
      return FileReply("the same", fmt::format("SPEED {}", 99 - r.number / 100.0));
    });
    run.options.max_attempts = 3;
    const RunView view = run.RunToTheEnd();
    EXPECT_TRUE(Right(view.nodes[1])) << name;
    EXPECT_EQ(view.nodes[2].problem, "repeated_idea") << name;
    EXPECT_THAT(view.nodes[2].detail, HasSubstr("choose another"));
  }
}

// The scripted profile has one finding, uncoalesced; two entries of the menu for elementwise work follow in some order.
TEST(EveryStrategy, RecordsWhichHintWasGivenForWhichFinding) {
  for (const std::string name : {"refine", "tree", "team"}) {
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role == "coder")
        return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 120 + r.number));
      return Journeyman(r);
    });
    run.options.parallel = 3;
    run.options.rounds = true;
    run.options.max_attempts = 3;
    const RunView view = run.RunToTheEnd();
    std::set<std::string> hints;
    for (int64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(view.node(id).hint) << name << " " << id;
      hints.insert(view.node(id).hint->hint);
      EXPECT_EQ(view.node(id).hint->finding, id == 1 ? "uncoalesced" : "") << name << " " << id;
    }
    EXPECT_EQ(hints.size(), 3u) << name;
    EXPECT_EQ(view.node(1).hint->hint, "Vector access") << name;
    EXPECT_EQ(view.node(1).hint->location, "seed.cu:8") << name;
    EXPECT_THAT(
        NodeText(*run.store, view, 1, false).value(),
        HasSubstr("hint: Vector access, for the finding uncoalesced at seed.cu:8 (up to 50 % of a launch's time)"));
  }
}

// --- comparing them ---

TEST(Summary, PutsTheGeometricMeanFirstAndCountsWhatFoundNothingAsOne) {
  std::vector<RunOutcome> outcomes(4);
  const double speedups[] = {4, 1, 1.5, 2};
  for (int i = 0; i < 4; ++i) {
    outcomes[static_cast<size_t>(i)].strategy = i < 3 ? "tree" : "sample";
    outcomes[static_cast<size_t>(i)].task = fmt::format("t{}", i % 3);
    outcomes[static_cast<size_t>(i)].speedup = speedups[i];
    outcomes[static_cast<size_t>(i)].success = outcomes[static_cast<size_t>(i)].faster = i != 1;
    outcomes[static_cast<size_t>(i)].paired = true;
    outcomes[static_cast<size_t>(i)].attempts = 8;
  }
  const std::vector<StrategySummary> rows = SummarizeByStrategy(outcomes);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].strategy, "tree");
  EXPECT_NEAR(rows[0].geomean, std::cbrt(6.0), 1e-12);
  EXPECT_EQ(rows[0].median, 1.5);
  EXPECT_NEAR(rows[0].faster_share, 2.0 / 3, 1e-12);
  EXPECT_EQ(rows[0].attempts, 24);
  EXPECT_THAT(SummaryTable(rows), HasSubstr("tree           1.817x   1.500x     67 %"));
  EXPECT_THAT(OutcomesTable(outcomes), HasSubstr("nothing"));
}

TEST(Summary, ARunWithoutAJudgedAttemptWaitsAndIsLeftOut) {
  std::vector<RunOutcome> outcomes(3);
  for (size_t i = 0; i < 3; ++i) {
    outcomes[i].strategy = "tree";
    outcomes[i].task = fmt::format("t{}", i);
    outcomes[i].ended = i == 0 ? "attempts_spent" : "suspended";
    outcomes[i].over = outcomes[i].paired = i == 0;
    outcomes[i].success = outcomes[i].faster = i < 2;
    outcomes[i].waiting = i == 2;
  }
  outcomes[0].speedup = 4;
  outcomes[1].speedup = 2.25;
  std::vector<StrategySummary> rows = SummarizeByStrategy(outcomes);
  EXPECT_EQ(rows[0].runs, 3);
  EXPECT_EQ(rows[0].waiting, 1);
  EXPECT_EQ(rows[0].unfinished, 1);
  EXPECT_NEAR(rows[0].geomean, 3, 1e-12) << "of 4 and 2.25";
  EXPECT_EQ(rows[0].success_share, 1);
  const std::string table = SummaryTable(rows);
  EXPECT_THAT(table, HasSubstr("3.000x   3.125x    100 %    100 %"));
  EXPECT_THAT(table, HasSubstr("  2/3 "));
  EXPECT_THAT(
      table,
      HasSubstr(
          "1 of 3 runs wait: no version of their attempts was judged yet, and geomean, median, faster and right leave them out."));
  EXPECT_THAT(table, HasSubstr("1 of 3 runs are not over"));
  EXPECT_THAT(OutcomesTable(outcomes), HasSubstr("waiting"));
  EXPECT_THAT(OutcomesTable(outcomes), HasSubstr("2.250x~+"));
  EXPECT_THAT(SummaryToJson(rows, outcomes), HasSubstr("\"speedup\": null"));
  rows = SummarizeByStrategy({outcomes[2]});
  EXPECT_THAT(SummaryTable(rows), HasSubstr("waiting  waiting        -        -"));
  EXPECT_THAT(SummaryToJson(rows, {outcomes[2]}), HasSubstr("\"geomean\": null"));
}

TEST(Summary, ASuspendedRunWaitsUntilItsFirstAttemptIsJudged) {
  ScriptedRun run("refine", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), "SPEED 50");
  });
  run.options.max_attempts = 2;
  run.options.blind_start = run.options.rounds = true;
  run.evaluator.pending_rounds = 1;
  run.Start();
  EXPECT_EQ(run.Continue().status().code(), StatusCode::kPending);
  RunOutcome o = OutcomeOf(LoadRun(*run.store, "r1").value());
  EXPECT_TRUE(o.waiting && !o.over && !o.success);
  EXPECT_EQ(o.attempts, 1) << "it was opened, and its verdict is not there";
  EXPECT_THAT(ComparisonText(CompareRuns({Summarize(LoadRun(*run.store, "r1").value())})),
              AllOf(HasSubstr("waiting"), HasSubstr("run r1 waits (suspended)"), Not(HasSubstr("1.000x"))));
  run.evaluator.pending_rounds = 0;
  o = OutcomeOf(run.Continue().value());
  EXPECT_TRUE(!o.waiting && o.over && o.success);
}

TEST(Summary, ReadsARunsOutcomeFromItsFinalPairing) {
  ScriptedRun run("tree", Journeyman);
  run.options.max_attempts = 20;
  const RunView view = run.RunToTheEnd();
  const RunOutcome o = OutcomeOf(view);
  ASSERT_NE(view.best, 0);
  EXPECT_TRUE(o.paired && o.success && o.faster);
  EXPECT_NEAR(o.speedup, *view.final_result->evaluation.geomean_speedup, 1e-9);
  EXPECT_EQ(o.attempts, 20);
  EXPECT_GT(o.repaired, 0);
}

// --- settings and config files ---

TEST(Settings, AreInTheManualAsTheyAre) {
  std::ifstream file(HONE_SOURCE_DIR "/docs/strategies.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  for (const Setting& s : AllSettings()) {
    EXPECT_THAT(manual, HasSubstr(fmt::format("| `{}` | {:g} | {} | {} |", s.name, s.value, s.meaning, s.source)));
  }
}


TEST(Settings, AreCheckedByNameAndRange) {
  RunOptions o;
  EXPECT_TRUE(PutSettingText(o, "tree.epsilon=0.3").ok());
  EXPECT_EQ(SettingOf(o, "tree.epsilon"), 0.3);
  EXPECT_EQ(SettingOf(o, "tree.plan_temperature"), 0.8);
  EXPECT_THAT(PutSettingText(o, "tree.epsilom=0.3").message(), HasSubstr("did you mean 'tree.epsilon'"));
  EXPECT_THAT(PutSettingText(o, "tree.epsilon=3").message(), HasSubstr("from 0 to 1"));
  EXPECT_THAT(PutSettingText(o, "refine.depth=1.5").message(), HasSubstr("whole number"));
  EXPECT_THAT(PutSettingText(o, "refine.depth").message(), HasSubstr("NAME=NUMBER"));
  EXPECT_THAT(PutSettingText(o, "refine.depth=ten").message(), HasSubstr("no number"));
}

TEST(ConfigFile, SetsOptionsAndSettings) {
  const RunConfig config = ParseRunConfig("strategy = \"tree\"\nattempts = 40\nminutes = 2\nparallel = 8\nsuspend = true\n"
                                          "model = [\"mailbox:m\", \"planner=builtin\"]\n[tree]\nepsilon = 0.4\n"
                                          "[refine.profile_start]\ngemm = 3\n[refine]\nfrom_best = false\n",
                                          "c.toml").value();
  EXPECT_EQ(config.options.strategy, "tree");
  EXPECT_EQ(config.options.max_attempts, 40);
  EXPECT_EQ(config.options.max_seconds, 120);
  EXPECT_EQ(config.options.parallel, 8);
  EXPECT_TRUE(config.suspend);
  EXPECT_EQ(config.models.size(), 2u);
  EXPECT_EQ(config.options.settings, (std::map<std::string, double>{{"tree.epsilon", 0.4}, {"refine.profile_start.gemm", 3}, {"refine.from_best", 0}}));
}

TEST(ConfigFile, FaultsNameFileLineAndField) {
  const auto fault = [](const std::string& text) {
    const Result<RunConfig> config = ParseRunConfig(text, "c.toml");
    EXPECT_FALSE(config.ok()) << text;
    return config.ok() ? std::string() : config.status().message();
  };
  EXPECT_THAT(fault("attempts = 0\n"), HasSubstr("c.toml:1: field 'attempts': is 0; at least 1"));
  EXPECT_THAT(fault("\nattempst = 3\n"), testing::AllOf(HasSubstr("c.toml:2"), HasSubstr("attempts")));
  EXPECT_THAT(fault("strategy = \"luck\"\n"), HasSubstr("reflexion"));
  EXPECT_THAT(fault("[tree]\nepsilon = 2\n"), testing::AllOf(HasSubstr("c.toml:2"), HasSubstr("from 0 to 1")));
  EXPECT_THAT(fault("[tree]\nepsilon = \"much\"\n"), HasSubstr("write a number"));
  EXPECT_THAT(fault("attempts = = 3\n"), HasSubstr("c.toml:1"));
}

TEST(Strategies, AskInNoRoleButTheirOwn) {
  for (const std::string& name : StrategyNames()) {
    const std::vector<std::string> roles = MakeStrategy(name).value()->Roles();
    ScriptedRun run(name, Journeyman);
    run.options.max_attempts = 16;
    const RunView view = run.RunToTheEnd();
    std::set<std::string> asked_roles;
    for (const RunNode& node : view.nodes) {
      for (const Turn& turn : node.turns) asked_roles.insert(turn.role);
    }
    EXPECT_EQ(asked_roles, std::set<std::string>(roles.begin(), roles.end())) << name;
  }
}

}  // namespace
}  // namespace hone
