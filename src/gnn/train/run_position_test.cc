// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/run_position.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone::gnn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Where a run stands after epochs with these validation accuracies (kNone: no validation).
RunPosition After(const std::vector<double>& accuracies, const TrainOptions& options) {
  RunPosition position;
  for (const double accuracy : accuracies) {
    EpochReport report;
    report.valid_accuracy = kNone;
    if (!std::isnan(accuracy)) ReportValidation(position, 100, 100 * accuracy, report);
    FinishEpoch(options, report, position);
  }
  return position;
}

TEST(RunPosition, ABetterValidationStartsPatienceAnew) {
  const TrainOptions patient{.early_stop = 2};
  EXPECT_FALSE(After({0.5, 0.4, 0.6, 0.5}, patient).ended_early);
  EXPECT_EQ(After({0.5, 0.4, 0.6, 0.5}, patient).worse_validations, 1);
  EXPECT_TRUE(After({0.5, 0.4, 0.6, 0.5, 0.6}, patient).ended_early) << "as good as the best is not better";
  EXPECT_TRUE(After({0.5, 0.4, 0.4}, patient).ended_early);
  EXPECT_FALSE(After({0.5, 0.4, 0.3, 0.2}, {.early_stop = 0}).ended_early);
}

TEST(RunPosition, EpochsWithoutAValidationAreNeitherBetterNorWorse) {
  const RunPosition position = After({kNone, 0.5, kNone, kNone, 0.7, kNone, 0.6}, {.early_stop = 2});
  EXPECT_EQ(position.epoch, 7);
  EXPECT_EQ(position.best_epoch, 4);
  EXPECT_DOUBLE_EQ(position.best_accuracy, 0.7);
  EXPECT_EQ(position.worse_validations, 1);
  EXPECT_FALSE(position.ended_early);
  // One in which no node had a label is none.
  EpochReport report;
  ReportValidation(position, 0, 0, report);
  EXPECT_TRUE(std::isnan(report.valid_accuracy));
  EXPECT_FALSE(report.best);
}

TEST(RunPosition, ANewEpochBeginsWithNothing) {
  RunPosition position{.epoch = 2, .step = 9, .loss_sum = 3, .weight_sum = 2, .labelled = 4, .correct = 1,
                       .sampled_nodes = 50, .sampled_edges = 60};
  position.plateau.bad_steps = 5;
  EpochReport report;
  ReportSums(position, report);
  EXPECT_EQ(report.loss, 1.5);
  EXPECT_EQ(report.train_accuracy, 0.25);
  EXPECT_EQ(report.sampled_nodes, 50);
  EXPECT_EQ(report.sampled_edges, 60);
  report.valid_accuracy = kNone;
  FinishEpoch({}, report, position);
  EXPECT_EQ(position.epoch, 3);
  EXPECT_EQ(position.step, 0);
  EXPECT_EQ(position.plateau.bad_steps, 5) << "the rule for the learning rate counts steps, not epochs";
  ReportSums(position, report);
  EXPECT_TRUE(std::isnan(report.loss));
  EXPECT_TRUE(std::isnan(report.train_accuracy));
  EXPECT_EQ(report.sampled_nodes, 0);
  EXPECT_EQ(report.sampled_edges, 0);
}

TEST(RunPosition, TheLastEpochIsAlwaysValidated) {
  const auto due = [](int eval_every) {
    std::vector<int> epochs;
    for (int epoch = 0; epoch < 8; ++epoch) {
      if (ValidationIsDue({.epoch = epoch}, {.epochs = 8, .eval_every = eval_every})) epochs.push_back(epoch);
    }
    return epochs;
  };
  EXPECT_EQ(due(3), (std::vector<int>{2, 5, 7}));
  EXPECT_EQ(due(4), (std::vector<int>{3, 7}));
  EXPECT_EQ(due(100), std::vector<int>{7});
  EXPECT_TRUE(due(0).empty());
}

}  // namespace
}  // namespace hone::gnn
