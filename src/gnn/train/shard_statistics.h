// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running statistics of a step of several virtual shards: the mean over the shards, each taken from the step's start.
//
// Every shard's forward pass updates the model's buffers as if it were alone. Data-parallel training would do that on
// as many processes and average; here one process does the shards one after the other and comes to the same.
#pragma once

#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

class ShardStatistics {
 public:
  // The buffers among `parameters`, which are borrowed.
  explicit ShardStatistics(const std::vector<Parameter<float>*>& parameters);

  void BeginStep();          // remembers the buffers
  void EndShard();           // takes what the shard made of them, and puts the remembered ones back
  void EndStep(int shards);  // leaves the mean in the buffers

 private:
  std::vector<Parameter<float>*> buffers_;
  std::vector<std::vector<float>> before_;
  std::vector<std::vector<double>> sums_;
};

}  // namespace hone::gnn
