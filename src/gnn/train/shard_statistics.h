// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes running statistics of a step with several virtual shards. Each shard begins with the statistics that the
// step began with; the step's result is the mean of the shards' results.
//
// Every shard's forward pass updates the model's buffers as if it were alone, as in data-parallel training with as many
// processes. EndShard returns each shard's values, to be summed over all shards of all ranks; EndStep takes the sums.
#pragma once

#include <span>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

class ShardStatistics {
 public:
  // Uses the buffers among `parameters`, which are borrowed.
  explicit ShardStatistics(const std::vector<Parameter<float>*>& parameters);

  size_t size() const { return size_; }  // values in all buffers
  void BeginStep();                      // saves the buffers
  // Writes the shard's result to values [size()] and restores the saved buffers.
  void EndShard(std::span<double> values);
  // Leaves the mean in the buffers, from sums [size()] over `shards` shards.
  void EndStep(std::span<const double> sums, int shards);

 private:
  std::vector<Parameter<float>*> buffers_;
  std::vector<std::vector<float>> before_;  // the buffers' values at the beginning of the step
  size_t size_ = 0;
};

}  // namespace hone::gnn
