// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements learn_kernels.h.
#include "gnn/cuda/update/learn_kernels.h"

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/update/update.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = kUpdateThreads;

__device__ float WarpSum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}

__device__ void Put(float* p, float x) { *p = x; }
__device__ void Put(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }

// Computes the loss with one warp per row. Logits that fit in registers are loaded once, before the kernel knows
// whether the row has a seed; this is possible because all rows of the envelope exist.
template <typename T>
__global__ void SoftmaxLossKernel(const int32_t* labels, const BatchHeader* header, const int32_t* nodes,
                                  const float* logits, int32_t classes, int32_t stride, int32_t padded_rows, int32_t batch,
                                  const float* class_weights, T* grad, float* row_loss, int32_t* row_correct,
                                  int32_t* predictions) {
  constexpr int kHeld = 6;  // values that a lane holds in registers; further logits are read each time
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= padded_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* x = logits + static_cast<int64_t>(row) * stride;
  float held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) held[k] = lane + k * 32 < classes ? x[lane + k * 32] : -INFINITY;
  const int32_t node = row < batch ? nodes[row] : 0;
  const int32_t rows = header->valid != 0 ? header->hop_nodes[0] : 0;
  const int32_t label = row < rows ? labels[node] : -1;
  T* g = grad == nullptr ? nullptr : grad + static_cast<int64_t>(row) * stride;
  float largest_logit = -INFINITY;
  int32_t best = 0;
  if (row < rows) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (held[k] > largest_logit) {
        largest_logit = held[k];
        best = lane + k * 32;
      }
    }
    for (int32_t c = lane + kHeld * 32; c < classes; c += 32) {
      if (x[c] > largest_logit) {
        largest_logit = x[c];
        best = c;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {  // finds the largest logit; the lowest class among equals
      const float other = __shfl_xor_sync(kFullWarp, largest_logit, offset);
      const int32_t other_best = __shfl_xor_sync(kFullWarp, best, offset);
      if (other > largest_logit || (other == largest_logit && other_best < best)) {
        largest_logit = other;
        best = other_best;
      }
    }
    if (lane == 0 && predictions != nullptr) predictions[static_cast<int64_t>(header->step) * batch + row] = best;
  }
  if (label < 0) {
    if (g != nullptr) {
      for (int32_t c = lane; c < stride; c += 32) Put(g + c, 0.0f);
    }
    if (lane == 0) {
      row_loss[row] = 0;
      row_correct[row] = -1;
    }
    return;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    held[k] = lane + k * 32 < classes ? __expf(held[k] - largest_logit) : 0.0f;
    sum += held[k];
  }
  for (int32_t c = lane + kHeld * 32; c < classes; c += 32) sum += __expf(x[c] - largest_logit);
  sum = WarpSum(sum);
  const float weight = class_weights == nullptr ? 1.0f : class_weights[label];
  const float step_weight = static_cast<float>(header->weight);
  const float inverse = step_weight > 0.0f ? weight / (sum * step_weight) : 0.0f;
  if (g != nullptr) {
    const auto put = [&](int32_t c, float exponential) {
      float p = exponential * inverse;
      if (c == label && step_weight > 0.0f) p -= weight / step_weight;
      Put(g + c, p);
    };
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (lane + k * 32 < stride) put(lane + k * 32, held[k]);
    }
    for (int32_t c = lane + kHeld * 32; c < stride; c += 32) put(c, c < classes ? __expf(x[c] - largest_logit) : 0.0f);
  }
  if (lane == 0) {
    row_loss[row] = weight * (logf(sum) + largest_logit - x[label]);
    row_correct[row] = best == label ? 1 : 0;
  }
}

