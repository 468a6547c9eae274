// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the kernel that gathers the features of a hop's edges, for operations that read them (hone/gnn/op.h).
//
// A batch does not store which of a row's neighbors its slots are: draws are a function of the batch's key and the
// node (sample/draw.h), so the kernel draws again. Sampling therefore does no more work for models that read edge
// features, and none at all for others.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/edge_features_on_device.h"

namespace hone::gnn::cuda {

// Returns the floats from one slot's row to the next in the gathered rows of `columns` features: a multiple of 4.
constexpr int32_t EdgeRowStride(int32_t columns) { return (columns + 3) / 4 * 4; }

// A hop of which the rows are gathered.
struct EdgeRowsOfHop {
  GraphOnDevice graph;  // whose positions the draws are
  EdgeFeaturesOnDevice features;
  int32_t number = 0;  // hop 0 is next to the seeds
  int32_t fanout = 0;
  int32_t most_rows = 0;
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;  // global id by local id
  // [most_rows, fanout, EdgeRowStride(features.columns)]: slot s of row i begins at (i * fanout + s) * stride. Slots
  // without an edge and the columns from features.columns on are not written.
  float* out = nullptr;
};

cudaError_t EnqueueEdgeRows(const EdgeRowsOfHop& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
