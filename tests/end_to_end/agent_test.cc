// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests runs whose model is a coding agent: a scripted one (tests/fakes/scripted_agent.py), which reaches the judge
// through real pipes and the real `hone mcp`. Most runs are on a scripted device, which costs nothing; one is on the
// simulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/model/agent/agent_channel.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
const std::string kProgram = HONE_BINARY_DIR "/bin/hone";

// A run of a scripted agent that follows `steps`.
class AgentRun {
 public:
  explicit AgentRun(const std::string& steps, int64_t attempts = 4, int retries = 0) {
    options.strategy = "agent";
    options.model = "agent:scripted";
    options.max_attempts = attempts;
    options.request_limit_seconds = 60;
    provider_options_.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + scratch_.path(),
                                     "HONE_STATE=" + scratch_.path(), "MY_API_KEY=hunter2hunter2"};
    provider_options_.agents_folder = scratch_ / "agents";
    provider_options_.program = kProgram;
    provider_options_.roles = {"agent"};
    provider_options_.max_retries = retries;
    Script(steps);
  }
  void Script(const std::string& steps) {
    Command("exec python3 " HONE_SOURCE_DIR "/tests/fakes/scripted_agent.py " + steps);
  }
  void Command(const std::string& command) { provider_ = MakeProvider("agent:" + command, provider_options_).value(); }
  RunView Go() {
    if (!store->FindRun("r1").ok()) {
      const Result<std::string> started = StartRun(*store, task, evaluator.facts(), options, "r1", 1000);
      EXPECT_TRUE(started.ok()) << started.status().message();
    }
    const std::unique_ptr<Strategy> strategy = std::move(MakeStrategy("agent")).value();
    RunDependencies d;
    d.task = &task;
    d.evaluator = &evaluator;
    d.store = store.get();
    d.provider = provider_.get();
    d.strategy = strategy.get();
    d.now = [this] { return clock_ += 1; };
    d.stop = stop.get_token();
    d.parallel_evaluations = 1;
    return ContinueRun(d, "r1").value();
  }
  std::string File(const std::string& name) const {
    const Result<std::string> text = ReadFile(scratch_ / "agents/r1/" + name);
    return text.ok() ? *text : "(" + text.status().message() + ")";
  }

  RunOptions options;
  Task task = ScriptedTask();
  ScriptedEvaluator evaluator{MarkedTime};
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  std::stop_source stop;

 private:
  TemporaryDirectory scratch_ = MakeTemporaryDirectory().value();
  ProviderOptions provider_options_;
  std::unique_ptr<ModelProvider> provider_;
  double clock_ = 1000;
};

std::vector<std::string> Verdicts(const RunView& view) {
  std::vector<std::string> verdicts;
  for (const RunNode& n : view.nodes) {
    if (n.origin == "reply")
      verdicts.push_back(n.evaluation ? std::string(VerdictName(n.evaluation->verdict)) : n.problem);
  }
  return verdicts;
}

TEST(Agent, EachVersionItHandsInIsANodeAndTheBudgetHolds) {
  AgentRun run("note speed:50 wrong slowly:25 refused", 3);
  const RunView view = run.Go();
  EXPECT_EQ(view.ended, "attempts_spent");
  EXPECT_THAT(Verdicts(view), ElementsAre("ok", "wrong_output", "ok"));
  EXPECT_EQ(view.node(1).idea, "run in 50 us");
  EXPECT_EQ(view.best, 3);
  EXPECT_NEAR(view.node(3).speedup.value_or(0), 4, 1e-9);
  ASSERT_TRUE(view.final_result);
  // Beyond the budget nothing is judged, and the agent gets an error that says so.
  EXPECT_THAT(run.File("refused.txt"), HasSubstr("budget of 3 verdicts is spent"));
  EXPECT_EQ(view.attempts, 3);
  // The agent found these files, and the verdicts came back one by one.
  EXPECT_THAT(run.File("seen.txt"), HasSubstr("You make a CUDA kernel faster"));
  EXPECT_THAT(run.File("seen.txt"),
              HasSubstr("mcp.json reference.cc seed.cu seen.txt started.txt task.toml verdicts versions"));
  EXPECT_THAT(run.File("verdicts/0016.md"), HasSubstr("run in 50 us: 2.000x of the start"));
  EXPECT_THAT(run.File("verdicts/0024.md"), HasSubstr("scripted: wrong at [0]"));
  EXPECT_THAT(run.File("versions/0024.cu"), HasSubstr("// SPEED 25"));
  EXPECT_THAT(run.File("agent.log"), HasSubstr("run in 50 us: judged, 2 of 3 left"));
  // The recorded run is repeated without the agent.
  const Result<ReplayedRun> again = ReplayRun(*run.store, "r1");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->difference, "");
}

