// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// EnqueueSampleAggregate (aggregate_kernels.h) for a step that computes beside it: the same sums with the same bits.
//
// It runs beside a chain of kernels most of which are small, and a kernel of many blocks keeps those out until its last
// block has begun. So it takes some of the multiprocessors whole, for as long as it needs, and leaves the others. For
// features on the device and sums in bf16; for all else it is EnqueueSampleAggregate.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/aggregate_kernels.h"

namespace hone::gnn::cuda {

cudaError_t EnqueueSampleAggregateBeside(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                         int32_t rows, const SampleAggregate& aggregate, const RunState* state,
                                         const BatchHeader* header, const int32_t* nodes, Element out_element,
                                         cudaStream_t stream);

}  // namespace hone::gnn::cuda
