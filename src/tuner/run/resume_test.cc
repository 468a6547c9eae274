// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a run that was killed, stopped or suspended, or whose model failed, resumes where its log ends, with the
// same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Returns the events as text, to be compared.
std::vector<std::string> Lines(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& e : events) {
    lines.push_back(fmt::format("{} {} {} {} {}", e.sequence, e.time, EventKindName(e.kind), e.node, e.payload));
  }
  return lines;
}

// Returns the same run in every process. It is so slow that delayed kills hit every phase.
std::unique_ptr<ScriptedRun> KillableRun(const std::string& strategy, const std::string& store) {
  auto run = std::make_unique<ScriptedRun>(strategy, Journeyman);
  run->options.parallel = 3;
  run->options.max_attempts = 14;
  run->options.settings = {{"team.rounds", 0}, {"refine.depth", 0}};
  run->mind.salt = 9;
  run->evaluator.delay_us = 600;
  run->store = OpenSqliteRunStore(store).value();
  return run;
}

// Kills the process at its `count`th request or evaluation, or a while after it. The process kills itself, so that
// scheduling does not decide whether it is killed.
class Deadly {
 public:
  Deadly(int count, useconds_t later_us) : left_(count), later_us_(later_us) {}
  void Step() {
    if (--left_ != 0) return;
    if (later_us_ == 0) raise(SIGKILL);
    std::thread([this] {
      usleep(later_us_);
      kill(getpid(), SIGKILL);
    }).detach();
  }

 private:
  std::atomic<int> left_;
  const useconds_t later_us_;
};

TEST(Resume, KilledAtFiftyInstantsItAsksNothingTwiceAndGrowsTheSameTree) {
  int kills = 0;
  Rng random(20261121);
  for (const std::string strategy : {"tree", "refine", "team", "funnel", "reckon"}) {
    TemporaryDirectory directory = MakeTemporaryDirectory().value();
    const std::string expected_tree = TreeText(KillableRun(strategy, directory / "reference.sqlite")->RunToTheEnd());
    for (int round = 0, killed_here = 0; killed_here < 17 && round < 100; ++round) {
      SCOPED_TRACE(fmt::format("{}, round {}", strategy, round));
      const std::string path = directory / fmt::format("{}.sqlite", round), asked_path = directory / fmt::format("{}.asked", round);
      KillableRun(strategy, path)->Start();
      std::vector<std::string> before;
      bool finished = false;
      for (int sitting = 0; sitting < 60 && !finished; ++sitting) {
        // Kills come early enough to hit a run several times; after several kills, the run is left alone.
        const int steps = 1 + static_cast<int>(random.Below(8));
        const bool at_once = random.Below(2) == 0;
        const auto later_us = static_cast<useconds_t>(1 + random.Below(4000));
        const pid_t child = fork();
        if (child == 0) {
          const std::unique_ptr<ScriptedRun> run = KillableRun(strategy, path);
          Deadly deadly(sitting < 10 ? steps : -1, at_once ? 0 : later_us);
          run->clock = 1000 + 1000 * sitting;
          // Records each request with one write when it is sent, so that a kill leaves whole lines.
          run->mind.on_ask = [&](const ModelRequest& r) {
            std::ofstream(asked_path, std::ios::app) << fmt::format("{}\n", r.number) << std::flush;
            deadly.Step();
          };
          run->evaluator.on_evaluate = [&](const Task&, const EvaluationRequest&) { deadly.Step(); };
          _exit(run->Continue().ok() ? 0 : 1);
        }
        int state = 0;
        ASSERT_EQ(waitpid(child, &state, 0), child);
        finished = !WIFSIGNALED(state);
        if (finished) {
          ASSERT_EQ(WEXITSTATUS(state), 0);
        } else {
          ASSERT_EQ(WTERMSIG(state), SIGKILL);
        }
        kills += !finished;
        killed_here += !finished;
        const std::vector<std::string> now = Lines(OpenSqliteRunStore(path).value()->Events("r1").value());
        ASSERT_GE(now.size(), before.size());
        ASSERT_TRUE(std::equal(before.begin(), before.end(), now.begin())) << "the log before a kill is a prefix of the log after";
        before = now;
      }
      ASSERT_TRUE(finished);
      std::unique_ptr<RunStore> store = OpenSqliteRunStore(path).value();
      const RunView view = LoadRun(*store, "r1").value();
      EXPECT_EQ(TreeText(view), expected_tree);
      std::map<int64_t, int> replies;
      const std::vector<Event> events = store->Events("r1").value();
      for (const Event& e : events) {
        if (e.kind == EventKind::kReply) ++replies[nlohmann::json::parse(e.payload).at("number").get<int64_t>()];
      }
      for (const auto& [number, times] : replies) EXPECT_EQ(times, 1) << "request " << number;
      // At each kill, at most the requests in flight are sent again.
      std::set<std::string> asked_requests;
      std::ifstream file(asked_path);
      int64_t total = 0;
      for (std::string line; std::getline(file, line); ++total) asked_requests.insert(line);
      EXPECT_LE(total - static_cast<int64_t>(asked_requests.size()), 3 * (view.sittings - 1));
      EXPECT_LE(view.asked_again, 3 * (view.sittings - 1));
    }
  }
  EXPECT_GE(kills, 50) << "the test must have killed something";
}