TEST(Agent, WhatCannotBeReadIsToldOnceAndCostsNothing) {
  AgentRun run("unreadable speed:50 garbage speed:20", 2);
  const RunView view = run.Go();
  EXPECT_THAT(Verdicts(view), ElementsAre("ok", "ok"));
  EXPECT_EQ(view.node(1).repaired, "plan_rejected");
  EXPECT_THAT(run.File("agent.log"), HasSubstr("leave the plan out: unusable, 2 of 2 left"));
  EXPECT_THAT(run.File("agent.log"), HasSubstr("this is no question"));
  EXPECT_THAT(run.File("agent.log"), HasSubstr("there is no question 'rm -rf'"));
  EXPECT_THAT(run.File("agent.log"), HasSubstr("'source' is empty"));
  EXPECT_EQ(view.best, 2);
}

TEST(Agent, OneThatEndsByItselfEndsTheRunInOrder) {
  AgentRun run("speed:50", 9);
  const RunView view = run.Go();
  EXPECT_EQ(view.ended, "no_more_ideas");
  EXPECT_EQ(view.best, 1);
  EXPECT_TRUE(view.final_result);
  EXPECT_THAT(view.nodes.back().detail, HasSubstr("ended by itself"));
}

TEST(Agent, OneThatDiesIsStartedAgainInItsFolderAndGoesOn) {
  AgentRun run("speed:50 clutter once:die note speed:40 speed:30", 3, 1);
  // The second start hands in speed:50 again, character for character. This is reported once and costs nothing, and the
  // next version takes its place.
  const RunView view = run.Go();
  EXPECT_EQ(view.ended, "attempts_spent");
  EXPECT_THAT(Verdicts(view), ElementsAre("ok", "ok", "ok"));
  EXPECT_EQ(view.node(2).repaired, "repeated_source");
  ASSERT_EQ(view.remarks.size(), 1u);
  EXPECT_THAT(view.remarks[0].text, HasSubstr("signal 9"));
  EXPECT_THAT(run.File("seen.txt"), HasSubstr("half.cu"));  // the agent's own half-written file is still there
}

TEST(Agent, OneThatFailsForGoodLeavesARunThatGoesOnLater) {
  AgentRun run("speed:50 clutter fail");
  EXPECT_EQ(run.Go().ended, "provider_failed");
  EXPECT_THAT(run.Go().provider_failure, HasSubstr("scripted: I fail")) << "and again, when it is asked again";
  // The README that the agent emptied is restored for the next one, and the earlier verdict is there.
  run.Script("note speed:20");
  const RunView view = run.Go();
  EXPECT_EQ(view.ended, "no_more_ideas");
  EXPECT_EQ(view.best, 2);
  EXPECT_THAT(run.File("seen.txt"), HasSubstr("You make a CUDA kernel faster"));
  EXPECT_THAT(run.File("seen.txt"), HasSubstr("0008.md 0016.md"));
}

