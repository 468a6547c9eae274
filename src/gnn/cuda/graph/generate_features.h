// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generates feature rows of a synthetic graph on the device, with the bytes that the host would make.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Returns the dtype, width and stride of the rows; `rows` is null.
FeatureView FeaturesOf(const SyntheticRequest& request);

class FeatureGenerator {
 public:
  explicit FeatureGenerator(const SyntheticRequest& request) : request_(request) {}

  // Enqueues on the default stream the generation of rows first … end - 1 into `to`, which is memory that the device
  // may write. This object must outlive the work.
  Status Enqueue(int64_t first, int64_t end, unsigned char* to);
  // Writes this process's share of all rows into `host`, which must be allocated and large enough, and lets kernels
  // read the rows. Waits for the device. Collective if the host's ranks share the memory.
  Status FillHost(HostRows& host);

 private:
  // Generates the rows through up to 256 MiB of device memory, because the device may not write unregistered memory.
  Status FillShare(int64_t first, int64_t end, HostRows& host);
  const SyntheticRequest& request_;
  DeviceArray<uint32_t> centroids_;
};

}  // namespace hone::gnn::cuda
