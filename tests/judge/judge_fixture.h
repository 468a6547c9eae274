// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides small tasks, and a bench on which the judge judges kernels that are C++ lambdas on a fake device.
//
// A test states what its candidate does differently. Everything else is an honest, ordinary kernel.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/device/fake/fake_session.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {

inline void PrintTo(Verdict verdict, std::ostream* out) { *out << VerdictName(verdict); }

// Computes out[r][c] = x[r][c] * w[c] in float32; rows are the slices.
inline constexpr std::string_view kScaleTask = R"(
name = "scale"
summary = "every row of x times w"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
cols = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "cols"]
values = { distribution = "normal", scale = 1.0 }
[[tensor]]
name = "w"
role = "in"
dtype = "float32"
shape = ["cols"]
values = { distribution = "normal", scale = 1.0, offset = 2.0 }
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "cols"]
[tolerance.out]
c_max = 1e-6
c_rms = 3e-7
[work]
flops = "rows * cols"
[[case]]
role = "time"
dims = { rows = 96, cols = 16 }
[[case]]
role = "check"
dims = { rows = 3, cols = 5 }
[[case]]
role = "check"
dims = { rows = 40, cols = 33 }
[[case]]
role = "check"
dims = { rows = 0, cols = 8 }
[[hidden]]
count = 2
rows = { low = 1, high = 60 }
cols = { low = 1, high = 40 }
[[hand]]
dims = { rows = 1, cols = 2 }
inputs.x = [1.0, 2.0]
inputs.w = [3.0, 4.0]
outputs.out = [3.0, 8.0]
)";

// Computes sum[r][c] += x[r][c] in place.
inline constexpr std::string_view kAddTask = R"(
name = "add"
summary = "sum += x, in place"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
cols = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "cols"]
values = { distribution = "normal", scale = 1.0 }
[[tensor]]
name = "sum"
role = "inout"
dtype = "float32"
shape = ["rows", "cols"]
values = { distribution = "normal", scale = 1.0 }
[tolerance.sum]
c_max = 1e-6
c_rms = 3e-7
[[case]]
role = "time"
dims = { rows = 64, cols = 16 }
[[case]]
role = "check"
dims = { rows = 3, cols = 5 }
[[hidden]]
count = 1
rows = { low = 1, high = 60 }
cols = { low = 1, high = 40 }
[[hand]]
dims = { rows = 1, cols = 1 }
inputs.x = [1.0]
inputs.sum = [2.0]
outputs.sum = [3.0]
)";

// Returns the text of a candidate whose plan launches `kernel` once; `more` is added to the plan.
inline std::string PlanText(const std::string& kernel, const std::string& args, const std::string& more = "") {
  return "/*hone\n[[launch]]\nkernel = \"" + kernel + "\"\ngrid = [\"1\"]\nblock = [\"1\"]\nargs = [" + args + "]\n" + more + "*/\n";
}

inline void ScaleRows(FakeLaunch& launch, int64_t begin, int64_t end) {
  const int64_t cols = launch.Extent("x", 1);
  for (int64_t i = begin * cols; i < end * cols; ++i) {
    launch.Write("out", i, launch.Read("x", i) * launch.Read("w", i % cols));
  }
}
inline void Scale(FakeLaunch& launch) { ScaleRows(launch, 0, launch.Extent("x", 0)); }
inline void ScaleOracle(FakeLaunch& launch) {
  const int64_t cols = launch.Extent("x", 1);
  for (int64_t i = 0; i < launch.Elements("x"); ++i) {
    launch.Write("ref:out", i, launch.Read("x", i) * launch.Read("w", i % cols));
  }
}

inline std::function<double(const FakeTiming&)> Costs(double microseconds) {
  return [microseconds](const FakeTiming&) { return microseconds; };
}

// Prepares one judgement: a test changes the members that it is about, and calls Run().
class JudgeBench {
 public:
  explicit JudgeBench(std::string_view toml = kScaleTask) {
    Result<Task> parsed = ParseTask(toml, "task.toml");
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    if (parsed.ok()) task = *parsed;
    if (task.name == "scale") {
      device.kernels["candidate"] = device.kernels["incumbent"] = device.kernels["seed"] = {.run = Scale};
      device.kernels["oracle"] = {.run = ScaleOracle};
      args = R"("x", "w", "out", "rows * cols:i64")";
      oracle_args = R"("x", "w", "ref:out")";
    } else {
      device.kernels["candidate"] = device.kernels["incumbent"] = {.run = [](FakeLaunch& launch) {
        for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("sum", i, launch.Read("sum", i) + launch.Read("x", i));
      }};
      device.kernels["oracle"] = {.run = [](FakeLaunch& launch) {
        for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("ref:sum", i, launch.Read("sum", i) + launch.Read("x", i));
      }};
      args = R"("x", "sum")";
      oracle_args = R"("x", "sum", "ref:sum")";
    }
    // The device has ordinary noise: 1 % from sample to sample.
    device.log_noise = [random = std::make_shared<std::mt19937_64>(kNoiseSeed)] {
      return 0.01 * std::normal_distribution<double>()(*random);
    };
  }

