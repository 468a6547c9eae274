// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/module_incumbent.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/model/sim_model.h"

namespace hone {
namespace {

// A module of two operators: a product of 2e9 operations, and two calls that move 16 MB each.
class TwoOperators : public HostReference {
 public:
  Status Compute(const Dims&, const Fill&, const Take&, std::string_view) override { return Status::Internal("not asked"); }
  std::string Name() const override { return "two operators"; }
  Result<std::vector<OperatorWork>> Operators(const Dims& dims) override {
    if (dims.at("n") == 13) return Status::InvalidArgument("the module does not run with 13");
    return std::vector<OperatorWork>{{"addmm", 1, 1e6, 2e9}, {"relu", 2, 32e6, 0}};
  }
};

CaseResult TimedCase(int64_t n) {
  CaseResult result;
  result.dims = {{"n", n}};
  return result;
}

TEST(ModuleIncumbent, TheModelledTimeIsThatOfEachOperatorsCallsByThemselves) {
  TwoOperators module;
  const sim::GpuModel gpu = *sim::FindGpuModel("");
  const double expected = sim::ModelOperator(gpu, 1e6, 2e9) + 2 * sim::ModelOperator(gpu, 16e6, 0);
  EXPECT_NEAR(*ModelledModuleUs(module, {{"n", 1}}, "sim"), 1e6 * expected, 1e-6);
  // By hand: the product is bound by its operations, at three quarters of the GPU's rate; each call has a launch.
  EXPECT_NEAR(sim::ModelOperator(gpu, 1e6, 2e9), gpu.launch_seconds + 2e9 / (0.75 * gpu.facts.fp32_flops), 1e-12);
  EXPECT_GT(*ModelledModuleUs(module, {{"n", 1}}, "sim:a100"), 1e6 * expected) << "a slower GPU";
}

TEST(ModuleIncumbent, ACandidatesSpeedupIsOverTheModule) {
  TwoOperators module;
  Task task;
  TorchOptions torch;
  torch.facts.id = "sim";
  Evaluation evaluation;
  evaluation.cases = {TimedCase(1), TimedCase(2)};
  evaluation.cases[1].role = CaseRole::kCheck;
  evaluation.cases[0].time_us = Interval{10, 8, 20};
  ASSERT_TRUE(TimeAgainstModule(task, torch, &module, &evaluation).ok());
  const double us = *ModelledModuleUs(module, {{"n", 1}}, "sim");
  const CaseResult& timed = evaluation.cases[0];
  EXPECT_EQ(timed.baseline_us, us);
  ASSERT_TRUE(timed.speedup);
  EXPECT_DOUBLE_EQ(timed.speedup->median, us / 10);
  EXPECT_DOUBLE_EQ(timed.speedup->low, us / 20);
  EXPECT_DOUBLE_EQ(timed.speedup->high, us / 8);
  EXPECT_DOUBLE_EQ(*evaluation.geomean_speedup, us / 10);
  EXPECT_FALSE(evaluation.cases[1].time_us) << "only timed cases are";
}

TEST(ModuleIncumbent, TheModulesOwnEvaluationHasItsTimesAndNoSpeedup) {
  TwoOperators module;
  Task task;
  TorchOptions torch;
  torch.facts.id = "sim";
  Evaluation evaluation;
  evaluation.cases = {TimedCase(1)};
  ASSERT_TRUE(TimeAgainstModule(task, torch, &module, &evaluation).ok());
  EXPECT_EQ(evaluation.cases[0].time_us->median, *ModelledModuleUs(module, {{"n", 1}}, "sim"));
  EXPECT_FALSE(evaluation.cases[0].speedup);
  EXPECT_FALSE(evaluation.geomean_speedup);
}

TEST(ModuleIncumbent, AModuleWithoutATimeIsAnErrorThatSaysWhy) {
  TwoOperators module;
  Task task;
  TorchOptions torch;
  torch.facts.id = "sim";
  Evaluation evaluation;
  evaluation.cases = {TimedCase(13)};
  const Status status = TimeAgainstModule(task, torch, &module, &evaluation);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the module does not run with 13");
}

}  // namespace
}  // namespace hone