TEST(Agent, WithoutASeedItWritesAFirstVersionToo) {
  AgentRun run("wrong speed:50", 2);
  run.task = ParseTask(kScriptedTaskToml, "task.toml").value();
  run.task.oracle_source = R"cu(// A copy, in double.
/*hone
[[launch]]
kernel = "copy_slowly"
grid   = ["ceil_div(rows * d, 64)"]
block  = ["64"]
args   = ["x", "ref:out", "rows * d:i64"]
*/
__global__ void copy_slowly(const float* x, double* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
)cu";
  const RunView view = run.Go();
  EXPECT_TRUE(view.from_oracle);
  EXPECT_EQ(view.node(1).purpose, "generate");
  EXPECT_EQ(view.node(2).purpose, "generate") << "the first was wrong";
  EXPECT_EQ(view.best, 2);
  EXPECT_THAT(run.File("seed.cu"), HasSubstr("copy_slowly"));
}

TEST(Agent, ACommandThatIsNotThereIsSaidAtOnce) {
  AgentRun run("", 3, 6);
  ProviderOptions options;
  options.agents_folder = "/nonexistent";
  options.program = kProgram;
  options.roles = {"coder"};
  EXPECT_THAT(MakeProvider("agent:x", options).status().message(), HasSubstr("--strategy agent"));
  options.roles = {"coder", "agent"};
  EXPECT_TRUE(MakeProvider("agent=agent:x\nbuiltin", options).ok());
  EXPECT_THAT(MakeProvider("coder=agent:x\nbuiltin", options).status().message(),
              HasSubstr("answers for no other role"));
  run.Command("exec no-such-agent-anywhere");
  const Stopwatch watch;
  const RunView view = run.Go();
  EXPECT_EQ(view.ended, "provider_failed");
  EXPECT_LT(watch.Seconds(), 20) << "not tried again";
}

TEST(Agent, OneThatIsSilentIsKilledAtTheLimitAndTheRunGoesOnLater) {
  AgentRun run("speed:50 hang");
  run.options.request_limit_seconds = 3;
  EXPECT_EQ(run.Go().ended, "provider_failed");
  run.Script("speed:20");
  const RunView view = run.Go();
  EXPECT_EQ(view.best, 2);
  EXPECT_THAT(Verdicts(view), ElementsAre("ok", "ok", "no_more_ideas"));
}

TEST(Agent, AStopKillsItAndTheRunGoesOnLater) {
  AgentRun run("speed:50 hang");
  run.evaluator.on_evaluate = [&](const Task&, const EvaluationRequest& request) {
    if (request.source.find("SPEED 50") != std::string::npos) run.stop.request_stop();
  };
  EXPECT_EQ(run.Go().ended, "interrupted");
  run.evaluator.on_evaluate = nullptr;
  run.stop = std::stop_source();
  run.Script("speed:20");
  EXPECT_EQ(run.Go().best, 2);
}

TEST(AgentChannel, ARunThatIsOverIsSaidToBeOver) {
  std::string path;
  {
    const std::unique_ptr<AgentChannel> channel = std::move(AgentChannel::Open([](const nlohmann::json& q) {
                                                    return nlohmann::json{{"said", q.value("op", "")}};
                                                  })).value();
    path = channel->path();
    EXPECT_EQ(AskAgentChannel(path, {{"op", "x"}}).value().at("said"), "x");
  }
  EXPECT_THAT(AskAgentChannel(path, {{"op", "x"}}).status().message(), HasSubstr("over or was stopped"));
}

