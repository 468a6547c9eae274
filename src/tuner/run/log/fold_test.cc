// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests RunFold event by event: what it refuses, how the times of sittings add up, which node becomes the best.
#include "tuner/run/log/fold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tuner/run/log/run_options.h"

namespace hone {
namespace {

// Writes a log whose events come a second apart, and folds each at once.
class FoldedRun {
 public:
  explicit FoldedRun(int version = kRunVersion) : fold_(RunInfo{.id = "r1"}) {
    Add(EventKind::kStarted, -1,
        {{"version", version}, {"options", RunOptionsToJson({})}, {"task_toml", "t"}, {"oracle", "o"}, {"seed", "s"}});
    Add(EventKind::kEvaluation, 0, {{"incumbent", -1}}, Interval{1, 1, 1});
  }

  Status Try(EventKind kind, int64_t node, const nlohmann::json& payload, std::optional<Interval> speedup = {}) {
    Event event;
    event.sequence = next;
    event.time = time;
    event.kind = kind;
    event.node = node;
    event.payload = payload.dump();
    if (speedup) {
      Evaluation evaluation;
      evaluation.verdict = Verdict::kOk;
      evaluation.cases = {{.role = CaseRole::kTime, .speedup = speedup}};
      event.evaluation = EvaluationToJson(evaluation, -1);
    }
    ++next;
    time += 1;
    return fold_.Apply(event);
  }
  void Add(EventKind kind, int64_t node, const nlohmann::json& payload, std::optional<Interval> speedup = {}) {
    const Status status = Try(kind, node, payload, speedup);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  // Adds node `id`, which is made from the seed and timed against `incumbent` with this speedup.
  void AddNode(int64_t id, int64_t incumbent, Interval speedup) {
    Add(EventKind::kChoice, id,
        {{"action", "attempt"}, {"parent", 0}, {"incumbent", incumbent}, {"turns", nlohmann::json::array()}});
    Add(EventKind::kProposal, id, {{"source", fmt::format("source {}", id)}, {"idea", fmt::format("idea {}", id)}});
    Add(EventKind::kEvaluation, id, {{"incumbent", incumbent}}, speedup);
  }
  // Ends a final check of a node with a wrong result.
  void RejectAtTheEnd(int64_t id) {
    Evaluation evaluation;
    evaluation.verdict = Verdict::kWrongOutput;
    Event event;
    event.sequence = next++;
    event.time = time;
    event.kind = EventKind::kFinal;
    event.node = id;
    event.payload = nlohmann::json{{"node", id}}.dump();
    event.evaluation = EvaluationToJson(evaluation, -1);
    const Status status = fold_.Apply(event);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const RunView& view() const { return fold_.view(); }

  int64_t next = 0;
  double time = 1000;

 private:
  RunFold fold_;
};

TEST(RunFold, AGapOrARepeatInTheLogIsDamage) {
  for (const int64_t off : {-1, 1}) {
    FoldedRun run;
    run.next += off;
    const Status status = run.Try(EventKind::kNote, -1, {{"text", "hello"}});
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_EQ(status.message(), fmt::format("run r1: event {} where 2 was due", 2 + off));
  }
}

TEST(RunFold, MessagesSayWhichNodesARunHas) {
  EXPECT_EQ(NodesText(RunView{.info = {.id = "r0"}}), "run r0 has no nodes");
  FoldedRun run;
  EXPECT_EQ(NodesText(run.view()), "run r1 has node 0 alone");
  run.AddNode(1, 0, {1, 1, 1});
  run.AddNode(2, 0, {1, 1, 1});
  EXPECT_EQ(NodesText(run.view()), "run r1 has nodes 0 to 2");
}

TEST(RunFold, SecondsAreThoseOfAllSittingsWithoutTheTimeBetween) {
  FoldedRun run;  // two events: at 0 and 1 s
  run.Add(EventKind::kEnded, -1, {{"reason", "suspended"}});
  EXPECT_DOUBLE_EQ(run.view().seconds, 2);
  run.time += 3600;
  run.Add(EventKind::kResumed, -1, nlohmann::json::object());
  EXPECT_DOUBLE_EQ(run.view().seconds, 2);
  run.Add(EventKind::kNote, -1, {{"text", "on we go"}});
  EXPECT_DOUBLE_EQ(run.view().seconds, 3);
}

TEST(RunFold, WhatIsSurelyFasterTakesThePlace) {
  FoldedRun run;
  run.AddNode(1, 0, {1.5, 1.4, 1.6});
  EXPECT_EQ(run.view().best, 1);
  EXPECT_TRUE(run.view().node(1).kept);
  run.AddNode(2, 1, {1.001, 0.9, 1.1});
  EXPECT_EQ(run.view().best, 1);
  EXPECT_FALSE(run.view().node(2).kept);
  run.AddNode(3, 1, {1.2, 1.15, 1.25});
  EXPECT_EQ(run.view().best, 3);
  ASSERT_TRUE(run.view().node(3).speedup);
  EXPECT_DOUBLE_EQ(*run.view().node(3).speedup, 1.5 * 1.2);
}

// Node 2 was never kept, because node 1 was faster. Node 3 is not surely faster than the seed.
TEST(RunFold, ARejectedBestGivesWayToTheFastestRightVersionSinceVersion8) {
  for (const int version : {7, 8}) {
    FoldedRun run(version);
    run.AddNode(1, 0, {3.0, 2.9, 3.1});
    run.AddNode(2, 1, {0.8, 0.79, 0.81});
    run.AddNode(3, 0, {1.01, 0.9, 1.1});
    EXPECT_EQ(run.view().best, 1);
    run.RejectAtTheEnd(1);
    EXPECT_TRUE(run.view().node(1).rejected);
    EXPECT_EQ(run.view().best, version == 8 ? 2 : 0) << version;
    run.RejectAtTheEnd(2);
    EXPECT_EQ(run.view().best, 0) << version;
  }
}

// Two nodes are timed against the seed, and 2.2 is not surely more than 2.0, which may be 2.4. In logs up to version 3
// the first stays the best. Since version 4 the faster of two nodes that are surely faster than the same version
// becomes the best.
TEST(RunFold, TheUncertaintyOfBothSidesCounts) {
  for (const int version : {3, 4}) {
    FoldedRun run(version);
    run.AddNode(1, 0, {2.0, 1.9, 2.4});
    run.AddNode(2, 0, {2.2, 2.19, 2.21});
    EXPECT_EQ(run.view().best, version < 4 ? 1 : 2) << "version " << version;
  }
  FoldedRun sure(3);
  sure.AddNode(1, 0, {2.0, 1.9, 2.01});
  sure.AddNode(2, 0, {2.2, 2.19, 2.21});
  EXPECT_EQ(sure.view().best, 2);
}

}  // namespace
}  // namespace hone
