// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// All that a run needs to go on to the bit, as one safetensors file. docs/formats/checkpoint.md describes the bytes.
//
// Nothing in it depends on the machine or the clock: an interrupted and an uninterrupted run end with equal files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gnn/infer/state_dict.h"
#include "gnn/train/run_position.h"
#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

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

// The files of a run's folder: where it stood last, and at its best validation.
std::string LastCheckpoint(const std::string& folder);
std::string BestCheckpoint(const std::string& folder);
// The file for a path that may be a folder: its LastCheckpoint.
std::string CheckpointFile(const std::string& path);

// What a resumed run may change: the number of epochs and the learning rate that its schedule stands on; 0 keeps
// either.
void ChangeOnResume(int epochs, double learning_rate, CheckpointHeader& header);

// What every trainer refuses alike; kInvalidArgument. `what` names the checkpoint.
//   CheckFingerprint  a graph whose fingerprint `found` is not that of the run's graph
//   CheckStep         a step behind the end of an epoch of `steps`
//   CheckShards       shards that cannot be dealt out evenly to the ranks of `run`
//   CheckMetric       a metric that cannot be had of `run`'s ranks
Status CheckFingerprint(const CheckpointHeader& header, std::string_view what, const Graph& graph,
                        const std::string& found);
Status CheckStep(const RunPosition& position, std::string_view what, int64_t steps);
Status CheckShards(int shards, const RunOptions& run);
Status CheckMetric(Metric metric, const RunOptions& run);

// kInvalidArgument: `what` ("loss", "gradient norm") became `value` in the step after the position's; says what to try.
Status NotANumber(std::string_view what, double value, const RunPosition& position, double learning_rate,
                  const RunOptions& run);

// What a run that ended there, asked to stop or not, tells.
TrainResult ResultOf(const RunPosition& position, bool stopped, const RunOptions& run);

// `loss` of a rank, with where the state was saved, or that it could not be (`saved`).
Status SavedAfterLoss(const Status& loss, const Status& saved, const RunPosition& position, const RunOptions& run);

// Clears away what runs that were killed while they saved have left in `folder`. Nobody else may be saving there.
void RemoveLeftovers(const std::string& folder);

}  // namespace hone::gnn