  FakeKernel& candidate() { return device.kernels["candidate"]; }
  FakeKernel& incumbent() { return device.kernels["incumbent"]; }
  FakeKernel& oracle() { return device.kernels["oracle"]; }

  Result<Evaluation> Try() {
    HONE_ASSIGN_OR_RETURN(CompiledProgram mine, Compile(PlanText("candidate", args, plan_more), false));
    HONE_ASSIGN_OR_RETURN(CompiledProgram theirs, Compile(PlanText("incumbent", args, incumbent_more), false));
    HONE_ASSIGN_OR_RETURN(CompiledProgram seed, Compile(PlanText("seed", args), false));
    HONE_ASSIGN_OR_RETURN(CompiledProgram trusted, Compile(PlanText("oracle", oracle_args), true));
    session = make_session ? make_session(device) : std::make_unique<FakeSession>(device);
    JudgeRequest request{.task = &task, .candidate = &mine, .oracle = &trusted,
                         .incumbent = has_incumbent ? &theirs : nullptr, .fallback = has_fallback ? &seed : nullptr,
                         .options = options,
                         // The budget is large, because the fake device's kernels cost host time that is not the
                         // subject of these tests.
                         .timing_budget_seconds = 600, .vast_alone = vast_elements > 0, .gates = gates};
    if (vast_elements > 0) request.vast_elements = vast_elements;
    return Judge(*session, request, {});
  }
  // Calls `use` with a judgement whose programs are loaded and in which no gate has run yet.
  void WithJudgement(const std::function<void(Judgement&)>& use) {
    Result<CompiledProgram> mine = Compile(PlanText("candidate", args, plan_more), false);
    Result<CompiledProgram> trusted = Compile(PlanText("oracle", oracle_args), true);
    ASSERT_TRUE(mine.ok() && trusted.ok()) << mine.status().message() << trusted.status().message();
    session = std::make_unique<FakeSession>(device);
    const JudgeRequest request{.task = &task, .candidate = &*mine, .oracle = &*trusted, .options = options, .gates = gates};
    const JudgeProgress nobody;
    Judgement judgement(*session, request, nobody);
    ASSERT_TRUE(LoadPrograms(judgement).ok());
    use(judgement);
  }
  Evaluation Run() {
    Result<Evaluation> evaluation = Try();
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    return evaluation.ok() ? std::move(*evaluation) : Evaluation{};
  }

  Task task;
  FakeDevice device;
  std::string args, oracle_args, plan_more, incumbent_more;
  bool has_incumbent = true;
  bool has_fallback = false;  // true: the task's seed serves the cases that the candidate's plan leaves out
  EvaluationRequest options = [] {
    EvaluationRequest request;
    request.seed = 0x60d5eed;
    return request;
  }();
  GateSwitches gates;
  int64_t vast_elements = 0;  // not 0: the judge only checks a shape in which a tensor has more elements than this
  std::unique_ptr<FakeSession> session;
  std::function<std::unique_ptr<FakeSession>(const FakeDevice&)> make_session;  // makes the device of a test that has
                                                                                // its own; empty: FakeSession

 private:
  static constexpr uint64_t kNoiseSeed = 20260119;

  Result<CompiledProgram> Compile(const std::string& source, bool is_oracle) {
    CompiledProgram program;
    HONE_ASSIGN_OR_RETURN(program.candidate, ParseCandidate(source, is_oracle ? "oracle.cu" : "candidate.cu", task, is_oracle));
    program.binding = DefaultBinding(program.candidate.plan);
    return program;
  }
};

// Returns the first timed case; null if there is none.
inline const CaseResult* Timed(const Evaluation& evaluation) {
  for (const CaseResult& result : evaluation.cases) {
    if (result.role == CaseRole::kTime) return &result;
  }
  return nullptr;
}

}  // namespace hone
