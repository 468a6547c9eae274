// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feature rows of a synthetic graph, made on the device wherever they are wanted: the bytes that the host would make.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/graph/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// The shape of the rows; `rows` is null.
FeatureView FeaturesOf(const SyntheticRequest& request);

class FeatureGenerator {
 public:
  explicit FeatureGenerator(const SyntheticRequest& request) : request_(request) {}

  // Rows first … end - 1 to memory of the device, or that it may write, at `to`. Enqueues on the default stream; this must
  // outlive the work.
  Status Enqueue(int64_t first, int64_t end, unsigned char* to);
  // Its share of all rows into `host`, which has been allocated and has room for them, until they may be read. Waits for the
  // device. Collective where the host's ranks share the memory.
  Status FillHost(HostRows& host);

 private:
  Status FillShare(int64_t first, int64_t end, HostRows& host);
  const SyntheticRequest& request_;
  DeviceArray<uint32_t> centroids_;
};

}  // namespace hone::gnn::cuda
