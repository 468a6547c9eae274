// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what the optimisation loop itself costs: milliseconds per attempt with a model and an evaluator that answer
// at once, seconds to resume a long run, and memory. Events are flushed to a SQLite store on disk, as in a real run.
// Prints one JSON document.
//
//   loop_overhead [attempts, default 1000] [strategy, default refine] [parallel, default 1]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/random.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/scripted_evaluator.h"
#include "tuner/run/start_run.h"

namespace {

using hone::ModelReply;
using hone::ModelRequest;

// Bytes of a kernel's source, which a run stores and a prompt shows: a realistic size.
constexpr size_t kKernelBytes = 6000;

double Speed(const std::string& source, const hone::Binding&, const hone::Dims&) {
  const size_t at = source.rfind("SPEED ");
  return at == std::string::npos ? 100.0 : std::strtod(source.c_str() + at + 6, nullptr);
}

class InstantModel : public hone::ModelProvider {
 public:
  std::string Name() const override { return "instant"; }
  hone::Result<ModelReply> Complete(const ModelRequest& request, const hone::ModelProgressSink&, std::stop_token) override {
    ModelReply reply;
    reply.provider = "instant";
    reply.usage = {6000, 2500, false};
    const std::string idea = fmt::format("idea {}", request.number);
    if (request.role == "planner") {
      reply.text = fmt::format("IDEA: {}\nREGION: copy\nDo it.\n", idea);
    } else if (request.role == "tester") {
      reply.text = "CASE: rows=7, d=1025: odd\n";
    } else if (request.role == "analyst") {
      reply.text = "FINDING: memory\n";
    } else {
      const double us = 60 + 80 * hone::Rng(static_cast<uint64_t>(request.number)).Uniform();
      reply.text = fmt::format("IDEA: {}\nbecause\n```cuda\n{}// {}\n// n{} SPEED {:.4f}\n```\n", idea, hone::kScriptedSeed,
                               std::string(kKernelBytes, 'x'), request.number, us);
    }
    return reply;
  }
};

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double CpuMilliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e3 * static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-3 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[std::min(values.size() - 1, static_cast<size_t>(q * static_cast<double>(values.size())))];
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t attempts = argc > 1 ? std::atoll(argv[1]) : 1000;
  const std::string strategy_name = argc > 2 ? argv[2] : "refine";
  const int64_t parallel = argc > 3 ? std::atoll(argv[3]) : 1;
  const auto fail = [](const hone::Status& status) {
    std::cerr << "loop_overhead: " << status.message() << "\n";
    return 1;
  };
  hone::Result<hone::TemporaryDirectory> directory = hone::MakeTemporaryDirectory();
  if (!directory.ok()) return fail(directory.status());
  hone::Result<std::unique_ptr<hone::Strategy>> strategy = hone::MakeStrategy(strategy_name);
  if (!strategy.ok()) return fail(strategy.status());
  const std::string path = *directory / "runs.sqlite";
  const hone::Task task = hone::ScriptedTask();
  hone::ScriptedEvaluator evaluator(Speed);
  InstantModel model;
  hone::RunOptions options;
  options.strategy = strategy_name;
  options.max_attempts = attempts;
  options.parallel = parallel;
  options.settings = {{"refine.depth", 0}, {"team.rounds", 0}, {"single.rounds", 0}};

  nlohmann::json result = {{"benchmark", "loop_overhead"}, {"attempts", attempts}, {"strategy", strategy_name}, {"parallel", parallel}};
  double clock = 0;
  {
    hone::Result<std::unique_ptr<hone::RunStore>> store = hone::OpenSqliteRunStore(path);
    if (!store.ok()) return fail(store.status());
    if (hone::Result<std::string> id = hone::StartRun(**store, task, evaluator.facts(), options, "r", 0); !id.ok()) {
      return fail(id.status());
    }
    // Measures the time from one settled attempt to the next, all of which is spent in the loop.
    struct Watch : hone::RunObserver {
      hone::Stopwatch watch;
      double last = 0;
      int64_t settled = 0;
      std::vector<double> ms;
      void OnEvent(const hone::Event&, const hone::RunView& view) override {
        if (view.settled == settled) return;
        const double now = watch.Seconds();
        ms.push_back(1e3 * (now - last) / static_cast<double>(view.settled - settled));
        last = now;
        settled = view.settled;
      }
      void OnActivity(const std::string&) override {}
    } watch;
    hone::RunDependencies d;
    d.task = &task;
    d.evaluator = &evaluator;
    d.store = store->get();
    d.provider = &model;
    d.strategy = strategy->get();
    d.observer = &watch;
    d.now = [&clock] { return clock += 0.01; };
    const hone::Stopwatch all;
    const double cpu = CpuMilliseconds();
    hone::Result<hone::RunView> view = hone::ContinueRun(d, "r");
    if (!view.ok()) return fail(view.status());
    result["cpu_ms_per_attempt"] = (CpuMilliseconds() - cpu) / static_cast<double>(view->attempts);
    result["ended"] = view->ended;
    result["nodes"] = view->nodes.size();
    result["events"] = view->events;
    result["ms_per_attempt"] = {{"mean", 1e3 * all.Seconds() / static_cast<double>(view->attempts)},
                                {"median", Quantile(watch.ms, 0.5)},
                                {"p99", Quantile(watch.ms, 0.99)},
                                {"last_tenth_median", Quantile({watch.ms.end() - static_cast<std::ptrdiff_t>(watch.ms.size() / 10), watch.ms.end()}, 0.5)}};
  }
  hone::Result<std::unique_ptr<hone::RunStore>> store = hone::OpenSqliteRunStore(path);
  if (!store.ok()) return fail(store.status());
  const hone::Stopwatch load;
  if (hone::Result<hone::RunView> view = hone::LoadRun(**store, "r"); !view.ok()) return fail(view.status());
  result["resume_seconds"] = load.Seconds();
  result["peak_memory_mb"] = PeakMegabytes();
  std::cout << result.dump(2) << "\n";
  return 0;
}
