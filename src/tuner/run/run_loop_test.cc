// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests whole runs with a scripted evaluator: which versions become the best, which replies are refused, and what
// remains after a kill, a full disk, a lost device or a model that does not answer.
#include "tuner/run/run_loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/random.h"
#include "tuner/strategies/limits.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/run_task.h"
#include "tuner/run/scripted_evaluator.h"
#include "tuner/run/start_run.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Returns the seed with a mark in a comment: "// SPEED 20" runs in 20 us at every shape.
std::string MarkedSeed(const std::string& mark) { return std::string(kScriptedSeed) + "// " + mark + "\n"; }
std::string FileReply(const std::string& idea, const std::string& mark) {
  return fmt::format("IDEA: {}\nbecause.\n```cuda\n{}```\n", idea, MarkedSeed(mark));
}

double MarkedTime(const std::string& source, const Binding&, const Dims&) {
  const size_t at = source.rfind("SPEED ");
  return at == std::string::npos ? 100.0 : std::stod(source.substr(at + 6));
}

// Gives the first reply to requests of node 1, the second to those of node 2, and so on; a repair gets the same reply
// again. After the last reply it is exhausted. Counts its requests.
class ScriptedProvider : public ModelProvider {
 public:
  explicit ScriptedProvider(std::vector<std::string> replies) : replies_(std::move(replies)) {}
  std::string Name() const override { return "scripted"; }
  static int64_t Index(const ModelRequest& request) { return request.number / 8 - 1; }
  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink&, std::stop_token) override {
    const int64_t index = Index(request);
    std::function<void(const ModelRequest&)> tell;
    {
      std::lock_guard lock(mutex_);
      ++asked[index];
      last = request;
      tell = on_ask;
    }
    if (delay_us > 0) ::usleep(static_cast<useconds_t>(delay_us));
    if (fail_at == index) return Status::TimedOut("nobody answered");
    if (tell) tell(request);
    ModelReply reply;
    reply.provider = "scripted";
    if (index >= static_cast<int64_t>(replies_.size())) {
      reply.text = "no more";
      reply.finish = FinishReason::kExhausted;
    } else {
      reply.text = replies_[static_cast<size_t>(index)];
      reply.usage = {100, 10, false};
      reply.cost_usd = 0.5;
    }
    return reply;
  }
  std::map<int64_t, int> asked;  // request number -> how often it was asked
  ModelRequest last;
  int delay_us = 0;
  int64_t fail_at = -1;
  std::function<void(const ModelRequest&)> on_ask;

 private:
  std::mutex mutex_;
  std::vector<std::string> replies_;
};

// A task, an evaluator and prepared replies for a run of `refine`.
struct Rig {
  Task task = ScriptedTask();
  ScriptedEvaluator evaluator{MarkedTime};
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  std::unique_ptr<ScriptedProvider> provider;
  std::unique_ptr<Strategy> strategy = MakeStrategy("refine").value();
  RunOptions options;
  std::stop_source stop;
  double clock = 1000;

  explicit Rig(std::vector<std::string> replies) : provider(std::make_unique<ScriptedProvider>(std::move(replies))) {
    options.model = "scripted";
    // One node per reply: no repairs of failed steps, no end by depth.
    options.settings = {{"refine.fixes", 0}, {"refine.depth", 0}};
  }
  std::string Start(const std::string& id = "r1") {
    return StartRun(*store, task, evaluator.facts(), options, id, clock).value();
  }
  RunDependencies Dependencies() {
    RunDependencies d;
    d.task = &task;
    d.evaluator = &evaluator;
    d.store = store.get();
    d.provider = provider.get();
    d.strategy = strategy.get();
    d.now = [this] { return clock += 1; };
    d.stop = stop.get_token();
    d.parallel_evaluations = 1;
    return d;
  }
  Result<RunView> Continue(const std::string& id = "r1") { return ContinueRun(Dependencies(), id); }
};

// Returns as text everything that must be equal when a run is repeated.
std::string TextOfTree(const RunView& view) {
  std::string text = fmt::format("best {}\n", view.best);
  for (const RunNode& n : view.nodes) {
    text += fmt::format("{} <- {} {} '{}' {} {} {} {}\n", n.id, n.parent, n.origin, n.idea, n.problem, n.source_hash.hex(),
                        n.evaluation ? VerdictName(n.evaluation->verdict) : "-", n.kept);
  }
  return text;
}

