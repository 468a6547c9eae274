// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the losses of multi-label classification and of regression on the device (gnn/ops/target_loss.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// The losses of Loss (hone/gnn/trainer.h) that a graph with targets has.
enum class TargetLossKind : int32_t { kBinaryCrossEntropy, kSquared, kAbsolute, kHuber };

// Computes the loss. Rows 0 … hop_nodes[0]-1 are the seeds; a row without a known target has no loss.
//   targets     [num_nodes, width] fp32, NaN where unknown
//   pos_weight  [width] factors of the loss of labels that are true, or null: all 1
//   outputs     [padded_rows, stride] fp32; columns past `width` are ignored
//   grad        [padded_rows, stride] of `element`, or null for evaluation: the derivative of the mean over the step's
//               header->weight rows of the mean over a row's known targets; zero elsewhere
//   row_loss, row_correct [padded_rows]: the inputs of EnqueueFinishStep; correct is 1 if all known labels are on the
//               right side of a probability of 1/2, 0 if not and for values, and -1 for a row without a known target
//   copied      [count of seeds, width] outputs of the seeds, at row step * batch + row; may be null
cudaError_t EnqueueTargetLoss(const float* targets, int32_t width, TargetLossKind kind, const float* pos_weight,
                              const BatchHeader* header, const int32_t* nodes, const float* outputs, int32_t stride,
                              int32_t padded_rows, int32_t batch, Element element, void* grad, float* row_loss,
                              int32_t* row_correct, float* copied, cudaStream_t stream);

}  // namespace hone::gnn::cuda
