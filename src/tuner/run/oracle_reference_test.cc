// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests runs of a task without a seed: its oracle becomes the starting kernel, and every strategy first has a version
// written.
#include "tuner/run/oracle_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/run/log/strategy_summary.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/run_task.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kOracle[] = R"cu(// A copy, in double.
/*hone
[[launch]]
kernel = "copy_slowly"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
args   = ["x", "ref:out", "rows * d:i64"]
*/
__global__ void copy_slowly(const float* x, double* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
)cu";

// Returns a task with an oracle and without a seed.
Task SeedlessTask() {
  Task task = ScriptedTask();
  task.seed_source.clear();
  task.oracle_source = kOracle;
  return task;
}

// Returns a task whose answer is that of a PyTorch module, which takes 200 us.
Task ModuleTask() {
  Task task = ParseTask(std::string(kScriptedTaskToml) +
                            "[reference]\nkind = \"torch\"\nclass = \"Model\"\nmode = \"train\"\ninputs = [\"x\"]\noutputs = [\"out\"]\n",
                        "task.toml")
                  .value();
  task.oracle_source = "class Model(torch.nn.Module):  # SPEED 200\n    pass\n";
  return task;
}

TEST(OracleReference, WritesDoublesToAWorkspaceAndRoundsThemOnce) {
  const Task task = SeedlessTask();
  const Result<std::string> reference = ReferenceFromOracle(task);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  EXPECT_THAT(*reference, Not(HasSubstr("ref:")));
  const Candidate candidate = ParseCandidate(*reference, "reference.cu", task).value();
  ASSERT_EQ(candidate.plan.workspaces.size(), 1u);
  EXPECT_EQ(candidate.plan.workspaces[0].name, "hone_ref_out");
  ASSERT_EQ(candidate.plan.entries.size(), 2u);
  EXPECT_EQ(candidate.plan.entries[0].kernel, "copy_slowly");
  EXPECT_EQ(candidate.plan.entries[0].args[1].kind, ArgumentKind::kWorkspace);
  EXPECT_EQ(candidate.plan.entries[1].kernel, "store_result_out");
  EXPECT_GT(candidate.plan.entries[1].step, candidate.plan.entries[0].step);
  EXPECT_THAT(*reference, HasSubstr("out[i] = static_cast<float>(value);"));
}

TEST(OracleReference, PacksTwoDoublesIntoAByte) {
  Task task = SeedlessTask();
  for (TensorSpec& tensor : task.tensors) {
    if (tensor.role != TensorRole::kIn) tensor.dtype = DType::kFloat4Pair;
  }
  const Result<std::string> reference = ReferenceFromOracle(task);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  EXPECT_THAT(*reference, HasSubstr("* 16\"")) << "a workspace of two doubles for each byte";
  EXPECT_THAT(*reference, HasSubstr("const double value = result[2 * i], second = result[2 * i + 1];"));
  EXPECT_THAT(*reference, HasSubstr("out[i] = __nv_fp4x2_e2m1(make_float2(static_cast<float>(value), static_cast<float>(second)));"));
  EXPECT_THAT(*reference, HasSubstr("#include <cuda_fp4.h>"));
}

TEST(OracleReference, SaysWhatToDoWhenTheOracleIsNone) {
  Task task = SeedlessTask();
  task.oracle_source = "nothing\n";
  const Status status = ReferenceFromOracle(task).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("task copy has no seed.cu"));
  EXPECT_THAT(status.message(), HasSubstr("--seed-kernel"));
}

TEST(WithoutASeed, EveryStrategyButSampleFirstWritesAKernelFromTheOracle) {
  for (const std::string& name : StrategyNames()) {
    if (name == "agent") continue;  // an agent chooses for itself; tests/end_to_end/agent_test.cc tests it
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role != "coder") return Journeyman(r);
      const std::string& text = r.messages[0].text;
      const bool first = text.find("You write the first version") != std::string::npos || text.find("You design a CUDA kernel") != std::string::npos;
      if (!first) return Journeyman(r);
      return FileReply("a first version", fmt::format("SPEED {}", 60 + r.number));
    });
    run.task = SeedlessTask();
    run.options.max_attempts = 6;
    const RunView view = run.RunToTheEnd();
    EXPECT_TRUE(view.from_oracle) << name;
    ASSERT_GE(view.nodes.size(), 2u) << name;
    EXPECT_EQ(view.nodes[0].evaluation->candidate, "reference.cu");
    ASSERT_TRUE(view.final_result.has_value()) << name;
    if (name != "sample") {
      EXPECT_EQ(view.nodes[1].purpose, "generate") << name;
      EXPECT_EQ(view.nodes[1].idea, "a first version") << name;
      const std::string& prompt = run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text;
      EXPECT_THAT(prompt, HasSubstr("copy_slowly")) << name;
      for (size_t i = 2; i < view.nodes.size(); ++i) EXPECT_NE(view.nodes[i].purpose, "generate") << name << " " << i;
    }
    // A resumed or replayed run has the same task, without a seed.
    EXPECT_TRUE(LoadRunTask(*run.store, view).value().seed_source.empty());
    const ReplayedRun replayed = ReplayRun(*run.store, "r1").value();
    EXPECT_EQ(replayed.difference, "") << name;
    EXPECT_TRUE(OutcomeOf(view).from_oracle);
  }
}

