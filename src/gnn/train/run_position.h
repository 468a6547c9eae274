// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tracks the position of a training run, and does what all trainers, on any device, do at an epoch's end: the epoch's
// sums, whether a validation is due, which validation is the best, when the run ends early.
//
// All types are plain values, usable from any thread. docs/formats/checkpoint.md lists the fields kept in a checkpoint.
#pragma once

#include <cstdint>
#include <limits>

#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// A position in a run, between two steps.
struct RunPosition {
  int epoch = 0;
  int64_t step = 0;  // completed steps of this epoch; when all are completed, its validation is next
  // Sums over this epoch so far.
  double loss_sum = 0;
  double weight_sum = 0;  // sum of the weights of the labels' classes
  int64_t labelled = 0;
  int64_t correct = 0;
  int64_t sampled_nodes = 0;
  int64_t sampled_edges = 0;
  // State of the whole run.
  PlateauState plateau;
  // The best validation by TrainOptions::metric; NaN: none yet.
  double best_accuracy = std::numeric_limits<double>::quiet_NaN();
  int best_epoch = -1;
  int worse_validations = 0;  // validations since the best one
  bool ended_early = false;
};

// Writes the sums of the epoch so far to a report. Loss and accuracy are NaN if no seed had a label.
void ReportSums(const RunPosition& position, EpochReport& report);

// Returns whether a validation follows this epoch: one follows every eval_every-th epoch, and the last.
bool ValidationIsDue(const RunPosition& position, const TrainOptions& options);

// Reports that this epoch had no validation.
void ReportNoValidation(EpochReport& report);
// Records the counts of this epoch's validation (metrics are NaN if no node had a label), and whether it is the best by
// the metric of `options`; a tie is not better. `auc`: NaN if not measured.
void ReportValidation(const TrainOptions& options, const RunPosition& position, const ClassCounts& counts, double auc,
                      EpochReport& report);
// Does the same for several labels or values a node.
void ReportValidation(const TrainOptions& options, const RunPosition& position, const TargetScores& scores,
                      EpochReport& report);
// Returns the value of the run's metric; NaN: no validation.
double MetricOf(const TrainOptions& options, const EpochReport& report);

// Moves to the beginning of the next epoch. `report`: this epoch's, with its validation.
void FinishEpoch(const TrainOptions& options, const EpochReport& report, RunPosition& position);

// Returns the learning rate of the position's epoch; `rate` is the previous epoch's. `validated`: whether the previous
// epoch had a validation; false in the first epoch.
double RateOfEpoch(const TrainOptions& options, const RunPosition& position, bool validated, double rate);

}  // namespace hone::gnn