TEST(Resume, ARecordedRunReplaysToTheSameTreeWithItsAttemptsOverlapping) {
  ScriptedRun run("tree", Journeyman);
  run.options.parallel = 4;
  run.mind.salt = 5;
  const RunView original = run.RunToTheEnd();
  const std::unique_ptr<ModelProvider> replay = MakeProvider("replay:r1", ProviderOptions{run.store.get()}).value();
  ScriptedRun again("tree", [&](const ModelRequest& r) -> Result<std::string> {
    HONE_ASSIGN_OR_RETURN(ModelReply reply, replay->Complete(r, {}, {}));
    return reply.text;
  });
  again.options.parallel = 4;
  again.mind.salt = 6;
  EXPECT_EQ(TreeText(again.RunToTheEnd()), TreeText(original));
}

TEST(Resume, ARunIsRepeatedFromItsRecordAlone) {
  for (const std::string strategy : {"team", "tree", "refine"}) {
    ScriptedRun run(strategy, Journeyman);
    run.options.parallel = 3;
    run.options.settings = {{"team.rounds", 0}};
    // One of the tester's cases is refused, also in the replay.
    run.evaluator.wrong = [first = std::make_shared<std::atomic<bool>>(true)](const EvaluationRequest& r) {
      return !r.time && first->exchange(false);
    };
    const RunView recorded = run.RunToTheEnd();
    const ReplayedRun same = ReplayRun(*run.store, "r1").value();
    EXPECT_EQ(same.difference, "") << strategy;
    EXPECT_EQ(same.compared, static_cast<int64_t>(recorded.nodes.size()));
    EXPECT_EQ(TreeText(same.replayed), TreeText(recorded));
  }
}

// A model whose requests stay unanswered (kPending) until the test puts their numbers into `answered`.
struct Desk {
  std::set<int64_t> posted;
  std::set<int64_t> answered;
  std::mutex mutex;
  Result<std::string> Take(const ModelRequest& r) {
    std::lock_guard lock(mutex);
    posted.insert(r.number);
    EXPECT_TRUE(r.suspends);
    EXPECT_GT(r.limit_seconds, 1) << "other providers of a suspended run have their usual time";
    if (!answered.contains(r.number)) return Status::Pending("nobody has answered yet");
    return Journeyman(r);
  }
};

