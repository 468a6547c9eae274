// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides an evaluator for tests: a function gives a source's time, and marks in the source's text give the verdict.
// Candidates are parsed as by the real evaluator, so that an invalid launch plan is refused here too.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>

#include "hone/tuner/evaluator.h"
#include "tuner/core/task/torch_module.h"

namespace hone {

// Returns the microseconds of one launch of `source` with `binding` at `dims`.
using ScriptedTime = std::function<double(const std::string& source, const Binding& binding, const Dims& dims)>;

class ScriptedEvaluator : public Evaluator {
 public:
  explicit ScriptedEvaluator(ScriptedTime time) : time_(std::move(time)) {
    facts_.id = "sim";
    facts_.name = "a scripted device";
    facts_.modelled = true;
    facts_.sm_count = 4;
  }

  const DeviceFacts& facts() const override { return facts_; }
  Status CanInclude(std::string_view include_set) const override { return include_set == "cute" ? cute : Status::Ok(); }

  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                              const EvaluationProgress& progress) override {
    ++calls;
    if (on_evaluate) on_evaluate(task, request);
    if (progress) progress("scripted", request.name);
    if (delay_us > 0) ::usleep(static_cast<useconds_t>(delay_us));
    if (fail_after > 0 && calls >= fail_after) return Status::Unavailable("the scripted device went away");
    if (pending && pending(request)) return Status::Pending("waits in a scripted spool");
    if (pending_rounds > 0) return Status::Pending("waits in a scripted spool");
    Evaluation evaluation;
    evaluation.task = task.name;
    evaluation.candidate = request.name;
    evaluation.device = "sim a scripted device";
    evaluation.modelled = true;
    evaluation.binding = request.binding;
    evaluation.baseline = request.incumbent_name;
    if (IsOwnModule(task, request.source)) {  // the module is right, and is not compared
      evaluation.verdict = Verdict::kOk;
      for (const Case& c : task.cases) {
        if (c.role != CaseRole::kTime || !request.time) continue;
        const double us = time_(request.source, {}, c.dims);
        evaluation.cases.emplace_back().dims = c.dims;
        evaluation.cases.back().time_us = Interval{us, us, us};
      }
      return evaluation;
    }
    Result<Candidate> candidate = ParseCandidate(request.source, request.name, task);
    if (!candidate.ok()) {
      evaluation.verdict = Verdict::kParseError;
      evaluation.detail = candidate.status().message();
      return evaluation;
    }
    const auto has_mark = [&](const char* mark) { return request.source.find(mark) != std::string::npos; };
    if (has_mark("SCRIPT_COMPILE_ERROR")) {
      evaluation.verdict = Verdict::kCompileError;
      evaluation.detail = "scripted: does not compile";
      return evaluation;
    }
    if (has_mark("SCRIPT_WRONG") || (wrong && wrong(request))) {
      evaluation.verdict = Verdict::kWrongOutput;
      evaluation.detail = "scripted: wrong at [0]";
      return evaluation;
    }
    Binding binding = DefaultBinding(candidate->plan);
    for (const auto& [name, value] : request.binding) binding[name] = value;
    const std::string incumbent_text = request.incumbent_source.empty() ? task.seed_source : request.incumbent_source;
    const bool against_module = IsOwnModule(task, incumbent_text);
    Result<Candidate> incumbent = against_module ? *candidate : ParseCandidate(incumbent_text, "incumbent.cu", task);
    evaluation.verdict = Verdict::kOk;
    for (const Case& c : task.cases) {
      if (c.role != CaseRole::kTime) continue;
      const double candidate_us = At(*candidate, binding, task, c.dims);
      const double incumbent_us = against_module ? time_(incumbent_text, {}, c.dims) : At(*incumbent, DefaultBinding(incumbent->plan), task, c.dims);
      CaseResult result;
      result.dims = c.dims;
      result.time_us = Interval{candidate_us, candidate_us, candidate_us};
      result.baseline_us = incumbent_us;
      const double speedup = incumbent_us / candidate_us;
      result.speedup = Interval{speedup, speedup, speedup};
      result.floor_us = floor_us;
      result.floor_fraction = floor_us / candidate_us;
      result.timing.status = "modelled";
      evaluation.cases.push_back(result);
    }
    evaluation.geomean_speedup = GeomeanSpeedup(evaluation.cases);
    if (request.profile) {
      const size_t loads = request.source.rfind("SCRIPT_LOADS ");
      // The number after the mark; 100 kB without it.
      AddProfile(evaluation, loads == std::string::npos ? 100 : std::stod(request.source.substr(loads + 13)));
    }
    return evaluation;
  }

