// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements target_loss_kernels.h.
#include "gnn/cuda/update/target_loss_kernels.h"

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/launch.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

__device__ float SumOfWarp(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}

__device__ void Store(float* p, float x) { *p = x; }
__device__ void Store(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }

// Returns the loss of one output, and its derivative in *slope.
__device__ float LossOf(TargetLossKind kind, float output, float target, float* slope) {
  if (kind == TargetLossKind::kBinaryCrossEntropy) {
    const float exp_of_negative = __expf(-fabsf(output));  // of a negative number, so that nothing overflows
    *slope = (output >= 0.0f ? 1.0f : exp_of_negative) / (1.0f + exp_of_negative) - target;
    return fmaxf(output, 0.0f) - output * target + log1pf(exp_of_negative);
  }
  const float error = output - target, size = fabsf(error);
  if (kind == TargetLossKind::kSquared) {
    *slope = 2.0f * error;
    return error * error;
  }
  const bool curved = kind == TargetLossKind::kHuber && size < 1.0f;
  *slope = curved ? error : error < 0.0f ? -1.0f : error > 0.0f ? 1.0f : 0.0f;
  return curved ? 0.5f * error * error : kind == TargetLossKind::kHuber ? size - 0.5f : size;
}

// Returns the factor of an output's loss.
__device__ float WeightOf(const float* pos_weight, int32_t column, float target) {
  return pos_weight != nullptr && target > 0.5f ? pos_weight[column] : 1.0f;
}

// One warp computes a row.
template <typename T>
__global__ void TargetLossKernel(const float* targets, int32_t width, TargetLossKind kind, const float* pos_weight,
                                 const BatchHeader* header, const int32_t* nodes, const float* outputs, int32_t stride,
                                 int32_t padded_rows, int32_t batch, T* grad, float* row_loss, int32_t* row_correct,
                                 float* copied) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= padded_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* x = outputs + static_cast<int64_t>(row) * stride;
  T* g = grad == nullptr ? nullptr : grad + static_cast<int64_t>(row) * stride;
  const int32_t rows = header->valid != 0 ? header->hop_nodes[0] : 0;
  const float* y = row < rows ? targets + static_cast<int64_t>(nodes[row]) * width : nullptr;
  float known_targets = 0, wrong = 0, loss = 0;
  for (int32_t c = lane; y != nullptr && c < width; c += 32) {
    if (copied != nullptr) copied[(static_cast<int64_t>(header->step) * batch + row) * width + c] = x[c];
    const float target = y[c];
    if (target != target) continue;  // a NaN
    float slope;
    known_targets += 1;
    loss += WeightOf(pos_weight, c, target) * LossOf(kind, x[c], target, &slope);
    wrong += (x[c] > 0.0f) == (target > 0.5f) ? 0.0f : 1.0f;
  }
  known_targets = SumOfWarp(known_targets);
  wrong = SumOfWarp(wrong);
  loss = SumOfWarp(loss);
  if (lane == 0) {
    row_loss[row] = known_targets > 0 ? loss / known_targets : 0.0f;
    row_correct[row] = known_targets == 0 ? -1 : kind == TargetLossKind::kBinaryCrossEntropy && wrong == 0 ? 1 : 0;
  }
  if (g == nullptr) return;
  const float step_weight = static_cast<float>(header->weight);
  const float scale = known_targets > 0 && step_weight > 0.0f ? 1.0f / (known_targets * step_weight) : 0.0f;
  for (int32_t c = lane; c < stride; c += 32) {
    float slope = 0;
    const float target = y != nullptr && c < width ? y[c] : NAN;
    float weight = scale;
    if (target == target) {
      LossOf(kind, x[c], target, &slope);
      weight *= WeightOf(pos_weight, c, target);
    }
    Store(g + c, weight * slope);
  }
}

}  // namespace

cudaError_t EnqueueTargetLoss(const float* targets, int32_t width, TargetLossKind kind, const float* pos_weight,
                              const BatchHeader* header, const int32_t* nodes, const float* outputs, int32_t stride,
                              int32_t padded_rows, int32_t batch, Element element, void* grad, float* row_loss,
                              int32_t* row_correct, float* copied, cudaStream_t stream) {
  const int blocks = (padded_rows + kBlock / 32 - 1) / (kBlock / 32);
  if (element == Element::kFloat32) {
    Launch(TargetLossKernel<float>, blocks, kBlock, 0, stream, targets, width, kind, pos_weight, header, nodes, outputs,
           stride, padded_rows, batch, static_cast<float*>(grad), row_loss, row_correct, copied);
  } else {
    Launch(TargetLossKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, targets, width, kind, pos_weight, header, nodes,
           outputs, stride, padded_rows, batch, static_cast<__nv_bfloat16*>(grad), row_loss, row_correct, copied);
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
