// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the outermost hop: EnqueueSampleAggregate (aggregate_kernels.h) and, for rows in device memory,
// EnqueueSampleMean (sample_mean.h), up to kNarrowFanout neighbors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/kernels/aggregate_kernels.h"

namespace hone::gnn::cuda {

enum class SumOrder {
  kShared,  // lanes that a row leaves idle take part in its sum: lane group g adds slots g, g + groups, …
  kApart,   // idle lanes sum other rows that the warp has drawn for; each row in slot order
};

// Works like EnqueueSampleAggregate, for fanouts up to kNarrowFanout.
cudaError_t EnqueueOutermostHop(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                                const SampleAggregate& aggregate, SumOrder order, const RunState* state,
                                const BatchHeader* header, const int32_t* nodes, Element out_element,
                                cudaStream_t stream);

}  // namespace hone::gnn::cuda