TEST(WithoutASeed, ARunOfAModuleStartsFromTheModuleInEagerMode) {
  for (const std::string& name : StrategyNames()) {
    if (name == "agent") continue;
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role != "coder") return Journeyman(r);
      return FileReply("a version", "SPEED 50");
    });
    run.task = ModuleTask();
    run.options.max_attempts = 3;
    const RunView view = run.RunToTheEnd();
    EXPECT_TRUE(view.from_module) << name;
    EXPECT_EQ(view.nodes[0].evaluation->candidate, "reference.py");
    EXPECT_EQ(view.nodes[0].evaluation->cases.at(0).time_us->median, 200) << name;
    ASSERT_GT(view.best, 0) << name;
    EXPECT_EQ(view.node(view.best).speedup, 4) << name << ": 200 us of the module over 50";
    ASSERT_TRUE(view.final_result) << name;
    EXPECT_EQ(view.final_result->evaluation.geomean_speedup, 4) << name;
    const std::string& prompt = run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text;
    if (name != "sample") {
      EXPECT_EQ(view.nodes[1].purpose, "generate") << name;
      EXPECT_THAT(prompt, HasSubstr("```python\nclass Model(torch.nn.Module):")) << name;
      EXPECT_THAT(prompt, Not(HasSubstr("Its `ref:` arguments are doubles"))) << name;
    }
    EXPECT_TRUE(LoadRunTask(*run.store, view).value().seed_source.empty());
    EXPECT_EQ(ReplayRun(*run.store, "r1").value().difference, "") << name;
  }
}

TEST(WithoutASeed, ARunGoesOnFromVersionsWhileTheModuleIsFaster) {
  for (const std::string& name : StrategyNames()) {
    if (name == "agent" || name == "sample") continue;  // a sample is always asked for from the start
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role != "coder") return Journeyman(r);
      return FileReply("a version", fmt::format("{} SPEED {}", r.number, 500 - r.number));  // each is a little faster than the one before, and slower than the module
    });
    run.task = ModuleTask();
    run.options.max_attempts = 4;
    const RunView view = run.RunToTheEnd();
    EXPECT_EQ(view.best, 0) << name;
    bool right = false;
    for (const RunNode& node : view.nodes) {
      if (right) {
        EXPECT_GT(node.parent, 0) << name << " node " << node.id << " would change a module in Python";
      }
      right = right || (node.id > 0 && node.evaluation && node.evaluation->verdict == Verdict::kOk);
    }
    EXPECT_TRUE(right) << name;
  }
}

TEST(WithoutASeed, AFirstVersionThatFailsIsWrittenAgainOrRepaired) {
  for (const std::string& name : StrategyNames()) {
    if (name == "sample" || name == "agent") continue;
    ScriptedRun run(name, [](const ModelRequest& r) -> Result<std::string> {
      if (r.role != "coder") return Journeyman(r);
      return FileReply(fmt::format("try {}", r.number), fmt::format("{} SPEED {}", r.number < 20 ? "SCRIPT_WRONG" : "", 70 - r.number));
    });
    run.task = SeedlessTask();
    run.options.max_attempts = 8;
    const RunView view = run.RunToTheEnd();
    for (const RunNode& node : view.nodes) {
      if (node.id == 0) continue;
      if (node.evaluation && node.evaluation->verdict == Verdict::kOk) break;
      EXPECT_TRUE(node.purpose == "generate" || node.purpose == "debug") << name << " " << node.id << " " << node.purpose;
    }
    EXPECT_GT(view.best, 0) << name;
  }
}

TEST(WithoutASeed, TheTableSaysWhatSpeedupsAreOver) {
  RunOutcome o;
  o.task = "copy";
  o.strategy = "refine";
  o.success = o.paired = true;
  EXPECT_THAT(OutcomesTable({o}), Not(HasSubstr("oracle")));
  o.from_oracle = true;
  EXPECT_THAT(OutcomesTable({o}), HasSubstr("Without a seed (copy): speedups are over the oracle"));
  RunOutcome from_module = o;
  from_module.task = "level1_41";
  from_module.from_module = true;
  const std::string both = OutcomesTable({o, from_module});
  EXPECT_THAT(both, HasSubstr("Without a seed (copy): speedups are over the oracle"));
  EXPECT_THAT(both, HasSubstr("Without a seed (level1_41): speedups are over the PyTorch module in eager mode"));
}

}  // namespace
}  // namespace hone