// Sums the squares of one slice of the gradient per block.
__global__ void SquaresKernel(int64_t count, const float* gradient, double* partials) {
  __shared__ double sums[kBlock];
  const int64_t each = (count + kNormPartials - 1) / kNormPartials;
  const int64_t first = blockIdx.x * each;
  const int64_t end = first + each < count ? first + each : count;
  double sum = 0;
  for (int64_t i = first + threadIdx.x; i < end; i += kBlock) {
    sum += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

__global__ void ClipKernel(double max_norm, const double* partials, RunState* state) {
  double sum = 0;
  for (int i = 0; i < kNormPartials; ++i) sum += partials[i];
  const double norm = sqrt(sum);
  state->gradient_scale = norm > max_norm ? static_cast<float>(max_norm / (norm + 1e-6)) : 1.0f;
}

// The inputs of a one-batch step's totals. row_loss null: another kernel makes the totals.
struct BooksOfStep {
  const float* row_loss = nullptr;
  const int32_t* row_correct = nullptr;
  volatile HostProgress* progress = nullptr;
};

// Updates four parameters at a time, so `count` and the tensors are multiples of 4. In large models a thread handles
// kTogether such groups per turn, all loaded before the first is updated. The last block to end finishes the totals.
template <typename T>
__global__ void __launch_bounds__(kBlock, 4)
    AdamKernel(AdamConstants options, RunState* state, const BatchHeader* header, int64_t count, const float* gradient,
               float* master, float* moment1, float* moment2, T* compute, BooksOfStep books) {
  constexpr int kTogether = 2;
  __shared__ double losses[kBlock];
  __shared__ int32_t correct_rows[kBlock], counted[kBlock];
  __shared__ bool last;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kBlock * 4;
  int64_t i = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) * 4;
  FourParameters four[kTogether];
  const auto load = [&] {
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int64_t at = i + k * step;
      if (at < count) {
        four[k] = {*reinterpret_cast<const float4*>(gradient + at), *reinterpret_cast<const float4*>(master + at),
                   *reinterpret_cast<const float4*>(moment1 + at), *reinterpret_cast<const float4*>(moment2 + at)};
      }
    }
  };
  load();
  if (header->valid == 0 || state->failure != kNoFailure) return;
  const AdamRates rates = RatesOf(options, *state);
  while (i < count) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int64_t at = i + k * step;
      if (at >= count) break;
      UpdateFour(options, rates, four[k], state, master + at, moment1 + at, moment2 + at, compute + at);
    }
    i += kTogether * step;
    load();
  }
  if (books.row_loss == nullptr) return;
  if (!EndsLast(state, &last)) return;
  const BatchSums sums = SumRows(header, books.row_loss, books.row_correct, losses, correct_rows, counted);
  if (threadIdx.x != 0) return;
  state->updated_blocks = 0;
  KeepBooks(sums, header->weight, /*trains=*/true, state, books.progress);
}

// Finishes a step in one thread block.
__global__ void FinishStepKernel(RunState* state, const BatchHeader* header, const float* row_loss,
                                 const int32_t* row_correct, bool trains, volatile HostProgress* progress) {
  __shared__ double losses[kBlock];
  __shared__ int32_t correct_rows[kBlock], counted[kBlock];
  if (header->valid == 0 || state->failure != kNoFailure) return;
  const BatchSums sums = SumRows(header, row_loss, row_correct, losses, correct_rows, counted);
  if (threadIdx.x == 0) KeepBooks(sums, trains ? header->weight : sums.counted, trains, state, progress);
}

__global__ void JudgeStepKernel(const double* totals, const BatchHeader* last, RunState* state, BatchHeader* step,
                                volatile HostProgress* progress) {
  JudgeStep(totals[kTotalMissing] == 0, *last, state, step, progress);
}

__global__ void FinishSumKernel(RunState* state, const BatchHeader* step, const double* totals, bool trains,
                                volatile HostProgress* progress) {
  if (step->valid == 0 || state->failure != kNoFailure) return;
  const BatchSums sums = {totals[kTotalLoss], static_cast<int32_t>(totals[kTotalCorrect]),
                          static_cast<int32_t>(totals[kTotalCounted])};
  KeepBooks(sums, step->weight, trains, state, progress);
}

}  // namespace


