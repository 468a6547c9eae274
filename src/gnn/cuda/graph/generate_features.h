// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generates feature rows of a synthetic graph on the device, with the bytes that the host would make.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/graph/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Returns the shape of the rows; `rows` is null.
FeatureView FeaturesOf(const SyntheticRequest& request);

class FeatureGenerator {
 public:
  explicit FeatureGenerator(const SyntheticRequest& request) : request_(request) {}

  // Writes rows first … end - 1 to `to`, in device memory or memory that the device may write. Enqueues on the default
  // stream; this object must outlive the work.
  Status Enqueue(int64_t first, int64_t end, unsigned char* to);
  // Writes this process's share of all rows into `host`, which is allocated and large enough, and makes the rows
  // readable. Waits for the device. Collective where the host's ranks share the memory.
  Status FillHost(HostRows& host);

 private:
  Status FillShare(int64_t first, int64_t end, HostRows& host);
  const SyntheticRequest& request_;
  DeviceArray<uint32_t> centroids_;
};

}  // namespace hone::gnn::cuda
