// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/shard_statistics.h"

namespace hone::gnn {

ShardStatistics::ShardStatistics(const std::vector<Parameter<float>*>& parameters) {
  for (Parameter<float>* parameter : parameters) {
    if (!parameter->trainable()) buffers_.push_back(parameter);
  }
  before_.resize(buffers_.size());
  sums_.resize(buffers_.size());
}

void ShardStatistics::BeginStep() {
  for (size_t b = 0; b < buffers_.size(); ++b) {
    before_[b] = buffers_[b]->value;
    sums_[b].assign(before_[b].size(), 0.0);
  }
}

void ShardStatistics::EndShard() {
  for (size_t b = 0; b < buffers_.size(); ++b) {
    for (size_t i = 0; i < sums_[b].size(); ++i) sums_[b][i] += static_cast<double>(buffers_[b]->value[i]);
    buffers_[b]->value = before_[b];
  }
}

void ShardStatistics::EndStep(int shards) {
  for (size_t b = 0; b < buffers_.size(); ++b) {
    for (size_t i = 0; i < sums_[b].size(); ++i) buffers_[b]->value[i] = static_cast<float>(sums_[b][i] / shards);
  }
}

}  // namespace hone::gnn