TEST(Suspend, AllRequestsArePostedAtOnceAndWhatIsThereIsPickedUp) {
  Desk desk;
  ScriptedRun run("refine", [&](const ModelRequest& r) { return desk.Take(r); });
  run.options.parallel = 8;
  run.options.rounds = true;
  run.options.max_attempts = 16;
  run.options.settings = {{"refine.fixes", 0}};
  run.suspend = true;
  run.Start();
  EXPECT_EQ(run.Continue().status().code(), StatusCode::kPending);
  EXPECT_EQ(desk.posted.size(), 8u) << "all requests of the round can be answered at once";
  EXPECT_EQ(LoadRun(*run.store, "r1").value().ended, "suspended");
  // Half of the requests are answered: the answers are judged, the other requests stay posted, and no second round
  // begins.
  for (int64_t node = 1; node <= 4; ++node) desk.answered.insert(RequestNumber(node, 0, /*repair=*/false));
  EXPECT_EQ(run.Continue().status().code(), StatusCode::kPending);
  RunView view = LoadRun(*run.store, "r1").value();
  EXPECT_EQ(view.nodes.size(), 9u);
  EXPECT_EQ(view.asked_again, 0) << "a request left in order is not asked again";
  int requests = 0;
  const std::vector<Event> events = run.store->Events("r1").value();
  for (const Event& e : events) requests += e.kind == EventKind::kRequest;
  EXPECT_EQ(requests, static_cast<int>(view.requests));
  // Then all requests are answered, in as many sittings as necessary.
  Status last = Status::Pending("");
  for (int sitting = 0; sitting < 20 && last.code() == StatusCode::kPending; ++sitting) {
    desk.answered = desk.posted;
    last = run.Continue().status();
  }
  ASSERT_TRUE(last.ok()) << last.message();
  view = LoadRun(*run.store, "r1").value();
  EXPECT_EQ(view.ended, "attempts_spent");
  // The result equals that of a run that never stopped.
  ScriptedRun straight("refine", Journeyman);
  straight.options = run.options;
  EXPECT_EQ(TreeText(straight.RunToTheEnd()), TreeText(view));
}

TEST(Suspend, AllEvaluationsOfARoundAreSubmittedAtOnce) {
  ScriptedRun run("tree", Journeyman);
  run.options.parallel = 6;
  run.options.device = "spool:jobs";  // on a spool, evaluations include profiles
  run.options.rounds = true;
  run.options.max_attempts = 12;
  std::set<std::string> submitted, judged;
  std::mutex mutex;
  run.evaluator.pending = [&](const EvaluationRequest& r) {
    std::lock_guard lock(mutex);
    const std::string key = r.name + r.incumbent_name + (r.warm ? "f" : "");
    submitted.insert(key);
    return !judged.contains(key);
  };
  run.Start();
  std::vector<size_t> visits;
  Status last = Status::Pending("");
  while (visits.size() < 20 && (last = run.Continue().status()).code() == StatusCode::kPending) {
    visits.push_back(submitted.size() - judged.size());
    judged = submitted;
  }
  ASSERT_TRUE(last.ok()) << last.message();
  // The seed; two rounds; the final pairing: four visits to the device for twelve attempts.
  ASSERT_EQ(visits.size(), 4u);
  EXPECT_EQ(visits[0], 1u);
  EXPECT_GE(visits[1], 3u);
  EXPECT_EQ(visits[3], 1u);
}

TEST(Suspend, ABlindStartSavesAVisit) {
  ScriptedRun run("refine", Journeyman);
  run.options.parallel = 6;
  run.options.device = "spool:jobs";  // on a spool, evaluations include profiles
  run.options.rounds = run.options.blind_start = true;
  run.options.max_attempts = 6;
  std::set<std::string> submitted, judged;
  std::mutex mutex;
  run.evaluator.pending = [&](const EvaluationRequest& r) {
    std::lock_guard lock(mutex);
    const std::string key = r.name + r.incumbent_name + (r.warm ? "f" : "");
    submitted.insert(key);
    return !judged.contains(key);
  };
  run.Start();
  int visits = 0;
  while (visits < 20 && run.Continue().status().code() == StatusCode::kPending) {
    ++visits;
    judged = submitted;
  }
  EXPECT_EQ(LoadRun(*run.store, "r1").value().ended, "attempts_spent");
  EXPECT_EQ(visits, 2) << "the seed and its attempts together, then the final pairing";
}

