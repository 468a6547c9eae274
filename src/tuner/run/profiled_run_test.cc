// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a version whose profile a prompt shows is profiled first, once, and recorded, so that a resumed or
// repeated run shows the same profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// A run on a GPU, where a profile costs time and is made only for a prompt that shows it. On the simulator, evaluations
// include profiles.
struct GpuRun : ScriptedRun {
  GpuRun(const std::string& strategy, Mind::Answer answer) : ScriptedRun(strategy, std::move(answer)) {
    evaluator.set_modelled(false);
  }
};

// Returns whether the request is for a profile without a judgement.
bool ProfilesOnly(const EvaluationRequest& r) { return r.profile && !r.check_cases; }

// Lets the evaluator count, by file, the requests for a profile without a judgement.
std::map<std::string, int>* Count(ScriptedRun& run, std::mutex& mutex, std::map<std::string, int>* counts) {
  run.evaluator.on_evaluate = [&mutex, counts](const Task&, const EvaluationRequest& r) {
    std::lock_guard lock(mutex);
    if (ProfilesOnly(r)) ++(*counts)[r.name];
  };
  return counts;
}

TEST(ProfiledRun, TheAnalystReadsWhatWasCountedOfTheParentAndNothingElseIsProfiled) {
  GpuRun run("team", Journeyman);
  run.options.parallel = 3;
  run.options.settings = {{"team.cases", 0}};
  std::mutex mutex;
  std::map<std::string, int> counts;
  Count(run, mutex, &counts);
  const RunView view = run.RunToTheEnd();
  ASSERT_EQ(view.ended, "attempts_spent");

  std::set<std::string> shown;
  for (const RunNode& node : view.nodes) {
    for (const Turn& turn : node.turns) {
      if (turn.profile) shown.insert(NodeFileName(view, node.parent));
    }
  }
  ASSERT_GT(shown.size(), 1u);
  EXPECT_LT(shown.size(), view.nodes.size());
  std::set<std::string> profiled;
  for (const auto& [name, times] : counts) {
    EXPECT_EQ(times, 1) << name;
    profiled.insert(name);
  }
  EXPECT_EQ(profiled, shown);
  EXPECT_EQ(view.profiles, static_cast<int64_t>(shown.size()));

  int asked = 0;
  for (const auto& [number, request] : run.mind.requests) {
    if (request.role != "analyst") continue;
    ++asked;
    const std::string parent = NodeFileName(view, view.node(number / (2 * kMaxTurns)).parent);
    EXPECT_THAT(request.messages[0].text, HasSubstr("uncoalesced at " + parent + ":8 (up to 50 % of the time)"));
    EXPECT_THAT(request.messages[0].text, HasSubstr("evidence: 8 sectors a request"));
    EXPECT_THAT(request.messages[0].text, HasSubstr("counted by the simulator"));
  }
  EXPECT_GT(asked, 0);
}

TEST(ProfiledRun, ItIsInTheLogAndTheRunIsRepeatedFromIt) {
  GpuRun run("refine", Journeyman);
  run.options.settings = {{"refine.profile_from_start", 1}};
  const RunView view = run.RunToTheEnd();
  ASSERT_TRUE(view.node(0).profiled);
  ASSERT_TRUE(view.node(0).evaluation->profile);
  EXPECT_EQ(view.node(0).evaluation->cases.size(), 2u) << "its own times stay";
  EXPECT_EQ(view.node(0).evaluation->findings.size(), 1u);
  const RunView loaded = LoadRun(*run.store, "r1").value();
  EXPECT_EQ(EvaluationToJson(*loaded.node(0).evaluation), EvaluationToJson(*view.node(0).evaluation));
  const std::string exported = ExportRun(*run.store, "r1").value();
  EXPECT_THAT(exported, HasSubstr("\"profile\""));

  ReplayedRun again = ReplayRun(*run.store, "r1").value();
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.replayed.profiles, view.profiles);
  // The replayed run must send the same messages.
  const auto messages = [](RunStore& store) {
    std::vector<std::string> texts;
    const std::vector<Event> events = store.Events("r1").value();
    for (const Event& e : events) {
      const size_t at = e.kind == EventKind::kRequest ? e.payload.find("\"messages\"") : std::string::npos;
      if (at != std::string::npos) texts.push_back(e.payload.substr(at, e.payload.find(']', at) - at));
    }
    return texts;
  };
  EXPECT_EQ(messages(*again.store), messages(*run.store));
}

