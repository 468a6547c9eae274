// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks on a real device whether the timer's decision is right as often as it promises.
//   A/A: one kernel against itself, loaded as two modules; half of the comparisons have a worker process of their
//        own. Counts the differences called, and how many 95 % intervals contain 1.
//   A/B: the same kernel, one side slowed by a known share of its time: a second step spins for a number of clock
//        cycles, and for more of them on the slower side. Counts how often the difference is found, and how often
//        with the wrong sign.
#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "benchmarks/arguments.h"
#include "benchmarks/benchmark_common.h"

namespace hone {
namespace {

using nlohmann::json;

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Returns the seed with an additional step: a single block that spins for `cycles`.
std::string WithSpin(const std::string& seed, long long cycles) {
  const size_t end = seed.find("*/", seed.find("/*hone"));
  return seed.substr(0, end) +
         fmt::format("\n[[launch]]\nstep = 1000\nkernel = \"hone_benchmark_spin\"\ngrid = [\"1\"]\nblock = [\"1\"]\n"
                     "args = [\"{}:i64\"]\n", cycles) +
         seed.substr(end) +
         "\n__global__ void hone_benchmark_spin(long long cycles) {\n"
         "  const long long start = clock64();\n  while (clock64() - start < cycles) {\n  }\n}\n";
}

struct Tally {
  int runs = 0, faster = 0, slower = 0, covered = 0, unstable = 0;
  double quads = 0;
  std::vector<double> widths, medians;
  void Add(const CaseResult& result, double truth) {
    ++runs;
    faster += result.timing.decision == "faster";
    slower += result.timing.decision == "slower";
    unstable += result.timing.status != "stable";
    quads += result.timing.quads;
    if (result.speedup) {
      covered += result.speedup->low <= truth && truth <= result.speedup->high;
      medians.push_back(result.speedup->median);
      widths.push_back(result.speedup->high / result.speedup->low - 1);
    }
  }
  json Json() const {
    return {{"runs", runs}, {"called_faster", faster}, {"called_slower", slower}, {"interval_covers_truth", covered},
            {"not_stable", unstable}, {"mean_quads", runs > 0 ? quads / runs : 0}, {"interval_width", SpreadJson(widths)}, {"speedups", medians}};
  }
};

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  std::string device = "auto", name = "relu", output, cache = "/tmp/hone-benchmark-cache";
  size_t time_case = 0;
  int same = 0, different = 0, per_worker = 25;
  double slower_by = 0.02, limit_seconds = 500;
  Arguments app("Measures the error rates of the paired timer on a device.");
  app.Add("--task", name);
  app.Add("--case", time_case, "time case, from 0");
  app.Add("--device", device);
  app.Add("--same", same, "A/A comparisons");
  app.Add("--different", different, "A/B comparisons");
  app.Add("--slower-by", slower_by, "share of its time that B is slower by");
  app.Add("--per-worker", per_worker, "comparisons of the restarted half that share a worker");
  app.Add("--limit", limit_seconds, "stop starting comparisons after as many seconds");
  app.Add("--cache", cache);
  app.Add("--output", output);
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  const double started = Now();
  const auto run = [&]() -> Result<json> {
    HONE_ASSIGN_OR_RETURN(Task task, LoadNamedTask(name));
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator,
                          MakeBenchmarkEvaluator(device, cache, /*use_cache=*/true));
    json report = {{"environment", EnvironmentJson(evaluator->facts())}, {"task", name}, {"case", time_case}};
    EvaluationRequest request;
    request.name = "b.cu";
    request.incumbent_name = "a.cu";
    request.check_cases = false;
    request.correctness_trials = 1;
    request.warm = false;
    request.only_time_cases = {time_case};
    const auto compare = [&](const std::string& a, const std::string& b) -> Result<CaseResult> {
      request.incumbent_source = a;
      request.source = b;
      request.seed = 0;
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, evaluator->Evaluate(task, request));
      if (evaluation.verdict != Verdict::kOk) return Status::Internal(evaluation.detail);
      return evaluation.cases.at(0);
    };
    HONE_ASSIGN_OR_RETURN(CaseResult alone, compare(task.seed_source, task.seed_source));
    report["dims"] = alone.dims;
    report["time_us"] = alone.time_us->median;
    Tally warm, restarted;
    for (int i = 0; i < same && Now() - started < limit_seconds; ++i) {
      const bool restart = i >= same / 2;
      if (restart && (i - same / 2) % per_worker == 0) {
        HONE_ASSIGN_OR_RETURN(evaluator, MakeBenchmarkEvaluator(device, cache, /*use_cache=*/true));
      }
      HONE_ASSIGN_OR_RETURN(CaseResult result, compare(task.seed_source, task.seed_source));
      (restart ? restarted : warm).Add(result, 1.0);
    }
    if (same > 0) report["same"] = {{"one_worker", warm.Json()}, {"restarted_workers", restarted.Json()}};
    if (different > 0) {
      // The faster side spins for a base that hides the step's own launch; the slower side spins for the base plus the
      // desired share.
      constexpr double kGhz = 1.98;
      const long long base = 2000;
      HONE_ASSIGN_OR_RETURN(CaseResult spun, compare(WithSpin(task.seed_source, base), WithSpin(task.seed_source, base)));
      const double base_us = spun.time_us->median;
      const auto more = base + static_cast<long long>(slower_by * base_us * 1000 * kGhz);
      Tally tally;
      std::vector<double> found;
      for (int i = 0; i < different && Now() - started < limit_seconds; ++i) {
        HONE_ASSIGN_OR_RETURN(CaseResult result, compare(WithSpin(task.seed_source, base), WithSpin(task.seed_source, more)));
        tally.Add(result, 1.0 / (1.0 + slower_by));
        found.push_back(result.speedup->median);
      }
      report["different"] = tally.Json();
      report["different"]["slower_by"] = slower_by;
      report["different"]["base_us"] = base_us;
      report["different"]["speedup"] = SpreadJson(found);
    }
    report["seconds"] = Now() - started;
    return report;
  };
  Result<json> report = run();
  if (!report.ok()) {
    fmt::print(stderr, "timer_calibration: {}\n", report.status().message());
    return 3;
  }
  if (output.empty()) {
    fmt::print("{}\n", report->dump(1));
  } else {
    std::ofstream(output) << report->dump(1) << "\n";
    fmt::print(stderr, "{}\n", report->dump());
  }
  return 0;
}
