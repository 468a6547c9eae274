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
  double best_accuracy = std::numeric_limits<double>::quiet_NaN();
  int best_epoch = -1;
  int worse_validations = 0;  // in a row
  bool ended_early = false;
};

// The sums of the epoch so far as a report has them. Loss and accuracy are NaN where no seed had a label.
void ReportSums(const RunPosition& position, EpochReport& report);

// Whether a validation follows this epoch: every eval_every-th has one, and the last.
bool ValidationIsDue(const RunPosition& position, const TrainOptions& options);

// Takes the counts of this epoch's validation: its accuracy (NaN: no node had a label), and whether it is the best.
// Equal to the best so far is not better.
void ReportValidation(const RunPosition& position, double labelled, double correct, EpochReport& report);

// On to the beginning of the next epoch. `report`: this one's, its validation taken.
void FinishEpoch(const TrainOptions& options, const EpochReport& report, RunPosition& position);

}  // namespace hone::gnn
