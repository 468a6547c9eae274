// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aggregates over a sampled hop in the inner layers, forward and backward, with activation and dropout on the fly.
//
// A layer stores only its pre-activation Z. Kernels apply ReLU and the dropout mask as they load a row, which saves
// writing and reading every activation once more. The mask has one bit per element and is drawn ahead of the step's
// chain. All functions enqueue on `stream`; T is float or bf16 (`element`); widths are multiples of 8.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"

namespace hone::gnn::cuda {

// Writes kept [rows, width / 8]: bit i of a byte is set if dropout keeps element i of the eight. Covers the header's
// hop_nodes[number] nodes, at most `rows`; threshold not 0.
cudaError_t EnqueueKeptBits(int number, int32_t rows, int32_t width, const DropoutOnLoad& activation,
                            const RunState* state, const BatchHeader* header, const int32_t* nodes, uint8_t* kept,
                            cudaStream_t stream);

// Writes out [hop.rows, 2 * width]: row i = [mean over its slots of f(z[column]) | f(z[i])], f = scale * relu(·) where
// kept.
//   z      [hop.sources, width]. Rows past the batch's size are left as they are.
//   kept   [hop.sources, width / 8] as above; null: everything
//   passed [hop.sources, width / 8] likewise: which elements passed both ReLU and mask. Written for every source of the
//   batch; null: not written
// Sums run in slot order; for the hop next to the seeds, whose few rows take four warps each, four sums of every fourth
// slot.
cudaError_t EnqueueGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                              float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                              cudaStream_t stream);

// Computes the gradient: grad_z [padded_sources, width] = f'(z) * (what the slots of a source passed on + its own
// part), with f' from `passed`, which is a thirty-second of z. Sums run in slot order. Rows at or past the batch's
// sources become zero, up to `padded_sources`.
//   grad_out [hop.rows, 2 * width]
cudaError_t EnqueueGatherMeanBackward(const HopOnDevice& hop, int number, Element element, const void* grad_out,
                                      const uint8_t* passed, int32_t width, int32_t padded_sources, float scale,
                                      const BatchHeader* header, void* grad_z, cudaStream_t stream);

}  // namespace hone::gnn::cuda
