// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates for any fanout, and by maximum. The kernels of aggregate_kernels.h and gather_kernels.h hold a row's slots
// in the lanes of a warp, up to kNarrowFanout; these kernels take one group of 32 slots after another. Sums run in slot
// order. Shapes and arguments are those of these two files.
//
// The maximum is taken over the neighbors' rows after their mask, element by element; among equals the first slot wins.
// A row without neighbors gets 0. The gradient goes to the slot that won. All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/kernels/aggregate_kernels.h"

namespace hone::gnn::cuda {

// Does the work of EnqueueGatherMean, for any fanout.
cudaError_t EnqueueWideGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                                  float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                                  cudaStream_t stream);

// Does the work of EnqueueAggregate, for any fanout.
cudaError_t EnqueueWideAggregate(const AggregateKind& kind, const HopOnDevice& hop, int number, Element element,
                                 const AggregateInput& input, int32_t width, const RunState* state,
                                 const BatchHeader* header, const int32_t* nodes, void* out, cudaStream_t stream);

// Does the work of EnqueueSampleAggregate for any fanout. If `by_maximum`, `kind` is ignored and the result is out
// [rows, 2 * 8 * feature_vectors] = [maximum | own row].
cudaError_t EnqueueWideSampleAggregate(const GraphOnDevice& graph, Element feature_element, int hop, int fanout,
                                       int32_t rows, const SampleAggregate& aggregate, bool by_maximum,
                                       const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                       Element out_element, cudaStream_t stream);

// Writes out [hop.rows, 2 * width] = [maximum | own row].
//   winners [hop.rows, width] the slot that won, -1 if the row has none; null: not written
cudaError_t EnqueueMaximum(const HopOnDevice& hop, int number, Element element, const AggregateInput& input, int32_t width,
                           const RunState* state, const BatchHeader* header, const int32_t* nodes, void* out,
                           int32_t* winners, cudaStream_t stream);

// Computes the gradient of EnqueueMaximum, as EnqueueAggregateBackward does; grad_out is [hop.rows, 2 * width].
cudaError_t EnqueueMaximumBackward(const HopOnDevice& hop, int number, Element element, const AggregateInput& input,
                                   int32_t width, int32_t padded_sources, const int32_t* winners, const void* grad_out,
                                   const RunState* state, const BatchHeader* header, const int32_t* nodes, void* grad_z,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