TEST(RunLoop, OfSiblingsThatAreSurelyFasterTheFastestLeads) {
  Rig rig({FileReply("halve it", "SPEED 50"), FileReply("a hair more", "SPEED 49.9")});
  rig.options.parallel = 2;
  rig.options.rounds = true;
  rig.Start();
  const RunView view = rig.Continue().value();
  // Both attempts are timed against the seed; which of them gets which reply is random.
  EXPECT_EQ(view.nodes[1].incumbent, 0);
  EXPECT_EQ(view.nodes[2].incumbent, 0);
  ASSERT_GT(view.best, 0);
  EXPECT_NEAR(view.node(view.best).gain->median, 100 / 49.9, 1e-9) << "0.2 % apart, which would not do one after the other";
}

// Before log version 4, a node replaced the best only if it was faster than it by `keep_above`, also if both were timed
// against the same version. A replay of such a run follows this rule.
TEST(RunLoop, ARunOfAnOlderVersionIsRepeatedByItsOwnRules) {
  Rig rig({FileReply("halve it", "SPEED 50"), FileReply("a hair more", "SPEED 49.9")});
  rig.options.parallel = 2;
  rig.options.rounds = true;
  ASSERT_TRUE(StartRun(*rig.store, rig.task, rig.evaluator.facts(), rig.options, "r1", rig.clock, nullptr, 3).ok());
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.version, 3);
  EXPECT_EQ(view.best, 1);
  const ReplayedRun again = ReplayRun(*rig.store, "r1").value();
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.replayed.version, 3);
}

TEST(RunLoop, KeepsWhatIsSurelyFasterAndMeasuresTheBestAgainstTheSeed) {
  Rig rig({FileReply("halve it", "SPEED 50"), FileReply("worse", "SPEED 80"), FileReply("a hair", "SPEED 49.9"),
           FileReply("better", "SPEED 20")});
  rig.Start();
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.ended, "no_more_ideas");
  ASSERT_EQ(view.nodes.size(), 6u);
  EXPECT_EQ(view.nodes[5].problem, "no_more_ideas");
  EXPECT_EQ(view.best, 4);
  EXPECT_TRUE(view.nodes[1].kept);
  EXPECT_FALSE(view.nodes[2].kept);
  EXPECT_FALSE(view.nodes[3].kept) << "0.2 % is below keep_above";
  EXPECT_EQ(view.nodes[4].parent, 1) << "every step starts from the best";
  EXPECT_NEAR(view.nodes[4].gain->median, 2.5, 1e-9);
  EXPECT_NEAR(*view.nodes[4].speedup, 5.0, 1e-9);
  ASSERT_TRUE(view.final_result);
  EXPECT_NEAR(*view.final_result->evaluation.geomean_speedup, 5.0, 1e-9);
  EXPECT_EQ(view.usage.input, 400);
  EXPECT_DOUBLE_EQ(view.cost_usd, 2.0);
  EXPECT_EQ(view.attempts, 4);
}

TEST(RunLoop, TheRequestCarriesTheBestAndTheLedger) {
  Rig rig({FileReply("halve it", "SPEED 50"), FileReply("broken", "SCRIPT_WRONG")});
  rig.Start();
  ASSERT_TRUE(rig.Continue().ok());
  const ModelRequest& last = rig.provider->last;
  EXPECT_EQ(last.number, RequestNumber(3, 0, /*repair=*/false));
  EXPECT_EQ(last.attachments.at("parent"), MarkedSeed("SPEED 50"));
  EXPECT_EQ(last.attachments.at("tried"), "halve-it\nbroken\n");
  EXPECT_THAT(last.messages[0].text, HasSubstr("SPEED 50"));
  EXPECT_THAT(last.messages[0].text, HasSubstr("broken: wrong_output"));
  EXPECT_THAT(last.messages[0].text, HasSubstr("modelled, never measured"));
  EXPECT_THAT(last.messages[0].text, testing::Not(HasSubstr("{{")));
}

