// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/shard_statistics.h"

namespace hone::gnn {

ShardStatistics::ShardStatistics(const std::vector<Parameter<float>*>& parameters) {
  for (Parameter<float>* parameter : parameters) {
    if (parameter->trainable()) continue;
    buffers_.push_back(parameter);
    size_ += parameter->value.size();
  }
  before_.resize(buffers_.size());
}

void ShardStatistics::BeginStep() {
  for (size_t b = 0; b < buffers_.size(); ++b) before_[b] = buffers_[b]->value;
}

void ShardStatistics::EndShard(std::span<double> values) {
  size_t at = 0;
  for (size_t b = 0; b < buffers_.size(); ++b) {
    for (const float value : buffers_[b]->value) values[at++] = static_cast<double>(value);
    buffers_[b]->value = before_[b];
  }
}

void ShardStatistics::EndStep(std::span<const double> sums, int shards) {
  size_t at = 0;
  for (Parameter<float>* buffer : buffers_) {
    for (float& value : buffer->value) value = static_cast<float>(sums[at++] / shards);
  }
}

}  // namespace hone::gnn
