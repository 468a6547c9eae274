// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a run of training stands, and the bookkeeping at an epoch's end that every trainer shares, on whatever device it
// computes: what the epoch's sums come to, whether a validation is due, which one is the best, when the run ends early.
//
// Values only, any thread. What a checkpoint keeps of it: docs/formats/checkpoint.md.
#pragma once

#include <cstdint>
#include <limits>

#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Between two steps.
struct RunPosition {
  int epoch = 0;
  int64_t step = 0;  // steps of this epoch that are done; all of them: its validation is next
  // Of this epoch so far.
  double loss_sum = 0;
  double weight_sum = 0;
  int64_t labelled = 0;
  int64_t correct = 0;
  int64_t sampled_nodes = 0;
  int64_t sampled_edges = 0;
  // Of the run.
  PlateauState plateau;
  double best_accuracy = std::numeric_limits<double>::quiet_NaN();  // or whatever else TrainOptions::metric is
  int best_epoch = -1;
  int worse_validations = 0;  // in a row
  bool ended_early = false;
};

// The sums of the epoch so far as a report has them. Loss and accuracy are NaN where no seed had a label.
void ReportSums(const RunPosition& position, EpochReport& report);

// Whether a validation follows this epoch: every eval_every-th has one, and the last.
bool ValidationIsDue(const RunPosition& position, const TrainOptions& options);

// This epoch had no validation.
void ReportNoValidation(EpochReport& report);
// Takes what this epoch's validation counted (metrics are NaN where no node had a label), and whether it is the best by
// the metric of `options`. Equal to the best so far is not better. `auc`: NaN where nobody measured it.
void ReportValidation(const TrainOptions& options, const RunPosition& position, const ClassCounts& counts, double auc,
                      EpochReport& report);
// What the run's metric came to; NaN: no validation.
double MetricOf(const TrainOptions& options, const EpochReport& report);

// On to the beginning of the next epoch. `report`: this one's, its validation taken.
void FinishEpoch(const TrainOptions& options, const EpochReport& report, RunPosition& position);

// The learning rate of the epoch that the position stands in, after `rate`. `validated`: whether the epoch before was;
// false of the first one.
double RateOfEpoch(const TrainOptions& options, const RunPosition& position, bool validated, double rate);

}  // namespace hone::gnn