TEST(RunLoop, NothingThatAModelSaysEndsARun) {
  const std::string twice = FileReply("again", "SPEED 90");
  Rig rig({"", "I would rather not.", "```cuda\nno plan\n```", FileReply("a", "SPEED 50") + FileReply("b", "SPEED 40"),
           "<<<<<<< SEARCH\nnot there\n=======\nx\n>>>>>>> REPLACE\n", std::string("\xff\xfe", 2), twice, twice,
           FileReply("again", "SPEED 70"),
           FileReply("bad plan", "SPEED 1").replace(FileReply("bad plan", "SPEED 1").find("block "), 5, "blokk"),
           FileReply("no compile", "SCRIPT_COMPILE_ERROR"), "IDEA: same\n```cuda\n" + MarkedSeed("SPEED 90") + "```",
           FileReply("at last", "SPEED 30")});
  rig.Start();
  const RunView view = rig.Continue().value();
  std::vector<std::string> problems;
  for (const RunNode& n : view.nodes) {
    problems.push_back(n.problem.empty() && n.evaluation ? std::string(VerdictName(n.evaluation->verdict)) : n.problem);
    // For every unusable reply a repair was asked for first.
    const bool refused = n.state == NodeState::kUnusable && n.problem != "no_more_ideas";
    EXPECT_EQ(n.repaired, refused ? n.problem : "");
    EXPECT_EQ(n.state == NodeState::kUnusable, !n.detail.empty()) << n.problem;
  }
  EXPECT_THAT(problems, testing::ElementsAre("ok", "empty_reply", "no_code", "no_plan", "several_files",
                                             "search_not_found", "not_text", "ok", "same_as_parent", "repeated_idea",
                                             "plan_rejected", "compile_error", "same_as_parent", "ok",
                                             "no_more_ideas"));
  EXPECT_EQ(view.best, 13);
}

TEST(RunLoop, ARepeatedSourceIsNotJudgedTwice) {
  Rig rig({FileReply("one", "SPEED 110"), FileReply("two", "SPEED 110")});
  rig.Start();
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.nodes[2].problem, "repeated_source");
  EXPECT_EQ(rig.evaluator.calls, 2);
}

TEST(RunLoop, StopsAtTheFloor) {
  Rig rig({FileReply("perfect", "SPEED 10"), FileReply("more", "SPEED 5")});
  rig.evaluator.floor_us = 9.9;
  rig.Start();
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.ended, "floor_reached");
  EXPECT_EQ(view.nodes.size(), 2u);
  EXPECT_TRUE(view.final_result);
}

TEST(RunLoop, StopsWhenAttemptsTimeTokensOrMoneyAreSpent) {
  std::vector<std::string> replies;
  for (int i = 0; i < 50; ++i)
    replies.push_back(FileReply(fmt::format("idea {}", i), fmt::format("SPEED {}", 100 + i)));
  const auto run = [&](auto change) {
    Rig rig(replies);
    change(rig.options);
    rig.Start();
    return rig.Continue().value();
  };
  EXPECT_EQ(run([](RunOptions& o) { o.max_attempts = 3; }).ended, "attempts_spent");
  EXPECT_EQ(run([](RunOptions& o) { o.max_attempts = 3; }).attempts, 3);
  EXPECT_EQ(run([](RunOptions& o) { o.max_seconds = 40; }).ended, "time_spent");
  EXPECT_EQ(run([](RunOptions& o) { o.max_tokens = 250; }).ended, "tokens_spent");
  EXPECT_EQ(run([](RunOptions& o) { o.max_cost_usd = 1.2; }).ended, "money_spent");
}

TEST(RunLoop, NewChoicesAreSweptBeforeTheyAreRefused) {
  // The reply only makes the block a tunable; its second choice is the fast one.
  std::string tunable = kScriptedSeed;
  const auto replace = [&](const std::string& from, const std::string& to) {
    tunable.replace(tunable.find(from), from.size(), to);
  };
  replace("[[launch]]", "[tune]\nBLOCK = [256, 512]\n[[launch]]");
  replace("[\"256\"]", "[\"BLOCK\"]");
  replace("d, 256)", "d, BLOCK)");
  Rig rig({"IDEA: tunable block\n```cuda\n" + tunable + "```"});
  rig.evaluator.set_time([](const std::string&, const Binding& b, const Dims&) {
    return b.contains("BLOCK") && b.at("BLOCK") == 512 ? 50.0 : 100.0;
  });
  rig.Start();
  const RunView view = rig.Continue().value();
  ASSERT_EQ(view.nodes.size(), 4u);
  EXPECT_EQ(view.nodes[2].origin, "sweep");
  EXPECT_EQ(view.best, 2);
  EXPECT_EQ(view.sweep.size(), 1u) << "the first choice was judged already";
  EXPECT_THAT(rig.store->Source(view.nodes[2].source_hash).value(), HasSubstr("BLOCK = [512, 256]"));
}

TEST(RunLoop, ABrokenSeedEndsTheRunAtOnce) {
  Rig rig({FileReply("x", "SPEED 1")});
  rig.task.seed_source = MarkedSeed("SCRIPT_WRONG");
  rig.Start();
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.ended, "seed_broken");
  EXPECT_TRUE(rig.provider->asked.empty());
}

