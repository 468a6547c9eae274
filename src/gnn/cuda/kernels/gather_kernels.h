// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The inner layers' aggregation over a sampled hop, forward and backward, with activation and dropout on the fly.
//
// A layer keeps its pre-activation Z only. Whoever reads a row applies ReLU and the dropout mask as it loads, which
// saves writing and reading every activation once more. The mask is a bit an element, drawn ahead of the step's chain.
// All functions enqueue on `stream`; T is float or bf16 (`element`); widths are multiples of 8.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/base/rows_on_device.h"

namespace hone::gnn::cuda {

// kept [rows, width / 8]: bit i of a byte: dropout keeps element i of the eight. Of the header's hop_nodes[number] nodes,
// at most `rows`; threshold not 0.
cudaError_t EnqueueKeptBits(int number, int32_t rows, int32_t width, const ActivationOnLoad& activation,
                            const RunState* state, const BatchHeader* header, const int32_t* nodes, uint8_t* kept,
                            cudaStream_t stream);

// out [hop.rows, 2 * width]: row i = [mean over its slots of f(z[column]) | f(z[i])], f = scale * relu(·) where kept.
//   z      [hop.sources, width]. Rows past the batch's size are left as they are.
//   kept   [hop.sources, width / 8] as above; null: everything
//   passed [hop.sources, width / 8] likewise: which elements passed both ReLU and mask. Written for every source of the
//          batch; null: not wanted
// Sums in slot order; of the hop next to the seeds, whose few rows are shared out to four warps each, four sums of
// every fourth slot.
cudaError_t EnqueueGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                              float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                              cudaStream_t stream);

// Gradient of the above: grad_z [padded_sources, width] = f'(z) * (what the slots of a source passed on + its own
// part), f' read from `passed`, which is a thirty-second of z. Sums in slot order. Rows at or past the batch's sources
// become zero, up to `padded_sources`.
//   grad_out [hop.rows, 2 * width]
cudaError_t EnqueueGatherMeanBackward(const HopOnDevice& hop, int number, Element element, const void* grad_out,
                                      const uint8_t* passed, int32_t width, int32_t padded_sources, float scale,
                                      const BatchHeader* header, void* grad_z, cudaStream_t stream);

}  // namespace hone::gnn::cuda
