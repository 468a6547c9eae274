// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// All that a run needs to go on to the bit, as one safetensors file. docs/formats/checkpoint.md describes the bytes.
//
// Nothing in it depends on the machine or the clock: an interrupted and an uninterrupted run end with equal files.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "gnn/infer/state_dict.h"
#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Where a run stands between two steps.
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

// What a checkpoint says besides its tensors.
struct CheckpointHeader {
  ModelOptions model;
  TrainOptions train;
  std::string graph_fingerprint;
  RunPosition position;
  double learning_rate = 0;
  int64_t optimizer_steps = 0;
};

TensorFile MakeCheckpoint(const CheckpointHeader& header, Model<float>& model, Adam<float>& optimizer);

// kInvalidArgument: not a checkpoint of ours, or of another version.
Result<CheckpointHeader> ReadCheckpointHeader(const TensorFile& file, std::string_view what);
// Weights, moments, step count and learning rate. On an error the model and the optimizer may be half changed.
Status RestoreCheckpoint(const TensorFile& file, std::string_view what, const CheckpointHeader& header,
                         Model<float>& model, Adam<float>& optimizer);

// A checkpoint, or initial weights, as every rank of a run gets it: rank 0 alone reads the file.
Result<TensorFile> ReadFromRank0(const std::string& path, const RunOptions& run);

// The file for a path that may be a folder: FOLDER/last.safetensors.
std::string CheckpointFile(const std::string& path);

// Clears away what runs that were killed while they saved have left in `folder`. Nobody else may be saving there.
void RemoveLeftovers(const std::string& folder);

}  // namespace hone::gnn
