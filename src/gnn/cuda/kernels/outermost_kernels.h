// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the outermost hop for up to kNarrowFanout neighbors. EnqueueSampleAggregate (aggregate_kernels.h) uses this
// kernel, and EnqueueSampleMean (sample_mean.h) for rows in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/aggregate_kernels.h"

namespace hone::gnn::cuda {

enum class SumOrder {
  kShared,  // lanes that a row leaves idle share its sum: lane group g adds slots g, g + groups, …
  kApart,   // idle lanes sum other rows that the warp has drawn; each row is summed in slot order
};

// Does the work of EnqueueSampleAggregate, for fanouts up to kNarrowFanout.
cudaError_t EnqueueOutermostHop(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                                const SampleAggregate& aggregate, SumOrder order, const RunState* state,
                                const BatchHeader* header, const int32_t* nodes, Element out_element,
                                cudaStream_t stream);

}  // namespace hone::gnn::cuda
