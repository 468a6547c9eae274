// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums the weights of the labels of a step's seeds.
#pragma once

#include <cuda_runtime_api.h>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Sets header->weight to the sum of class_weights [classes] over the labels of the whole step's seeds, other shards
// included.
cudaError_t EnqueueStepWeight(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const RunState* state,
                              const float* class_weights, BatchHeader* header, cudaStream_t stream);

}  // namespace hone::gnn::cuda
