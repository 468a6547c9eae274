// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running statistics of a step of several virtual shards: the mean over the shards, each taken from the step's start.
//
// Every shard's forward pass updates the model's buffers as if it were alone, as data-parallel training would on as
// many processes. What each made of them is handed out, to be summed over all shards wherever they ran; the mean comes
// back.
#pragma once

#include <span>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

class ShardStatistics {
 public:
  // The buffers among `parameters`, which are borrowed.
  explicit ShardStatistics(const std::vector<Parameter<float>*>& parameters);

  size_t size() const { return size_; }  // values in all buffers
  void BeginStep();                      // remembers the buffers
  // values [size()] is what the shard made of them; puts the remembered ones back.
  void EndShard(std::span<double> values);
  // sums [size()] over `shards` shards; leaves the mean in the buffers.
  void EndStep(std::span<const double> sums, int shards);

 private:
  std::vector<Parameter<float>*> buffers_;
  std::vector<std::vector<float>> before_;
  size_t size_ = 0;
};

}  // namespace hone::gnn
