// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/run_position.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone::gnn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Returns counts of two classes; all nodes are of class 0.
ClassCounts CountsWithRight(int64_t labelled, int64_t right) {
  ClassCounts counts(2);
  for (int64_t i = 0; i < labelled; ++i) counts.Add(0, i < right ? 0 : 1);
  return counts;
}

// Returns the position after epochs with these validation accuracies (kNone: no validation).
RunPosition PositionAfter(const std::vector<double>& accuracies, const TrainOptions& options) {
  RunPosition position;
  for (const double accuracy : accuracies) {
    EpochReport report;
    ReportNoValidation(report);
    if (!std::isnan(accuracy))
      ReportValidation(options, position, CountsWithRight(100, std::lround(100 * accuracy)), kNone, report);
    FinishEpoch(options, report, position);
  }
  return position;
}

TEST(RunPosition, ABetterValidationStartsPatienceAnew) {
  const TrainOptions patient{.early_stop = 2};
  EXPECT_FALSE(PositionAfter({0.5, 0.4, 0.6, 0.5}, patient).ended_early);
  EXPECT_EQ(PositionAfter({0.5, 0.4, 0.6, 0.5}, patient).worse_validations, 1);
  EXPECT_TRUE(PositionAfter({0.5, 0.4, 0.6, 0.5, 0.6}, patient).ended_early) << "as good as the best is not better";
  EXPECT_TRUE(PositionAfter({0.5, 0.4, 0.4}, patient).ended_early);
  EXPECT_FALSE(PositionAfter({0.5, 0.4, 0.3, 0.2}, {.early_stop = 0}).ended_early);
}

TEST(RunPosition, EpochsWithoutAValidationAreNeitherBetterNorWorse) {
  const RunPosition position = PositionAfter({kNone, 0.5, kNone, kNone, 0.7, kNone, 0.6}, {.early_stop = 2});
  EXPECT_EQ(position.epoch, 7);
  EXPECT_EQ(position.best_epoch, 4);
  EXPECT_DOUBLE_EQ(position.best_accuracy, 0.7);
  EXPECT_EQ(position.worse_validations, 1);
  EXPECT_FALSE(position.ended_early);
  // A validation in which no node had a label is not counted.
  EpochReport report;
  ReportValidation({}, position, CountsWithRight(0, 0), kNone, report);
  EXPECT_TRUE(std::isnan(report.valid_accuracy));
  EXPECT_FALSE(report.best);
}

TEST(RunPosition, TheBestEpochIsChosenByTheMetricThatWasAskedFor) {
  // The two have the same share of right predictions, in one case all in one class, in the other in both classes.
  ClassCounts one_sided(2), even(2);
  for (int i = 0; i < 8; ++i) one_sided.Add(i < 2 ? 1 : 0, 0);
  for (int i = 0; i < 8; ++i) even.Add(i < 2 ? 1 : 0, i < 3 || i == 7 ? 1 : 0);
  ASSERT_EQ(one_sided.right(), even.right());
  for (const Metric metric : {Metric::kAccuracy, Metric::kMacroF1, Metric::kRocAuc}) {
    const TrainOptions options{.metric = metric};
    RunPosition position;
    EpochReport report;
    ReportValidation(options, position, one_sided, 0.6, report);
    EXPECT_TRUE(report.best);
    FinishEpoch(options, report, position);
    ReportValidation(options, position, even, 0.5, report);
    EXPECT_EQ(report.best, metric == Metric::kMacroF1) << MetricName(metric);
    FinishEpoch(options, report, position);
    EXPECT_EQ(position.best_epoch, metric == Metric::kMacroF1 ? 1 : 0);
  }
}

TEST(RunPosition, TheLearningRateFollowsItsSchedule) {
  // Returns the rate of each epoch of a run whose validations get worse from epoch 2 on.
  const auto rates = [](TrainOptions options) {
    options.learning_rate = 8;
    RunPosition position;
    double rate = RateOfEpoch(options, position, /*validated=*/false, options.learning_rate);
    std::vector<double> losses;
    for (; position.epoch < 8; rate = RateOfEpoch(options, position, /*validated=*/true, rate)) {
      losses.push_back(rate);
      EpochReport report;
      ReportValidation(options, position, CountsWithRight(10, position.epoch < 2 ? 5 + position.epoch : 5), kNone,
                       report);
      FinishEpoch(options, report, position);
    }
    return losses;
  };
  EXPECT_EQ(rates({}), std::vector<double>(8, 8.0));
  EXPECT_EQ(rates({.warmup = 3}), (std::vector<double>{2, 4, 6, 8, 8, 8, 8, 8}));
  EXPECT_EQ(rates({.schedule = Schedule::kStep, .schedule_every = 3, .schedule_factor = 0.5}),
            (std::vector<double>{8, 8, 8, 4, 4, 4, 2, 2}));
  EXPECT_EQ(rates({.schedule = Schedule::kStep, .warmup = 1, .schedule_every = 3, .schedule_factor = 0.5}),
            (std::vector<double>{4, 8, 8, 8, 4, 4, 4, 2}));
  EXPECT_EQ(rates({.schedule = Schedule::kValidation, .schedule_factor = 0.5, .schedule_patience = 2}),
            (std::vector<double>{8, 8, 8, 8, 4, 4, 2, 2}));
  const std::vector<double> cosine = rates({.epochs = 8, .schedule = Schedule::kCosine});
  EXPECT_DOUBLE_EQ(cosine[0], 8);
  EXPECT_DOUBLE_EQ(cosine[4], 4);
  for (size_t e = 1; e < cosine.size(); ++e) EXPECT_LT(cosine[e], cosine[e - 1]);
  EXPECT_NEAR(cosine[7], 4 * (1 - std::cos(3.14159265358979 / 8)), 1e-9) << "one epoch before it would be 0";
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
  ReportNoValidation(report);
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