TEST(RunLoop, ASilentModelEndsTheSittingAndIsAskedAgainUnderTheSameNumber) {
  Rig rig({FileReply("one", "SPEED 50"), FileReply("two", "SPEED 20")});
  rig.provider->fail_at = 1;
  rig.Start();
  RunView view = rig.Continue().value();
  EXPECT_EQ(view.ended, "provider_failed");
  EXPECT_EQ(view.best, 1);
  ASSERT_EQ(view.pending.size(), 1u);
  rig.provider->fail_at = -1;
  view = rig.Continue().value();
  EXPECT_EQ(view.ended, "no_more_ideas");
  EXPECT_EQ(view.best, 2);
  EXPECT_EQ(view.asked_again, 1);
  EXPECT_EQ(view.sittings, 2);
  EXPECT_EQ(rig.provider->asked[0], 1);
  EXPECT_EQ(rig.provider->asked[1], 2);
}

TEST(RunLoop, ALostDeviceIsAStatusAndTheRunGoesOnLater) {
  Rig rig({FileReply("one", "SPEED 50"), FileReply("two", "SPEED 20")});
  rig.evaluator.fail_after = 3;
  rig.Start();
  EXPECT_EQ(rig.Continue().status().code(), StatusCode::kUnavailable);
  rig.evaluator.fail_after = 0;
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.best, 2);
  for (const auto& [number, times] : rig.provider->asked) EXPECT_EQ(times, 1) << number;
}

TEST(RunLoop, APendingSpoolSuspendsTheRun) {
  Rig rig({FileReply("one", "SPEED 50")});
  rig.evaluator.pending_rounds = 1;
  rig.Start();
  EXPECT_EQ(rig.Continue().status().code(), StatusCode::kPending);
  rig.evaluator.pending_rounds = 0;
  EXPECT_EQ(rig.Continue().value().best, 1);
}

TEST(RunLoop, AStopIsCleanAndTheRunGoesOnLater) {
  Rig rig({FileReply("one", "SPEED 50"), FileReply("two", "SPEED 20")});
  rig.provider->on_ask = [&](const ModelRequest& r) {
    if (ScriptedProvider::Index(r) == 1) rig.stop.request_stop();
  };
  rig.Start();
  RunView view = rig.Continue().value();
  EXPECT_EQ(view.ended, "interrupted");
  EXPECT_EQ(view.best, 1);
  rig.stop = std::stop_source();
  view = rig.Continue().value();
  EXPECT_EQ(view.best, 2);
  EXPECT_EQ(rig.provider->asked[1], 1) << "the reply was durable before the stop was seen";
}

TEST(RunLoop, AFullStoreIsAStatusAndTheRunGoesOnWithSpace) {
  TemporaryDirectory directory = MakeTemporaryDirectory().value();
  std::vector<std::string> replies;
  for (int i = 0; i < 12; ++i)
    replies.push_back(
        FileReply(fmt::format("idea {}", i), fmt::format("{} SPEED {}", std::string(6000, 'z'), 100 - i)));
  Rig rig(replies);
  rig.store = OpenSqliteRunStore(directory / "runs.sqlite", {.max_pages = 60}).value();
  rig.Start();
  const Status full = rig.Continue().status();
  ASSERT_EQ(full.code(), StatusCode::kIo) << full.message();
  rig.store.reset();
  rig.store = OpenSqliteRunStore(directory / "runs.sqlite").value();
  const RunView view = rig.Continue().value();
  EXPECT_EQ(view.best, 12);
  // Only the request whose reply could not be stored may be sent again.
  int again = 0;
  for (const auto& [number, times] : rig.provider->asked) again += times - 1;
  EXPECT_LE(again, 1);
}

TEST(RunLoop, ReplayGivesTheSameTree) {
  const std::vector<std::string> replies{FileReply("one", "SPEED 50"), "garbage", FileReply("two", "SCRIPT_WRONG"),
                                         FileReply("three", "SPEED 20")};
  Rig rig(replies);
  rig.Start();
  const RunView original = rig.Continue().value();

  TemporaryDirectory directory = MakeTemporaryDirectory().value();
  ASSERT_TRUE(WriteFileAtomically(directory / "run.jsonl", ExportRun(*rig.store, "r1").value()).ok());
  for (const std::string& specification : {std::string("replay:r1"), "replay:" + directory / "run.jsonl"}) {
    std::unique_ptr<ModelProvider> replay = MakeProvider(specification, {rig.store.get(), 0.01}).value();
    const std::string id = "again-" + std::to_string(specification.size());
    rig.Start(id);
    RunDependencies d = rig.Dependencies();
    d.provider = replay.get();
    const RunView again = ContinueRun(d, id).value();
    EXPECT_EQ(TextOfTree(again), TextOfTree(original));
  }
}

