// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/run_position.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::gnn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

namespace {

bool IsBest(const TrainOptions& options, const RunPosition& position, const EpochReport& report) {
  const double metric = MetricOf(options, report), best = position.best_accuracy;
  if (std::isnan(metric) || std::isnan(best)) return !std::isnan(metric);
  return SmallerIsBetter(options.metric) ? metric < best : metric > best;
}

}  // namespace

void ReportSums(const RunPosition& position, EpochReport& report) {
  report.loss = position.weight_sum > 0 ? position.loss_sum / position.weight_sum : kNaN;
  report.train_accuracy =
      position.labelled > 0 ? static_cast<double>(position.correct) / static_cast<double>(position.labelled) : kNaN;
  report.sampled_nodes = position.sampled_nodes;
  report.sampled_edges = position.sampled_edges;
}

bool ValidationIsDue(const RunPosition& position, const TrainOptions& options) {
  if (options.eval_every == 0) return false;
  const int done = position.epoch + 1;
  return done == options.epochs || done % options.eval_every == 0;
}

void ReportNoValidation(EpochReport& report) {
  report.valid_accuracy = report.valid_macro_f1 = report.valid_auc = kNaN;
  report.valid_micro_f1 = report.valid_average_precision = report.valid_rmse = report.valid_mae = kNaN;
  report.best = false;
}

void ReportValidation(const TrainOptions& options, const RunPosition& position, const ClassCounts& counts, double auc,
                      EpochReport& report) {
  report.valid_accuracy = AccuracyOf(counts);
  report.valid_macro_f1 = MacroF1(counts);
  report.valid_auc = auc;
  report.best = IsBest(options, position, report);
}

void ReportValidation(const TrainOptions& options, const RunPosition& position, const TargetScores& scores,
                      EpochReport& report) {
  report.valid_accuracy = scores.accuracy;
  report.valid_macro_f1 = scores.macro_f1;
  report.valid_auc = scores.auc;
  report.valid_micro_f1 = scores.micro_f1;
  report.valid_average_precision = scores.average_precision;
  report.valid_rmse = scores.rmse;
  report.valid_mae = scores.mae;
  report.best = IsBest(options, position, report);
}

double MetricOf(const TrainOptions& options, const EpochReport& report) {
  switch (options.metric) {
    case Metric::kMacroF1:
      return report.valid_macro_f1;
    case Metric::kRocAuc:
      return report.valid_auc;
    case Metric::kMicroF1:
      return report.valid_micro_f1;
    case Metric::kAveragePrecision:
      return report.valid_average_precision;
    case Metric::kRmse:
      return report.valid_rmse;
    case Metric::kMae:
      return report.valid_mae;
    case Metric::kAccuracy:
    case Metric::kAuto:
      break;
  }
  return report.valid_accuracy;
}

void FinishEpoch(const TrainOptions& options, const EpochReport& report, RunPosition& position) {
  if (report.best) {
    position.best_accuracy = MetricOf(options, report);
    position.best_epoch = position.epoch;
    position.worse_validations = 0;
  } else if (!std::isnan(MetricOf(options, report))) {
    ++position.worse_validations;
  }
  position.ended_early = options.early_stop > 0 && position.worse_validations >= options.early_stop;
  ++position.epoch;
  position.step = 0;
  position.loss_sum = position.weight_sum = 0;
  position.labelled = position.correct = 0;
  position.sampled_nodes = position.sampled_edges = 0;
}

double RateOfEpoch(const TrainOptions& o, const RunPosition& position, bool validated, double rate) {
  const int epoch = position.epoch;
  if (epoch < o.warmup) return o.learning_rate * (epoch + 1) / (o.warmup + 1);
  const int since = epoch - o.warmup;
  switch (o.schedule) {
    case Schedule::kCosine: {
      const int epochs = std::max(o.epochs - o.warmup, 1);
      return o.learning_rate * (1 + std::cos(std::numbers::pi * std::min(since, epochs) / epochs)) / 2;
    }
    case Schedule::kStep:
      return o.learning_rate * std::pow(o.schedule_factor, since / o.schedule_every);
    case Schedule::kValidation: {
      const bool lowers =
          validated && position.worse_validations > 0 && position.worse_validations % o.schedule_patience == 0;
      if (lowers) return rate * o.schedule_factor;
      break;
    }
    case Schedule::kConstant:
      break;
  }
  return o.warmup > 0 && since == 0 ? o.learning_rate : rate;
}

}  // namespace hone::gnn
