// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how long a verdict takes: all gates, five random correctness trials, up to 100 checked timed launches per
// side, on the task's own shapes. Reports wall and device time for new and for cached sources, and how many verdicts
// per hour a device gives when compiles overlap.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "benchmarks/arguments.h"
#include "benchmarks/benchmark_common.h"

namespace hone {
namespace {

using nlohmann::json;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Work {
  std::string task;
  std::vector<size_t> cases;
};

// Parses "relu:1" or "matmul_f32:1,4" or "silu_and_mul" (all its time cases).
Work ParseWork(const std::string& text) {
  Work work;
  const size_t colon = text.find(':');
  work.task = text.substr(0, colon);
  if (colon != std::string::npos) {
    std::stringstream list(text.substr(colon + 1));
    for (std::string number; std::getline(list, number, ',');) work.cases.push_back(std::stoul(number));
  }
  return work;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  std::string device = "auto", output, cache = "/tmp/hone-benchmark-cache";
  std::vector<std::string> works;
  int repeats = 7, parallel = 0;
  double throughput_seconds = 15;
  uint64_t nonce = 1;
  bool no_sim = false;
  Arguments app("Measures how long verdicts take.");
  app.Add("work", works, "TASK or TASK:CASE,CASE", {.required = true});
  app.Add("--device", device);
  app.Add("--repeats", repeats, "verdicts of each kind");
  app.Add("--parallel", parallel, "also measure throughput with as many evaluations in flight");
  app.Add("--throughput-seconds", throughput_seconds, "no evaluation starts later than this in that part");
  app.Add("--cache", cache);
  app.Add("--no-sim", no_sim, "without small cases on the simulated GPU");
  app.Add("--nonce", nonce, "makes the sources of this run new");
  app.Add("--output", output, "JSON file; default: standard output");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  const auto run = [&]() -> Result<json> {
    const double cold_start = Now();
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator,
                          MakeBenchmarkEvaluator(device, cache, /*use_cache=*/true));
    json report = {{"environment", EnvironmentJson(evaluator->facts())}, {"repeats", repeats}, {"simulate", !no_sim}, {"works", json::array()}};
    bool first = true;
    for (const std::string& text : works) {
      const Work work = ParseWork(text);
      HONE_ASSIGN_OR_RETURN(Task task, LoadNamedTask(work.task));
      EvaluationRequest request;
      request.name = "seed.cu";
      request.only_time_cases = work.cases;
      request.simulate = !no_sim;
      json entry = {{"task", work.task}, {"cases", work.cases}};
      const auto judge = [&](const std::string& source, double* wall) -> Result<Evaluation> {
        request.source = source;
        const double started = Now();
        Result<Evaluation> evaluation = evaluator->Evaluate(task, request);
        *wall = Now() - started;
        return evaluation;
      };
      double wall = 0;
      HONE_ASSIGN_OR_RETURN(Evaluation warm_up, judge(NewSource(task.seed_source, nonce++), &wall));
      // This time includes the start of the worker and of the compilers, and one verdict.
      if (first) report["one_shot_seconds"] = Now() - cold_start;
      first = false;
      if (warm_up.verdict != Verdict::kOk) return Status::Internal(work.task + ": " + warm_up.detail);
      std::vector<double> new_wall, new_device, cached_wall, cached_device;
      json stages;
      for (int i = 0; i < repeats; ++i) {
        const std::string source = NewSource(task.seed_source, nonce++);
        HONE_ASSIGN_OR_RETURN(Evaluation fresh, judge(source, &wall));
        new_wall.push_back(wall);
        new_device.push_back(fresh.device_seconds);
        stages = json::object();
        for (const Stage& stage : fresh.stages) stages[stage.name] = stage.seconds;
        HONE_ASSIGN_OR_RETURN(Evaluation again, judge(source, &wall));
        cached_wall.push_back(wall);
        cached_device.push_back(again.device_seconds);
      }
      entry["new_source_wall_seconds"] = SpreadJson(new_wall);
      entry["new_source_device_seconds"] = SpreadJson(new_device);
      entry["cached_wall_seconds"] = SpreadJson(cached_wall);
      entry["cached_device_seconds"] = SpreadJson(cached_device);
      entry["last_stages"] = stages;
      if (parallel > 0) {
        std::atomic<int> left{parallel * 10}, judged{0};
        std::atomic<uint64_t> next{nonce};
        const double started = Now();
        std::vector<std::thread> threads;
        for (int t = 0; t < parallel; ++t) {
          threads.emplace_back([&] {
            EvaluationRequest mine = request;
            while (Now() < started + throughput_seconds && left-- > 0) {
              mine.source = NewSource(task.seed_source, next++);
              Result<Evaluation> evaluation = evaluator->Evaluate(task, mine);
              if (evaluation.ok() && evaluation->verdict == Verdict::kOk) ++judged;
            }
          });
        }
        for (std::thread& thread : threads) thread.join();
        nonce = next;
        const double seconds = Now() - started;  // until the last evaluation has ended
        entry["throughput"] = {{"in_flight", parallel}, {"judged", judged.load()}, {"seconds", seconds},
                               {"per_hour", judged.load() * 3600.0 / seconds}};
      }
      report["works"].push_back(entry);
      fmt::print(stderr, "{}\n", entry.dump());
    }
    return report;
  };
  Result<json> report = run();
  if (!report.ok()) {
    fmt::print(stderr, "verdict_latency: {}\n", report.status().message());
    return 3;
  }
  if (output.empty()) {
    fmt::print("{}\n", report->dump(1));
  } else {
    std::ofstream(output) << report->dump(1) << "\n";
  }
  return 0;
}
