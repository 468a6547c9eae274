// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the seed's tunables are swept before the first prompt, so that a model starts from the seed's best
// binding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;

// A run whose seed has a tunable block size: it takes 100 us with 256 threads and 50 us with 128.
struct TunableRun : ScriptedRun {
  explicit TunableRun(const std::string& strategy, bool faster_at_128 = true) : ScriptedRun(strategy, Journeyman) {
    std::string seed = kScriptedSeed;
    seed.replace(seed.find("[[launch]]"), 0, "[tune]\nBLOCK = [256, 128]\n\n");
    seed.replace(seed.find("block  = [\"256\"]"), 16, "block  = [\"BLOCK\"]");
    task.seed_source = seed;
    options.max_attempts = 5;
    evaluator.set_time([faster_at_128](const std::string& source, const Binding& binding, const Dims&) {
      if (const size_t at = source.rfind("SPEED "); at != std::string::npos) return std::stod(source.substr(at + 6));
      return faster_at_128 && binding.at("BLOCK") == 128 ? 50.0 : 100.0;
    });
  }
};

TEST(SeedSweep, EveryPromptStartsFromTheSeedsBestBindingWhateverIsInFlight) {
  for (const char* strategy : {"refine", "team", "tree", "single", "funnel", "reckon"}) {
    for (const int64_t parallel : {1, 4}) {
      TunableRun run(strategy);
      run.options.parallel = parallel;
      const RunView view = run.RunToTheEnd();
      SCOPED_TRACE(fmt::format("{}, {} in flight\n{}", strategy, parallel, TreeText(view)));
      ASSERT_GT(view.nodes.size(), 2u);
      EXPECT_EQ(view.node(1).origin, "sweep");
      EXPECT_TRUE(view.node(1).kept);
      EXPECT_EQ(view.attempts, 5) << "the sweep is no attempt";
      for (const RunNode& node : view.nodes) {
        if (node.origin == "reply") {
          EXPECT_GE(node.known, 2);
        }
      }
      const std::string& first = run.mind.requests.at(RequestNumber(2, 0, /*repair=*/false)).messages[0].text;
      EXPECT_THAT(first, HasSubstr("sweep of seed.cu's tunables"));
      EXPECT_THAT(first, HasSubstr("BLOCK = [128, 256]"));
      int seed_points = 0;
      for (const SweepPoint& point : view.sweep) seed_points += point.node == 0;
      EXPECT_EQ(seed_points, 1) << "the first choices were judged as the seed";
    }
  }
}

TEST(SeedSweep, ARecordedRunRepeatsWithItAndWithout) {
  for (const char* strategy : {"refine", "team", "tree", "single", "sample", "reflexion", "funnel", "reckon"}) {
    for (const bool sweep : {true, false}) {
      for (const bool rounds : {true, false}) {
        TunableRun run(strategy);
        run.options.sweep_seed = sweep;
        run.options.rounds = rounds;
        run.options.parallel = 2;
        const RunView view = run.RunToTheEnd();
        const ReplayedRun again = ReplayRun(*run.store, "r1").value();
        EXPECT_EQ(again.difference, "") << strategy << " " << sweep << " " << rounds;
        EXPECT_EQ(TreeText(again.replayed), TreeText(view)) << strategy << " " << sweep << " " << rounds;
      }
    }
  }
}

TEST(SeedSweep, WithoutItOrABetterBindingTheSeedIsWhatPromptsShow) {
  TunableRun off("single");
  off.options.sweep_seed = false;
  EXPECT_EQ(off.RunToTheEnd().node(1).origin, "reply");
  TunableRun nothing("single", /*faster_at_128=*/false);
  const RunView view = nothing.RunToTheEnd();
  EXPECT_EQ(view.node(1).problem, "nothing_better");
  EXPECT_EQ(view.node(2).parent, 0);
  TunableRun blind("single");
  blind.options.blind_start = true;
  EXPECT_EQ(blind.RunToTheEnd().node(1).origin, "reply") << "nothing is waited for";
}

TEST(SeedSweep, NobodyIsAskedToImproveASeedThatIsWrong) {
  TunableRun run("single");
  run.evaluator.wrong = [](const EvaluationRequest&) { return true; };
  EXPECT_EQ(run.RunToTheEnd().ended, "seed_broken");
  EXPECT_TRUE(run.mind.asks_by_request.empty());
}

}  // namespace
}  // namespace hone