  // Reports the device as a real GPU; evaluations stay modelled.
  void set_modelled(bool modelled) { facts_.modelled = modelled; }
  void set_time(ScriptedTime time) { time_ = std::move(time); }

  std::function<bool(const EvaluationRequest&)> pending,
      wrong;  // which requests stay pending, and which get a wrong output
  std::function<void(const Task&, const EvaluationRequest&)> on_evaluate;  // called on the evaluating thread
  Status cute;                                                             // what CanInclude("cute") returns
  std::atomic<int> calls{0};                                               // how often Evaluate was called
  int fail_after = 0;       // from this call on the device is lost; 0: never
  int pending_rounds = 0;   // above 0: every evaluation is pending
  int delay_us = 0;         // duration of an evaluation
  double floor_us = 0.001;  // the floor of every case

 private:
  // Adds a profile with two counts, and a finding that names the candidate. `kilobytes`: bytes of loads in flight /
  // 1000.
  static void AddProfile(Evaluation& evaluation, double kilobytes) {
    const std::string location = evaluation.candidate + ":8";
    Profile profile;
    profile.source = "simulator";
    profile.modelled = true;
    for (const CaseResult& c : evaluation.cases) {
      KernelProfile kernel;
      kernel.kernel = "copy";
      kernel.duration_us = c.time_us->median;
      kernel.values["load_requests"] = 32;
      kernel.values["load_bytes_in_flight"] = kilobytes * 1e3;
      profile.cases.push_back({c.dims, {kernel}});
    }
    profile.findings = {{"uncoalesced", "scripted: reads one word of each sector", "8 sectors a request", "copy", location,
                         evaluation.cases.front().dims, 0.5}};
    evaluation.findings.push_back({"uncoalesced", "scripted: reads one word of each sector", location});
    evaluation.profile = std::move(profile);
  }

  // Returns the time at `dims`, with the binding that the first step's plan entry for this shape sets, as the real
  // evaluator resolves it.
  double At(const Candidate& candidate, Binding binding, const Task& task, const Dims& dims) const {
    Result<ResolvedPlan> plan = ResolvePlan(
        candidate, task, dims, binding, facts_,
        [](const std::string&, const std::string&, int64_t, int64_t) { return Result<int64_t>(int64_t{2}); });
    if (plan.ok() && !plan->steps.empty()) {
      const PlanEntry& entry = candidate.plan.entries[plan->steps[0].entry];
      for (const auto& [name, value] : entry.with) binding[name] = value;
    }
    return time_(candidate.source, binding, dims);
  }

  DeviceFacts facts_;
  ScriptedTime time_;
};

// The text of a task with two dimensions, one input, one output and two timed shapes. Its seed has blocks of 256 threads
// that are written as a number, not as a tunable.
inline constexpr char kScriptedTaskToml[] = R"(
name = "copy"
summary = "out = x"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
d = "width"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "d"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "d"]
[tolerance.out]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "time"
dims = { rows = 16, d = 1024 }
[[case]]
role = "time"
dims = { rows = 4096, d = 1024 }
[[case]]
role = "check"
dims = { rows = 3, d = 5 }
)";
inline constexpr char kScriptedSeed[] = R"cu(/*hone
[[launch]]
kernel = "copy"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void copy(const float* x, float* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
)cu";

inline Task ScriptedTask() {
  Task task = ParseTask(kScriptedTaskToml, "task.toml").value();
  task.seed_source = kScriptedSeed;
  task.oracle_source = "// not used by a scripted evaluator\n";
  return task;
}

}  // namespace hone