// Uses the command line, the real judge and the simulated GPU, with a seed that loads one float per thread and an agent
// that has a faster kernel.
TEST(AgentEndToEnd, FindsAFasterKernelOnTheSimulatedGpu) {
  const TemporaryDirectory scratch = MakeTemporaryDirectory().value();
  const std::string slow = scratch / "slow.cu";
  ASSERT_TRUE(WriteFileAtomically(slow, R"cu(/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 32)"]
block  = ["32"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}
)cu")
                  .ok());
  SubprocessOptions options;
  options.argv = {kProgram,
                  "optimize",
                  "relu",
                  "--device",
                  "sim",
                  "--seed-kernel",
                  slow,
                  "--attempts",
                  "1",
                  "--no-profile",
                  "--no-seed-sweep",
                  "--sweep-points",
                  "0",
                  "--floor-fraction",
                  "0",
                  "--json",
                  "--model",
                  "agent:python3 " HONE_SOURCE_DIR "/tests/fakes/scripted_agent.py file:" HONE_SOURCE_DIR
                  "/tasks/relu/seed.cu refused"};
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                         "HONE_STATE=" + scratch.path()};
  options.working_directory = HONE_SOURCE_DIR;
  options.limit_seconds = 300;
  const Result<SubprocessResult> result = RunSubprocess(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit.exit_status, 0) << result->err << result->out;
  const nlohmann::json run = nlohmann::json::parse(result->out, nullptr, false);
  EXPECT_EQ(run.value("strategy", ""), "agent");
  EXPECT_EQ(run.value("state", ""), "attempts_spent");
  EXPECT_EQ(run.at("nodes").at(1).value("idea", ""), "a version of my own");
  const std::string folder = scratch / "agents/" + run.at("run").get<std::string>();
  EXPECT_THAT(ReadFile(folder + "/agent.log").value(), HasSubstr("a version of my own: over, 0 of 1 left"));
  EXPECT_THAT(ReadFile(folder + "/refused.txt").value(), HasSubstr("budget of 1 verdicts is spent"));
}

// Compares an agent with a strategy in a campaign. Each run has one verdict, and the agent plays its own role.
TEST(AgentEndToEnd, IsComparedWithAStrategyAtEqualVerdicts) {
  const TemporaryDirectory scratch = MakeTemporaryDirectory().value();
  const std::string mine = scratch / "mine.cu", answer = scratch / "answer.md";
  const std::string seed = ReadFile(HONE_SOURCE_DIR "/tasks/relu/seed.cu").value();
  ASSERT_TRUE(WriteFileAtomically(mine, seed + "// of the agent\n").ok());
  ASSERT_TRUE(WriteFileAtomically(answer, "IDEA: of the model\n```cuda\n" + seed + "// of the model\n```\n").ok());
  SubprocessOptions options;
  options.argv = {kProgram,
                  "bench",
                  "strategies",
                  "relu",
                  "--strategies",
                  "sample,agent",
                  "--device",
                  "sim",
                  "--attempts",
                  "1",
                  "--no-profile",
                  "--no-seed-sweep",
                  "--sweep-points",
                  "0",
                  "--floor-fraction",
                  "0",
                  "--json",
                  "--model",
                  "exec:cat " + answer,
                  "--model",
                  "agent=agent:python3 " HONE_SOURCE_DIR "/tests/fakes/scripted_agent.py file:" + mine + " refused"};
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                         "HONE_STATE=" + scratch.path()};
  options.working_directory = HONE_SOURCE_DIR;
  options.limit_seconds = 300;
  const Result<SubprocessResult> result = RunSubprocess(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit.exit_status, 0) << result->err << result->out;
  const nlohmann::json runs = nlohmann::json::parse(result->out, nullptr, false).at("runs");
  ASSERT_EQ(runs.size(), 2u);
  for (const nlohmann::json& run : runs) {
    EXPECT_EQ(run.at("attempts"), 1) << run;
    EXPECT_EQ(run.at("right"), 1) << run;
    EXPECT_EQ(run.at("ended"), "attempts_spent") << run;
  }
  EXPECT_EQ(runs[1].at("strategy"), "agent");
  EXPECT_THAT(ReadFile(scratch / "agents/bench.relu.agent/refused.txt").value(),
              HasSubstr("budget of 1 verdicts is spent"));
}

}  // namespace
}  // namespace hone
