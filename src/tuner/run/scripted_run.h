// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides whole runs for tests, with a scripted evaluator and a model that is a function of the request.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/numbers/random.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/scripted_evaluator.h"
#include "tuner/run/start_run.h"

namespace hone {

// Returns the seed with a mark in a comment: "// SPEED 20" runs in 20 us at every shape.
inline std::string SourceWithMark(const std::string& mark) { return std::string(kScriptedSeed) + "// " + mark + "\n"; }
// Returns a coder's reply that holds the marked seed as a whole file.
inline std::string FileReply(const std::string& idea, const std::string& mark) {
  return fmt::format("IDEA: {}\nbecause.\n```cuda\n{}```\n", idea, SourceWithMark(mark));
}
// Returns the time that the last mark SPEED in the source gives, in us; 100 without one.
inline double MarkedTime(const std::string& source, const Binding&, const Dims&) {
  const size_t at = source.rfind("SPEED ");
  return at == std::string::npos ? 100.0 : std::stod(source.substr(at + 6));
}

// A model that calls a function for its answer, and records the requests.
class Mind : public ModelProvider {
 public:
  using Answer = std::function<Result<std::string>(const ModelRequest&)>;
  explicit Mind(Answer answer) : answer_(std::move(answer)) {}
  std::string Name() const override { return "mind"; }
  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink&, std::stop_token) override {
    {
      std::lock_guard lock(mutex_);
      ++asks_by_request[request.number];
      requests[request.number] = request;
    }
    if (on_ask) on_ask(request);
    if (salt != 0) {
      const uint64_t wait = Rng(salt).Split(static_cast<uint64_t>(request.number)).Below(3000);
      ::usleep(static_cast<useconds_t>(wait));
    }
    HONE_ASSIGN_OR_RETURN(std::string text, answer_(request));
    ModelReply reply;
    reply.provider = "mind";
    reply.text = std::move(text);
    reply.usage = {100, 10, false};
    reply.cost_usd = 0.5;
    if (on_reply) on_reply(request, reply);
    return reply;
  }
  std::map<int64_t, int> asks_by_request;    // request number -> how often it was asked
  std::map<int64_t, ModelRequest> requests;  // request number -> the last request of this number
  std::function<void(const ModelRequest&)> on_ask;
  std::function<void(const ModelRequest&, ModelReply&)> on_reply;  // may change the reply's tokens, cost, …
  uint64_t salt = 0;                                               // not 0: answers take random times of up to 3 ms

 private:
  std::mutex mutex_;
  Answer answer_;
};

// A run of the scripted task with one strategy, in a store in memory.
struct ScriptedRun {
  Task task = ScriptedTask();
  ScriptedEvaluator evaluator{MarkedTime};
  Evaluator* judge = &evaluator;  // another one judges if a test sets it
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  Mind mind;
  RunOptions options;
  std::stop_source stop;
  bool suspend = false;
  double clock = 1000;  // the time, seconds; each reading adds one

  ScriptedRun(const std::string& strategy, Mind::Answer answer) : mind(std::move(answer)) {
    options.strategy = strategy;
    options.model = "mind";
    options.max_attempts = 12;
  }
  void Start(const std::string& id = "r1") {
    const Result<std::string> started = StartRun(*store, task, judge->facts(), options, id, clock);
    HONE_CHECK(started.ok(), started.status().message());
  }
  Result<RunView> Continue(const std::string& id = "r1") {
    const std::unique_ptr<Strategy> strategy = std::move(MakeStrategy(options.strategy)).value();
    RunDependencies d;
    d.task = &task;
    d.evaluator = judge;
    d.store = store.get();
    d.provider = &mind;
    d.strategy = strategy.get();
    d.now = [this] { return clock += 1; };
    d.stop = stop.get_token();
    d.parallel_evaluations = 1;
    d.suspend = suspend;
    return ContinueRun(d, id);
  }
  // Runs from start to end.
  RunView RunToTheEnd() {
    Start();
    return Continue().value();
  }
};

// Returns the name of the first prompt of a node's attempt.
inline std::string PromptOf(const RunView& view, int64_t id) { return view.node(id).turns.front().prompt; }
// Returns the text of a node's first request.
inline const std::string& RequestText(ScriptedRun& run, int64_t id) {
  return run.mind.requests.at(RequestNumber(id, 0, /*repair=*/false)).messages.front().text;
}

// Returns as text everything that must be equal when a run is repeated.
inline std::string TreeText(const RunView& view) {
  std::string text = fmt::format("best {}, ended {}\n", view.best, view.ended);
  for (const RunNode& n : view.nodes) {
    text += fmt::format("{} <- {} {} {} '{}' {} {} {} {} known {} incumbent {} repaired '{}'\n", n.id, n.parent, n.origin,
                        n.purpose, n.idea, n.problem, n.source_hash.hex(),
                        n.evaluation ? VerdictName(n.evaluation->verdict) : "-", n.kept, n.known, n.incumbent, n.repaired);
  }
  return text;
}

// Answers for every role, often badly: a coder's reply is unusable once in five, wrong once in six, and does not
// compile once in nine; the others change the speed a little. The answer depends only on the request.
inline Result<std::string> Journeyman(const ModelRequest& request) {
  Rng rng = Rng(77).Split(static_cast<uint64_t>(request.number));
  const std::string idea = fmt::format("idea {}", request.number);
  if (request.role == "tester") return std::string("CASE: rows=1, d=1: one\nCASE: rows=7, d=1025: odd\n");
  if (request.role == "planner") return fmt::format("IDEA: {}\nREGION: copy\nDo it.\n", idea);
  if (request.role == "analyst") return std::string("FINDING: memory\n");
  if (request.messages[0].text.find("You do not repair it yet") != std::string::npos) return std::string("CAUSE: x\nFIX: y\n");
  if (rng.Below(5) == 0) return std::string("I would rather not.");
  std::string mark = fmt::format("n{} SPEED {:.3f}", request.number, 40 + 80 * rng.Uniform());
  if (rng.Below(6) == 0) mark += " SCRIPT_WRONG";
  if (rng.Below(9) == 0) mark += " SCRIPT_COMPILE_ERROR";
  return FileReply(idea, mark);
}

}  // namespace hone