TEST(Resume, AStopWithAttemptsInFlightIsClean) {
  ScriptedRun run("tree", Journeyman);
  run.options.parallel = 4;
  std::atomic<int> request_count{0};
  run.mind.on_ask = [&](const ModelRequest&) {
    if (++request_count == 9) run.stop.request_stop();
  };
  run.Start();
  const RunView stopped = run.Continue().value();
  EXPECT_EQ(stopped.ended, "interrupted");
  run.stop = std::stop_source();
  run.mind.on_ask = {};
  const RunView ended_run = run.Continue().value();
  ScriptedRun straight("tree", Journeyman);
  straight.options = run.options;
  EXPECT_EQ(TreeText(ended_run), TreeText(straight.RunToTheEnd()));
  for (const auto& [number, times] : run.mind.asks_by_request) EXPECT_EQ(times, 1) << number;
}

TEST(Resume, ABestThatFailsItsFinalCheckGivesWayToTheOneBefore) {
  ScriptedRun run("refine", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 100 - r.number));
  });
  run.options.max_attempts = 3;
  // The final check, the only request for warm times, finds on fresh hidden cases what the attempts' cases did not
  // show.
  run.evaluator.wrong = [](const EvaluationRequest& r) { return r.warm && r.name == "node-3.cu"; };
  const RunView view = run.RunToTheEnd();
  EXPECT_TRUE(view.nodes[3].rejected);
  EXPECT_EQ(view.best, 2);
  ASSERT_TRUE(view.final_result);
  EXPECT_EQ(view.final_result->node, 2);
  EXPECT_EQ(view.final_result->evaluation.verdict, Verdict::kOk);
}

TEST(Resume, ABestThatFailsItsFinalCheckGivesWayToASlowerOneThatWasNeverKept) {
  // Each version is slower than the one before, so the first alone is kept; all are faster than the seed.
  ScriptedRun run("refine", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 40 + r.number));
  });
  run.options.max_attempts = 3;
  run.evaluator.wrong = [](const EvaluationRequest& r) { return r.warm && (r.name == "node-1.cu" || r.name == "node-2.cu"); };
  const RunView view = run.RunToTheEnd();
  EXPECT_TRUE(view.nodes[1].kept && view.nodes[1].rejected);
  EXPECT_TRUE(!view.nodes[2].kept && view.nodes[2].rejected);
  EXPECT_EQ(view.best, 3);
  ASSERT_TRUE(view.final_result);
  EXPECT_EQ(view.final_result->node, 3);
  EXPECT_EQ(view.final_result->evaluation.verdict, Verdict::kOk);
}

// --- logs of other versions ---

TEST(OldLogs, VersionOneIsShownAndNotContinued) {
  ScriptedRun run("refine", Journeyman);
  RunInfo info;
  info.id = "old";
  info.task = "copy";
  ASSERT_TRUE(run.store->CreateRun(info).ok());
  const std::string seed = run.store->PutSource(kScriptedSeed).value().hex(),
                    next = run.store->PutSource(SourceWithMark("SPEED 50")).value().hex();
  const std::string toml = run.store->PutSource(run.task.toml).value().hex();
  const auto append = [&](EventKind kind, int64_t node, const nlohmann::json& payload, const std::string& evaluation = "") {
    ASSERT_TRUE(run.store->Append("old", {kind, 1.0, node, payload.dump(), evaluation, {}}).ok());
  };
  const auto judged = [&](const std::string& source) {
    EvaluationRequest request;
    request.source = source;
    return EvaluationToJson(run.evaluator.Evaluate(run.task, request, {}).value(), -1);
  };
  append(EventKind::kStarted, 0, {{"version", 1}, {"options", nlohmann::json::object()}, {"task_toml", toml}, {"oracle", toml}, {"seed", seed}});
  append(EventKind::kChoice, -1, {{"action", "evaluate"}, {"node", 0}, {"incumbent", -1}});
  append(EventKind::kEvaluation, 0, {{"incumbent", -1}}, judged(kScriptedSeed));
  append(EventKind::kChoice, -1, {{"action", "ask"}, {"parent", 0}, {"role", "coder"}});
  append(EventKind::kRequest, -1, {{"number", 0}, {"parent", 0}, {"messages", {{{"role", "user"}, {"text", seed}}}}});
  append(EventKind::kReply, -1, {{"number", 0}, {"text", next}, {"finish", "stop"}});
  append(EventKind::kProposal, 1, {{"request", 0}, {"parent", 0}, {"origin", "reply"}, {"idea", "halve"}, {"idea_key", "halve"}, {"source", next}});
  append(EventKind::kEvaluation, 1, {{"incumbent", 0}}, judged(SourceWithMark("SPEED 50")));
  const RunView view = LoadRun(*run.store, "old").value();
  EXPECT_EQ(view.best, 1);
  EXPECT_NEAR(*view.nodes[1].speedup, 2, 1e-9);
  EXPECT_EQ(view.attempts, 1);
  const Status status = run.Continue("old").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("older Hone"));
}