TEST(ProfiledRun, ARunThatStopsWhileProfilingGoesOnWithIt) {
  GpuRun straight("single", Journeyman);
  const std::string expected_tree = TreeText(straight.RunToTheEnd());
  GpuRun run("single", Journeyman);
  std::atomic<bool> ready{false};
  run.evaluator.pending = [&](const EvaluationRequest& r) { return ProfilesOnly(r) && !ready; };
  run.Start();
  EXPECT_EQ(run.Continue().status().code(), StatusCode::kPending);
  EXPECT_TRUE(run.mind.asks_by_request.empty()) << "nobody is asked before there is something to show";
  ready = true;
  EXPECT_EQ(TreeText(run.Continue().value()), expected_tree);
}

TEST(ProfiledRun, NoProfileMeansNone) {
  GpuRun run("single", Journeyman);
  run.options.profile = false;
  std::mutex mutex;
  std::map<std::string, int> counts;
  Count(run, mutex, &counts);
  const RunView view = run.RunToTheEnd();
  EXPECT_TRUE(counts.empty());
  EXPECT_EQ(view.profiles, 0);
  for (const auto& [number, request] : run.mind.requests) {
    EXPECT_THAT(request.messages[0].text, Not(HasSubstr("counted by"))) << number;
  }
}

TEST(ProfiledRun, AVersionThatCannotBeProfiledIsShownWithoutAndSaidSo) {
  GpuRun run("single", Journeyman);
  run.evaluator.wrong = [](const EvaluationRequest& r) { return ProfilesOnly(r); };
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.ended, "rounds_done");
  ASSERT_TRUE(view.node(0).profiled);
  EXPECT_FALSE(view.node(0).evaluation->profile);
  EXPECT_EQ(view.node(0).evaluation->verdict, Verdict::kOk);
  ASSERT_FALSE(view.remarks.empty());
  EXPECT_THAT(view.remarks[0].text, HasSubstr("node 0 could not be profiled: scripted: wrong"));
}

TEST(ProfiledRun, OnTheSimulatorTheLedgerSaysWhichCountMovedWithTheTime) {
  ScriptedRun run("single", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number),
                     r.number == RequestNumber(1, 0, /*repair=*/false) ? "SPEED 300 SCRIPT_LOADS 10" : "SPEED 90");
  });
  run.options.settings = {{"single.rounds", 2}};
  std::mutex mutex;
  std::map<std::string, int> counts;
  Count(run, mutex, &counts);
  const RunView view = run.RunToTheEnd();
  EXPECT_TRUE(counts.empty()) << "no evaluation is made for a profile alone";
  EXPECT_TRUE(view.node(1).evaluation->profile);
  EXPECT_THAT(run.mind.requests.at(RequestNumber(2, 0, /*repair=*/false)).messages[0].text,
              HasSubstr("0.333x of the start, modelled, not kept; by shape 0.33 0.33; loads in flight an SM fell from "
                        "100 kB to 10 kB"));
  EXPECT_EQ(ReplayRun(*run.store, "r1").value().difference, "");
}

TEST(ProfiledRun, OnASpoolTheProfileComesWithTheEvaluation) {
  GpuRun run("single", Journeyman);
  run.options.device = "spool:jobs";
  std::mutex mutex;
  std::map<std::string, int> counts;
  Count(run, mutex, &counts);
  const RunView view = run.RunToTheEnd();
  EXPECT_TRUE(counts.empty());
  EXPECT_TRUE(view.node(0).evaluation->profile);
  EXPECT_THAT(run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text,
              HasSubstr("counted by the simulator"));
  EXPECT_EQ(ReplayRun(*run.store, "r1").value().difference, "");
}

}  // namespace
}  // namespace hone