cudaError_t EnqueueSoftmaxLoss(const GraphOnDevice& graph, const BatchHeader* header, const int32_t* nodes,
                               const float* logits, int32_t classes, int32_t stride, int32_t padded_rows, int32_t batch,
                               Element element, const float* class_weights, void* grad, float* row_loss,
                               int32_t* row_correct, int32_t* predictions, cudaStream_t stream) {
  const int blocks = (padded_rows + kBlock / 32 - 1) / (kBlock / 32);
  if (element == Element::kFloat32) {
    Launch(SoftmaxLossKernel<float>, blocks, kBlock, 0, stream, graph.labels, header, nodes, logits, classes, stride,
           padded_rows, batch, class_weights, static_cast<float*>(grad), row_loss, row_correct, predictions);
  } else {
    Launch(SoftmaxLossKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, graph.labels, header, nodes, logits, classes,
           stride, padded_rows, batch, class_weights, static_cast<__nv_bfloat16*>(grad), row_loss, row_correct, predictions);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueClip(double max_norm, int64_t count, const float* gradient, double* partials, RunState* state,
                        cudaStream_t stream) {
  Launch(SquaresKernel, kNormPartials, kBlock, 0, stream, count, gradient, partials);
  Launch(ClipKernel, 1, 1, 0, stream, max_norm, partials, state);
  return cudaPeekAtLastError();
}

namespace {

cudaError_t LaunchAdam(const AdamConstants& options, RunState* state, const BatchHeader* header, int64_t count,
                       const float* gradient, float* master, float* moment1, float* moment2, Element element,
                       void* compute, const BooksOfStep& books, cudaStream_t stream) {
  if (count % 4 != 0) return cudaErrorInvalidValue;
  const int64_t needed_blocks = (count / 4 + kBlock - 1) / kBlock;
  const int blocks = static_cast<int>(needed_blocks < kUpdateBlocks ? needed_blocks : kUpdateBlocks);
  if (element == Element::kFloat32) {
    Launch(AdamKernel<float>, blocks, kBlock, 0, stream, options, state, header, count, gradient, master, moment1,
           moment2, static_cast<float*>(compute), books);
  } else {
    Launch(AdamKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, options, state, header, count, gradient, master,
           moment1, moment2, static_cast<__nv_bfloat16*>(compute), books);
  }
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t EnqueueAdam(const AdamConstants& options, RunState* state, const BatchHeader* header, int64_t count,
                        const float* gradient, float* master, float* moment1, float* moment2, Element element,
                        void* compute, cudaStream_t stream) {
  return LaunchAdam(options, state, header, count, gradient, master, moment1, moment2, element, compute, {}, stream);
}

cudaError_t EnqueueAdamAndFinish(const AdamConstants& options, RunState* state, const BatchHeader* header, int64_t count,
                                 const float* gradient, float* master, float* moment1, float* moment2, Element element,
                                 void* compute, const float* row_loss, const int32_t* row_correct,
                                 volatile HostProgress* progress, cudaStream_t stream) {
  return LaunchAdam(options, state, header, count, gradient, master, moment1, moment2, element, compute,
                    {row_loss, row_correct, progress}, stream);
}

cudaError_t EnqueueFinishStep(RunState* state, const BatchHeader* header, const float* row_loss,
                              const int32_t* row_correct, bool trains, volatile HostProgress* progress,
                              cudaStream_t stream) {
  Launch(FinishStepKernel, 1, kBlock, 0, stream, state, header, row_loss, row_correct, trains, progress);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueJudgeStep(const double* totals, const BatchHeader* last, RunState* state, BatchHeader* step,
                             volatile HostProgress* progress, cudaStream_t stream) {
  Launch(JudgeStepKernel, 1, 1, 0, stream, totals, last, state, step, progress);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueFinishSum(RunState* state, const BatchHeader* step, const double* totals, bool trains,
                             volatile HostProgress* progress, cudaStream_t stream) {
  Launch(FinishSumKernel, 1, 1, 0, stream, state, step, totals, trains, progress);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
