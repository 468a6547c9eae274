// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates over a sampled hop in the inner layers, forward and backward, with activation and dropout on the fly.
//
// A layer stores only its pre-activation Z. Kernels apply ReLU and the dropout mask as they load a row, which saves
// writing and reading every activation once more. The mask has one bit per element and is drawn before the step's chain
// of kernels needs it. All functions enqueue on `stream`; T is float or bf16 (`element`); widths are multiples of 8.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"

namespace hone::gnn::cuda {

// Writes kept [rows, width / 8]: bit i of a byte is set if dropout keeps element i of the eight. The rows are the
// header's hop_nodes[number] nodes, at most `rows`; the threshold must not be 0.
cudaError_t EnqueueActivationDropoutBits(int number, int32_t rows, int32_t width, const DropoutOnLoad& activation,
                                         const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                         uint8_t* kept, cudaStream_t stream);

// Writes out [hop.rows, 2 * width]: row i = [mean over its slots of f(z[column]) | f(z[i])], where f(z) is scale *
// relu(z) for kept elements and 0 for others. Rows of `out` past the batch's size are left as they are.
//   z      [hop.sources, width]
//   kept   [hop.sources, width / 8] as above; null: everything is kept
//   passed [hop.sources, width / 8] in the same layout: which elements passed both ReLU and mask. Written for every
//   source of the batch; null: not written
// Sums run in slot order. The hop next to the seeds has few rows, so each row takes four warps: warp w sums slots w, w
// + 4, …, and the four sums are then added in order.
cudaError_t EnqueueGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                              float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                              cudaStream_t stream);

// Computes the gradient: grad_z [padded_sources, width] = f'(z) * (what the slots of a source passed on + its own
// part). f' comes from `passed`, one bit per element, so that z need not be read. Sums run in slot order. Rows from the
// batch's sources up to `padded_sources` become zero.
//   grad_out [hop.rows, 2 * width]
cudaError_t EnqueueGatherMeanBackward(const HopOnDevice& hop, int number, Element element, const void* grad_out,
                                      const uint8_t* passed, int32_t width, int32_t padded_sources, float scale,
                                      const BatchHeader* header, void* grad_z, cudaStream_t stream);

}  // namespace hone::gnn::cuda
