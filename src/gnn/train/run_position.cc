// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/run_position.h"

#include <cmath>

namespace hone::gnn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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

void ReportValidation(const RunPosition& position, double labelled, double correct, EpochReport& report) {
  report.valid_accuracy = labelled > 0 ? correct / labelled : kNaN;
  report.best = !std::isnan(report.valid_accuracy) &&
                (std::isnan(position.best_accuracy) || report.valid_accuracy > position.best_accuracy);
}

void FinishEpoch(const TrainOptions& options, const EpochReport& report, RunPosition& position) {
  if (report.best) {
    position.best_accuracy = report.valid_accuracy;
    position.best_epoch = position.epoch;
    position.worse_validations = 0;
  } else if (!std::isnan(report.valid_accuracy)) {
    ++position.worse_validations;
  }
  position.ended_early = options.early_stop > 0 && position.worse_validations >= options.early_stop;
  ++position.epoch;
  position.step = 0;
  position.loss_sum = position.weight_sum = 0;
  position.labelled = position.correct = 0;
  position.sampled_nodes = position.sampled_edges = 0;
}

}  // namespace hone::gnn