TEST(OldLogs, ANewerLogIsRefused) {
  ScriptedRun run("refine", Journeyman);
  RunInfo info;
  info.id = "new";
  ASSERT_TRUE(run.store->CreateRun(info).ok());
  ASSERT_TRUE(run.store->Append("new", {EventKind::kStarted, 1.0, 0, "{\"version\": 99}", "", {}}).ok());
  EXPECT_THAT(LoadRun(*run.store, "new").status().message(), HasSubstr("newer Hone"));
}

// --- a reply's cost, and the failures before it ---

// Makes the reply to request 8 one of the second attempt, and of unknown cost.
void SecondTry(const ModelRequest& request, ModelReply& reply) {
  if (request.number != 8) return;
  reply.cost_usd = 0;
  reply.cost_known = false;
  reply.notes = {"the endpoint said 429; waited 2 s"};
}
void ExpectSecondTry(const RunView& view, const char* where) {
  EXPECT_EQ(view.unpriced_replies, 1) << where;
  EXPECT_EQ(view.replies, 3) << where;
  EXPECT_DOUBLE_EQ(view.cost_usd, 1.0) << where;
  ASSERT_EQ(view.remarks.size(), 1u) << where;
  EXPECT_EQ(view.remarks[0].text, "the endpoint said 429; waited 2 s") << where;
  EXPECT_EQ(view.remarks[0].request, 8) << where;
  EXPECT_EQ(view.remarks[0].node, 1) << where;
}

TEST(Spending, UnknownCostsAndNotesSurviveAResumeAnExportAndAReplay) {
  ScriptedRun run("sample", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 90 - r.number));
  });
  run.options.max_attempts = 3;
  run.mind.on_reply = SecondTry;
  run.mind.on_ask = [&](const ModelRequest& r) {
    if (r.number == 16) run.stop.request_stop();
  };
  run.Start();
  EXPECT_EQ(run.Continue().value().ended, "interrupted");
  run.mind.on_ask = nullptr;
  run.stop = std::stop_source();
  ExpectSecondTry(run.Continue().value(), "resumed");
  std::unique_ptr<RunStore> elsewhere = MakeMemoryRunStore();
  const std::string text = ExportRun(*run.store, "r1").value();
  ExpectSecondTry(LoadRun(*elsewhere, ImportRun(*elsewhere, text).value()).value(), "exported");
  const ReplayedRun replayed = ReplayRun(*run.store, "r1").value();
  EXPECT_EQ(replayed.difference, "");
  ExpectSecondTry(replayed.recorded, "replayed");
  EXPECT_EQ(replayed.replayed.cost_usd, 0) << "to repeat a record costs nothing";
}

TEST(Spending, ABoundInDollarsEndsTheRunAtTheFirstReplyWithoutAPrice) {
  ScriptedRun run("sample", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("SPEED {}", 90 - r.number));
  });
  run.options.max_attempts = 8;
  run.options.max_cost_usd = 100;
  run.mind.on_reply = SecondTry;
  const RunView view = run.RunToTheEnd();
  EXPECT_EQ(view.ended, "cost_unknown");
  EXPECT_EQ(view.attempts, 1);
}

}  // namespace
}  // namespace hone
