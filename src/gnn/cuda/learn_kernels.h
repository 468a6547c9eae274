// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a step on the GPU: softmax cross-entropy with its gradient, Adam over all parameters at once, and the
// bookkeeping of the epoch. Enqueue on `stream`; nothing comes back to the host before the epoch's end.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/batch_layout.h"
#include "gnn/cuda/sample_kernels.h"

namespace hone::gnn::cuda {

// Rows 0 … hop_nodes[0]-1 are the seeds; kNoLabel rows count for nothing.
//   logits      [padded_rows, stride] fp32; columns past `classes` are ignored
//   grad        [padded_rows, stride] of `element`, or null for evaluation: (softmax - one-hot) / seeds; zero in rows
//               without a seed and in columns past `classes`
//   row_loss, row_correct [padded_rows]: what EnqueueFinishStep sums; correct is -1 for a row that does not count
//   predictions [count of seeds], at step * batch + row; may be null
cudaError_t EnqueueSoftmaxLoss(const GraphOnDevice& graph, const BatchHeader* header, const int32_t* nodes,
                               const float* logits, int32_t classes, int32_t stride, int32_t padded_rows, int32_t batch,
                               Element element, void* grad, float* row_loss, int32_t* row_correct, int32_t* predictions,
                               cudaStream_t stream);

struct AdamOptions {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, weight_decay = 0;
};

// One Adam step (Kingma and Ba 2015, as PyTorch computes it) over `count` parameters, and the copy that the matrix
// products read. Does nothing for an invalid batch or after a failure; gradients that are not finite are noted in the
// state. `compute` may be `master` itself in fp32.
cudaError_t EnqueueAdam(const AdamOptions& options, RunState* state, const BatchHeader* header, int64_t count,
                        const float* gradient, float* master, float* moment1, float* moment2, Element element,
                        void* compute, cudaStream_t stream);

// Adds the batch's loss and accuracy to the state, in row order, counts the step and tells `progress` (the device's
// view of it). `trains`: also Adam's count and the plateau rule, and a loss or gradient that is not finite is a failure.
cudaError_t EnqueueFinishStep(RunState* state, const BatchHeader* header, const float* row_loss,
                              const int32_t* row_correct, bool trains, volatile HostProgress* progress,
                              cudaStream_t stream);

}  // namespace hone::gnn::cuda
