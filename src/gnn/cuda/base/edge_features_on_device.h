// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the struct through which a kernel sees the features of a graph's edges.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// The features of all edges of a graph in device memory: row e belongs to the edge in GraphOnDevice::columns[e]. The
// pointer does not own the memory.
struct EdgeFeaturesOnDevice {
  const void* rows = nullptr;  // null: the graph has none
  Element element = Element::kFloat32;
  int64_t stride = 0;   // from one row to the next, in elements
  int32_t columns = 0;  // numbers per edge
};

}  // namespace hone::gnn::cuda
