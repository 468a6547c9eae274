// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph with its features and labels in device memory.
#pragma once

#include "gnn/cuda/cuda_support.h"
#include "gnn/cuda/sample_kernels.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

class DeviceGraph {
 public:
  // Copies everything; `graph` may go. kInvalidArgument when it lacks features or labels, kResourceExhausted when
  // memory does not suffice.
  Status Upload(const Graph& graph);

  const GraphOnDevice& view() const { return view_; }
  Element feature_element() const { return feature_element_; }

 private:
  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_, labels_;
  DeviceArray<unsigned char> features_;
  GraphOnDevice view_{};
  Element feature_element_ = Element::kFloat32;
};

}  // namespace hone::gnn::cuda