TEST(RunLoop, BuiltinImprovesARealSeedWithAScriptedDevice) {
  Rig rig({});
  rig.task = LoadTask(HONE_SOURCE_DIR "/tasks/fused_add_rmsnorm").value();
  rig.evaluator.set_time([](const std::string& source, const Binding& b, const Dims&) {
    double us = 100;
    if (source.find("HONE_TUNE_KEEP") != std::string::npos) us -= 25;
    if (source.find("__stcs") != std::string::npos) us -= 5;
    if (source.find("__fdividef") != std::string::npos) us += 1;
    return us + (b.at("BLOCK") == 256 ? 0 : 10);
  });
  rig.options.model = "builtin";
  rig.Start();
  std::unique_ptr<ModelProvider> builtin = MakeProvider("builtin", {}).value();
  RunDependencies d = rig.Dependencies();
  d.provider = builtin.get();
  const RunView view = ContinueRun(d, "r1").value();
  EXPECT_EQ(view.ended, "no_more_ideas");
  ASSERT_TRUE(view.final_result);
  EXPECT_NEAR(*view.final_result->evaluation.geomean_speedup, 110.0 / 70.0, 1e-9);
  const std::string best = rig.store->Source(view.node(view.best).source_hash).value();
  EXPECT_THAT(best, HasSubstr("hone_kept_residual_row"));
  EXPECT_THAT(best, HasSubstr("__stcs"));
  EXPECT_THAT(best, testing::Not(HasSubstr("__fdividef")));
  EXPECT_THAT(best, HasSubstr("BLOCK = [256,"));
}

TEST(RunLoop, TwoProcessesCannotContinueOneRun) {
  Rig rig({});
  rig.Start();
  std::unique_ptr<RunClaim> claim = rig.store->Claim("r1").value();
  EXPECT_EQ(rig.Continue().status().code(), StatusCode::kUnavailable);
}

TEST(RunLoop, TheTaskOfARunComesFromItsStore) {
  Rig rig({});
  rig.Start();
  const RunView view = LoadRun(*rig.store, "r1").value();
  const Task task = LoadRunTask(*rig.store, view).value();
  EXPECT_EQ(task.seed_source, kScriptedSeed);
  EXPECT_EQ(task.toml, rig.task.toml);
}

TEST(RunLoop, TheLastPairingAloneTimesLibrariesWhereTheRunAsksForThem) {
  Rig rig({FileReply("halve it", "SPEED 50")});
  rig.task.baseline_toml = "[[library]]\nkind = \"torch\"\nexpression = \"x.clone()\"\n";
  rig.options.libraries = true;
  int judged = 0, with_libraries = 0;
  rig.evaluator.on_evaluate = [&](const Task& task, const EvaluationRequest& request) {
    ++judged;
    if (!request.libraries) return;
    ++with_libraries;
    EXPECT_EQ(task.baseline_toml, rig.task.baseline_toml);
    EXPECT_EQ(request.name, "node-1.cu");
  };
  rig.Start();
  const RunView view = rig.Continue().value();
  ASSERT_TRUE(view.final_result);
  EXPECT_GT(judged, 2);
  EXPECT_EQ(with_libraries, 1);
  EXPECT_TRUE(view.options.libraries);
  EXPECT_EQ(LoadRunTask(*rig.store, view).value().baseline_toml, rig.task.baseline_toml);
  EXPECT_EQ(ReplayRun(*rig.store, "r1").value().difference, "");
}

TEST(RunLoop, AThousandNodesLoadInTime) {
  std::vector<std::string> replies;
  for (int i = 0; i < 1000; ++i)
    replies.push_back(FileReply(fmt::format("idea {}", i), fmt::format("SPEED {}", 200 + i)));
  Rig rig(replies);
  rig.options.max_attempts = 1000;
  rig.Start();
  const Stopwatch run;
  ASSERT_EQ(rig.Continue().value().nodes.size(), 1001u);
  const double per_attempt = run.Seconds() / 1000;
  const Stopwatch load;
  ASSERT_TRUE(LoadRun(*rig.store, "r1").ok());
  RecordProperty("milliseconds_per_attempt", std::to_string(1e3 * per_attempt));
  RecordProperty("load_seconds", std::to_string(load.Seconds()));
}

}  // namespace
}  // namespace hone
