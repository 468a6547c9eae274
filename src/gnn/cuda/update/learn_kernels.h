// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends a step on the GPU: softmax cross-entropy with its gradient, Adam over all parameters at once, and the epoch's
// running totals. Functions enqueue on `stream`; nothing returns to the host before the epoch ends.
//
// A step is one batch or several shards. With one batch, EnqueueFinishStep adds the batch to the totals. With several
// shards, step_sum.h adds up their gradients and totals, EnqueueJudgeStep decides whether the step is complete, and
// EnqueueFinishSum adds it to the totals.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// Computes the loss. Rows 0 … hop_nodes[0]-1 are the seeds; a row whose label is kNoLabel has no loss.
//   class_weights [classes]; null: all weights are 1
//   logits      [padded_rows, stride] fp32; columns past `classes` are ignored
//   grad        [padded_rows, stride] of `element`, or null for evaluation: weight of the label * (softmax - one-hot) /
//               header->weight; zero in rows without a seed or label and in columns past `classes`
//   row_loss, row_correct [padded_rows]: the inputs of EnqueueFinishStep; correct is -1 for a row without a seed or
//               label
//   predictions [count of seeds], at step * batch + row; may be null
cudaError_t EnqueueSoftmaxLoss(const GraphOnDevice& graph, const BatchHeader* header, const int32_t* nodes,
                               const float* logits, int32_t classes, int32_t stride, int32_t padded_rows, int32_t batch,
                               Element element, const float* class_weights, void* grad, float* row_loss,
                               int32_t* row_correct, int32_t* predictions, cudaStream_t stream);

// The constants of an Adam step; the learning rate is in RunState.
struct AdamConstants {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, weight_decay = 0;
};

// Sets state->gradient_scale to the factor that reduces the norm of `gradient` to `max_norm`, or to 1 if the norm is no
// larger. The sum of squares has a fixed order, in double.
//   partials [kNormPartials] scratch
inline constexpr int kNormPartials = 256;
cudaError_t EnqueueClip(double max_norm, int64_t count, const float* gradient, double* partials, RunState* state,
                        cudaStream_t stream);

// Does one Adam step (Kingma and Ba 2015, as PyTorch computes it) over `count` parameters, and updates `compute`, the
// copy that the matrix products read. Does nothing for an invalid batch or after a failure. Gradients that are not
// finite are noted in the state. In fp32 `compute` may be `master` itself. `count` is a multiple of 4.
cudaError_t EnqueueAdam(const AdamConstants& options, RunState* state, const BatchHeader* header, int64_t count,
                        const float* gradient, float* master, float* moment1, float* moment2, Element element,
                        void* compute, cudaStream_t stream);

// Does the work of EnqueueAdam and EnqueueFinishStep, for a training step of one batch, in one kernel.
cudaError_t EnqueueAdamAndFinish(const AdamConstants& options, RunState* state, const BatchHeader* header,
                                 int64_t count, const float* gradient, float* master, float* moment1, float* moment2,
                                 Element element, void* compute, const float* row_loss, const int32_t* row_correct,
                                 volatile HostProgress* progress, cudaStream_t stream);

// Adds the batch's loss and accuracy to the state, in row order, counts the step, and reports to `progress` (a device
// address). With `trains`, it also advances Adam's count and the plateau rule, and a loss or gradient that is not
// finite is a failure.
cudaError_t EnqueueFinishStep(RunState* state, const BatchHeader* header, const float* row_loss,
                              const int32_t* row_correct, bool trains, volatile HostProgress* progress,
                              cudaStream_t stream);

// The totals of a step's shards that are not gradients: indexes into an array of doubles.
enum StepTotal : int { kTotalLoss, kTotalCounted, kTotalCorrect, kTotalMissing, kStepTotals = 8 };
// Writes the header of the whole step to *step. The header is valid if no shard is missing and this is the state's next
// step. A missing shard halts the run, on every rank. `last` is the header of any shard of this rank.
cudaError_t EnqueueJudgeStep(const double* totals, const BatchHeader* last, RunState* state, BatchHeader* step,
                             volatile HostProgress* progress, cudaStream_t stream);
// Does the work of EnqueueFinishStep from the totals of the step.
cudaError_t EnqueueFinishSum(RunState* state, const BatchHeader* step, const double* totals, bool trains,
                             volatile HostProgress* progress, cudaStream_t stream);

}  // namespace hone::gnn::cuda
