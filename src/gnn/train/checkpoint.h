// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores, as one safetensors file, everything that a run needs to continue to the bit. docs/formats/checkpoint.md
// describes the bytes. Nothing in the file depends on the machine or the clock: an interrupted and an uninterrupted run
// end with equal files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gnn/infer/state_dict.h"
#include "gnn/train/run_position.h"
#include "hone/gnn/optimizer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// The contents of a checkpoint besides its tensors.
struct CheckpointHeader {
  ModelOptions model;
  TrainOptions train;
  std::string graph_fingerprint;
  RunPosition position;
  double learning_rate = 0;     // at `position`
  int64_t optimizer_steps = 0;  // updates made so far
};

TensorFile MakeCheckpoint(const CheckpointHeader& header, Model<float>& model, Adam<float>& optimizer);

// Reads the header. kInvalidArgument: not a checkpoint of Hone, or of another version.
Result<CheckpointHeader> ReadCheckpointHeader(const TensorFile& file, std::string_view what);
// Restores weights, moments, step count and learning rate. On an error model and optimizer may be partly changed.
Status RestoreCheckpoint(const TensorFile& file, std::string_view what, const CheckpointHeader& header,
                         Model<float>& model, Adam<float>& optimizer);

// Reads a checkpoint, or initial weights, on rank 0 alone, and broadcasts it to every rank. Collective.
Result<TensorFile> ReadFromRank0(const std::string& path, const RunOptions& run);

// Return paths in a run's folder: of the latest checkpoint, and of the one with the best validation.
std::string LastCheckpoint(const std::string& folder);
std::string BestCheckpoint(const std::string& folder);
// Returns `path` if it is a file; if it is a folder, its LastCheckpoint.
std::string CheckpointFile(const std::string& path);

// Changes what a resumed run may change: the number of epochs, and the base learning rate of the schedule; 0 keeps the
// old value.
void ChangeOnResume(int epochs, double learning_rate, CheckpointHeader& header);

// Checks that every trainer makes. Errors are kInvalidArgument; `what` names the checkpoint.
//   CheckFingerprint  refuses a graph whose fingerprint `found` differs from the run's graph
//   CheckStep         refuses a step beyond the end of an epoch of `steps`
//   CheckShards       refuses shards that cannot be divided evenly among the ranks of `run`
//   CheckMetric       refuses a metric that the ranks of `run` cannot compute
Status CheckFingerprint(const CheckpointHeader& header, std::string_view what, const Graph& graph,
                        const std::string& found);
Status CheckStep(const RunPosition& position, std::string_view what, int64_t steps);
Status CheckShards(int shards, const RunOptions& run);
Status CheckMetric(Metric metric, const RunOptions& run);

// Returns kInvalidArgument because `what` ("loss", "gradient norm") became `value`, which is not finite, in the step
// after `position`. The message says what to try.
Status NotANumber(std::string_view what, double value, const RunPosition& position, double learning_rate,
                  const RunOptions& run);

// Returns the result of a run that ended at `position`, stopped or not.
TrainResult ResultOf(const RunPosition& position, bool stopped, const RunOptions& run);

// Returns `loss`, the status about a lost rank, with the place where the state was saved, or why it was not (`saved`).
Status SavedAfterLoss(const Status& loss, const Status& saved, const RunPosition& position, const RunOptions& run);

// Removes files left in `folder` by runs that were killed while saving. No other process may be saving there.
void RemoveLeftovers(const std::string& folder);

}  // namespace hone::gnn
