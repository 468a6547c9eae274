// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code of the end of a step: Adam, and the epoch's running totals. Only .cu files may include this file.
#pragma once

#include <cuda_bf16.h>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/update/learn_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int kUpdateThreads = 256;
inline constexpr int kUpdateBlocks = 4 * 132;  // enough to fill a GPU, few enough that the last wave is short

// Applies PlateauStep of nn/optimizer.cc with its threshold, without a cooldown or a smallest rate.
__device__ inline void FollowPlateau(RunState* state, double loss) {
  PlateauOnDevice& plateau = state->plateau;
  if (plateau.patience < 0) return;
  if (loss < plateau.best * (1 - 1e-4)) {
    plateau.best = loss;
    plateau.bad_steps = 0;
  } else {
    ++plateau.bad_steps;
  }
  if (plateau.bad_steps <= plateau.patience) return;
  plateau.bad_steps = 0;
  const double lowered = state->learning_rate * plateau.factor;
  if (state->learning_rate - lowered > 1e-8) state->learning_rate = lowered;
}

// The sums over the batch's rows, in a fixed order. Every thread of a block of kUpdateThreads must call this, and the
// first thread gets the result.
struct BatchSums {
  double loss;
  int32_t correct, counted;
};
__device__ inline BatchSums SumRows(const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                                    double* losses, int32_t* correct_seeds, int32_t* counted_seeds) {
  double loss = 0;
  int32_t hits = 0, all = 0;
  for (int32_t row = static_cast<int32_t>(threadIdx.x); row < header->hop_nodes[0]; row += kUpdateThreads) {
    if (row_correct[row] < 0) continue;
    loss += row_loss[row];
    hits += row_correct[row];
    ++all;
  }
  losses[threadIdx.x] = loss;
  correct_seeds[threadIdx.x] = hits;
  counted_seeds[threadIdx.x] = all;
  __syncthreads();
  for (unsigned half = kUpdateThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      losses[threadIdx.x] += losses[threadIdx.x + half];
      correct_seeds[threadIdx.x] += correct_seeds[threadIdx.x + half];
      counted_seeds[threadIdx.x] += counted_seeds[threadIdx.x + half];
    }
    __syncthreads();
  }
  return {losses[0], correct_seeds[0], counted_seeds[0]};
}

// Adds a step to the totals. `weight` is the sum of the labels' weights.
__device__ inline void KeepBooks(const BatchSums& sums, double weight, bool trains, RunState* state,
                          volatile HostProgress* progress) {
  const double mean = weight > 0 ? sums.loss / weight : 0.0;
  const uint32_t not_finite = trains ? atomicOr(&state->gradient_not_finite, 0u) : 0;  // other blocks may have set it
  if (trains && (!isfinite(mean) || not_finite != 0)) {
    state->failure = isfinite(mean) ? kGradientNotFinite : kLossNotFinite;
    state->failed_loss = mean;
    progress->halt = 1;
    return;
  }
  state->loss_sum += sums.loss;
  state->weight_sum += weight;
  state->correct += sums.correct;
  state->counted += sums.counted;
  const uint32_t done = ++state->trained_steps;
  if (trains) {
    ++state->adam_step;
    if (weight > 0) FollowPlateau(state, mean);
  }
  progress->steps[done % kProgressSteps] =
      static_cast<unsigned long long>(done) << 32 | __float_as_uint(static_cast<float>(mean));
}

// Does one Adam step of one parameter.
struct AdamRates {
  float scale;  // factor of the gradient
  float rate;   // the learning rate divided by the first moment's bias correction
  float correction2;
};
__device__ inline AdamRates RatesOf(const AdamConstants& options, const RunState& state) {
  const float t = static_cast<float>(state.adam_step + 1);
  const float correction1 = 1.0f - powf(options.beta1, t);
  return {state.gradient_scale, static_cast<float>(state.learning_rate) / correction1, sqrtf(1.0f - powf(options.beta2, t))};
}
__device__ inline float AdamStep(const AdamConstants& options, const AdamRates& rates, float gradient, float weight, float& moment1,
                          float& moment2) {
  const float g = gradient * rates.scale + options.weight_decay * weight;
  moment1 = options.beta1 * moment1 + (1.0f - options.beta1) * g;
  moment2 = options.beta2 * moment2 + (1.0f - options.beta2) * g * g;
  return weight - rates.rate * moment1 / (sqrtf(moment2) / rates.correction2 + options.epsilon);
}

// A thread's values of four adjacent parameters.
struct FourParameters {
  float4 gradient, weight, moment1, moment2;
};
__device__ inline void Put4(float* p, const float4& x) { *reinterpret_cast<float4*>(p) = x; }
__device__ inline void Put4(__nv_bfloat16* p, const float4& x) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(x.x, x.y), high = __floats2bfloat162_rn(x.z, x.w);
  *reinterpret_cast<uint2*>(p) =
      make_uint2(*reinterpret_cast<const uint32_t*>(&low), *reinterpret_cast<const uint32_t*>(&high));
}

template <typename T>
__device__ void UpdateFour(const AdamConstants& options, const AdamRates& rates, const FourParameters& four, RunState* state,
                           float* master, float* moment1, float* moment2, T* compute) {
  const float4 g = four.gradient;
  float4 w = four.weight, m = four.moment1, v = four.moment2;
  if (!isfinite(g.x + g.y + g.z + g.w)) {  // also if one of them is so large that the sum overflows
    for (const float one : {g.x, g.y, g.z, g.w}) {
      if (!isfinite(one)) atomicOr(&state->gradient_not_finite, isnan(one) ? 2u : 1u);
    }
  }
  w.x = AdamStep(options, rates, g.x, w.x, m.x, v.x);
  w.y = AdamStep(options, rates, g.y, w.y, m.y, v.y);
  w.z = AdamStep(options, rates, g.z, w.z, m.z, v.z);
  w.w = AdamStep(options, rates, g.w, w.w, m.w, v.w);
  Put4(moment1, m);
  Put4(moment2, v);
  Put4(master, w);
  Put4(compute, w);
}

// Returns whether the calling block is the last one to end. Every thread of every block must call this once. The last
// block sees what the others have written.
__device__ inline bool EndsLast(RunState* state, bool* shared) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *shared = atomicAdd(&state->updated_blocks, 1u) + 1 == gridDim.x;
  __syncthreads();
  return *shared;
}

// Does the work of EnqueueJudgeStep in one thread.
__device__ inline void JudgeStep(bool whole, const BatchHeader& last, RunState* state, BatchHeader* step,
                                 volatile HostProgress* progress) {
  *step = last;
  step->valid = whole && last.step == state->trained_steps ? 1 : 0;
  if (whole) return;
  state->halt = 1;
  progress->halt = 1;
  __threadfence_system();
}

}  // namespace hone::gnn::cuda
