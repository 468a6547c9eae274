// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of learn_kernels.h.
#include "gnn/cuda/learn_kernels.h"

#include "gnn/cuda/device_math.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

__device__ float WarpSum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}

__device__ void Put(float* p, float x) { *p = x; }
__device__ void Put(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }

// One block: the sum has one order, the same on every rank.
__global__ void StepWeightKernel(GraphOnDevice graph, SeedsOnDevice seeds, const RunState* state,
                                 const float* class_weights, BatchHeader* header) {
  __shared__ double sums[kBlock];
  const int64_t most = static_cast<int64_t>(seeds.batch) * seeds.shards;
  const int64_t first = header->step * most;
  const int64_t end = first + most < seeds.count ? first + most : seeds.count;
  const IndexPermutation order(state->seed, header->epoch, seeds.count);
  double sum = 0;
  for (int64_t i = first + threadIdx.x; i < end && header->valid != 0; i += kBlock) {
    const int32_t label = graph.labels[seeds.nodes[seeds.in_order != 0 ? i : order(i)]];
    if (label >= 0) sum += static_cast<double>(class_weights[label]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) header->weight = sums[0];
}

// A warp a row. What fits is read once, at once and before it is known whose row it is: rows of the envelope exist.
template <typename T>
__global__ void SoftmaxLossKernel(const int32_t* labels, const BatchHeader* header, const int32_t* nodes,
                                  const float* logits, int32_t classes, int32_t stride, int32_t padded_rows, int32_t batch,
                                  const float* class_weights, T* grad, float* row_loss, int32_t* row_correct,
                                  int32_t* predictions) {
  constexpr int kHeld = 6;  // values of a lane in registers; those of further classes are read again each time
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
  float largest = -INFINITY;
  int32_t best = 0;
  if (row < rows) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (held[k] > largest) {
        largest = held[k];
        best = lane + k * 32;
      }
    }
    for (int32_t c = lane + kHeld * 32; c < classes; c += 32) {
      if (x[c] > largest) {
        largest = x[c];
        best = c;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {  // the lowest class of equals
      const float other = __shfl_xor_sync(kFullWarp, largest, offset);
      const int32_t other_best = __shfl_xor_sync(kFullWarp, best, offset);
      if (other > largest || (other == largest && other_best < best)) {
        largest = other;
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
    held[k] = lane + k * 32 < classes ? __expf(held[k] - largest) : 0.0f;
    sum += held[k];
  }
  for (int32_t c = lane + kHeld * 32; c < classes; c += 32) sum += __expf(x[c] - largest);
  sum = WarpSum(sum);
  const float weight = class_weights == nullptr ? 1.0f : class_weights[label];
  const float all = static_cast<float>(header->weight);
  const float inverse = all > 0.0f ? weight / (sum * all) : 0.0f;
  if (g != nullptr) {
    const auto put = [&](int32_t c, float exponential) {
      float p = exponential * inverse;
      if (c == label && all > 0.0f) p -= weight / all;
      Put(g + c, p);
    };
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (lane + k * 32 < stride) put(lane + k * 32, held[k]);
    }
    for (int32_t c = lane + kHeld * 32; c < stride; c += 32) put(c, c < classes ? __expf(x[c] - largest) : 0.0f);
  }
  if (lane == 0) {
    row_loss[row] = weight * (logf(sum) + largest - x[label]);
    row_correct[row] = best == label ? 1 : 0;
  }
}

// A block sums one slice.
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

__global__ void ClipKernel(double most, const double* partials, RunState* state) {
  double sum = 0;
  for (int i = 0; i < kNormPartials; ++i) sum += partials[i];
  const double norm = sqrt(sum);
  state->gradient_scale = norm > most ? static_cast<float>(most / (norm + 1e-6)) : 1.0f;
}

// PlateauStep of nn/optimizer.cc with its threshold, no cooldown and no smallest rate.
__device__ void FollowPlateau(RunState* state, double loss) {
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

// Sums over the batch's rows in one order; every thread of a block of kBlock calls it, and the first has the result.
struct BatchSums {
  double loss;
  int32_t correct, counted;
};
__device__ BatchSums SumRows(const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                             double* losses, int32_t* right, int32_t* counted) {
  double loss = 0;
  int32_t hits = 0, all = 0;
  for (int32_t row = static_cast<int32_t>(threadIdx.x); row < header->hop_nodes[0]; row += kBlock) {
    if (row_correct[row] < 0) continue;
    loss += row_loss[row];
    hits += row_correct[row];
    ++all;
  }
  losses[threadIdx.x] = loss;
  right[threadIdx.x] = hits;
  counted[threadIdx.x] = all;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      losses[threadIdx.x] += losses[threadIdx.x + half];
      right[threadIdx.x] += right[threadIdx.x + half];
      counted[threadIdx.x] += counted[threadIdx.x + half];
    }
    __syncthreads();
  }
  return {losses[0], right[0], counted[0]};
}

// `weight`: of the labels.
__device__ void KeepBooks(const BatchSums& sums, double weight, bool trains, RunState* state,
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

// One Adam step of one parameter.
struct AdamRates {
  float scale;  // of the gradient
  float rate;   // the learning rate over the first moment's correction
  float correction2;
};
__device__ float AdamStep(const AdamOptions& options, const AdamRates& rates, float gradient, float weight, float& moment1,
                          float& moment2) {
  const float g = gradient * rates.scale + options.weight_decay * weight;
  moment1 = options.beta1 * moment1 + (1.0f - options.beta1) * g;
  moment2 = options.beta2 * moment2 + (1.0f - options.beta2) * g * g;
  return weight - rates.rate * moment1 / (sqrtf(moment2) / rates.correction2 + options.epsilon);
}

// What closes a step of one batch; row_loss null: nothing, somebody else does.
struct BooksOfStep {
  const float* row_loss = nullptr;
  const int32_t* row_correct = nullptr;
  volatile HostProgress* progress = nullptr;
};

// What a thread has of four parameters.
struct FourParameters {
  float4 gradient, weight, moment1, moment2;
};
__device__ void Put4(float* p, const float4& x) { *reinterpret_cast<float4*>(p) = x; }
__device__ void Put4(__nv_bfloat16* p, const float4& x) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(x.x, x.y), high = __floats2bfloat162_rn(x.z, x.w);
  *reinterpret_cast<uint2*>(p) =
      make_uint2(*reinterpret_cast<const uint32_t*>(&low), *reinterpret_cast<const uint32_t*>(&high));
}

// Four parameters at a time, so `count` and the tensors are multiples of 4. Large models take a thread several times
// kTogether of them, all loaded before the first is updated. The block that ends last closes the books.
constexpr int kUpdateBlocks = 4 * 132;  // enough to fill a GPU, few enough that their ends do not count
template <typename T>
__global__ void __launch_bounds__(kBlock, 4)
    AdamKernel(AdamOptions options, RunState* state, const BatchHeader* header, int64_t count, const float* gradient,
               float* master, float* moment1, float* moment2, T* compute, BooksOfStep books) {
  constexpr int kTogether = 2;
  __shared__ double losses[kBlock];
  __shared__ int32_t right[kBlock], counted[kBlock];
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
  const float t = static_cast<float>(state->adam_step + 1);
  const float correction1 = 1.0f - powf(options.beta1, t);
  const AdamRates rates = {state->gradient_scale, static_cast<float>(state->learning_rate) / correction1,
                           sqrtf(1.0f - powf(options.beta2, t))};
  while (i < count) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int64_t at = i + k * step;
      if (at >= count) break;
      const float4 g = four[k].gradient;
      float4 w = four[k].weight, m = four[k].moment1, v = four[k].moment2;
      if (!isfinite(g.x + g.y + g.z + g.w)) {  // or one of them is large enough to overflow the sum
        for (const float one : {g.x, g.y, g.z, g.w}) {
          if (!isfinite(one)) atomicOr(&state->gradient_not_finite, isnan(one) ? 2u : 1u);
        }
      }
      w.x = AdamStep(options, rates, g.x, w.x, m.x, v.x);
      w.y = AdamStep(options, rates, g.y, w.y, m.y, v.y);
      w.z = AdamStep(options, rates, g.z, w.z, m.z, v.z);
      w.w = AdamStep(options, rates, g.w, w.w, m.w, v.w);
      Put4(moment1 + at, m);
      Put4(moment2 + at, v);
      Put4(master + at, w);
      Put4(compute + at, w);
    }
    i += kTogether * step;
    load();
  }
  if (books.row_loss == nullptr) return;
  __threadfence();  // what is not finite is noted before the block counts as done
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&state->updated_blocks, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  const BatchSums sums = SumRows(header, books.row_loss, books.row_correct, losses, right, counted);
  if (threadIdx.x != 0) return;
  state->updated_blocks = 0;
  KeepBooks(sums, header->weight, true, state, books.progress);
}

// One block.
__global__ void FinishStepKernel(RunState* state, const BatchHeader* header, const float* row_loss,
                                 const int32_t* row_correct, bool trains, volatile HostProgress* progress) {
  __shared__ double losses[kBlock];
  __shared__ int32_t right[kBlock], counted[kBlock];
  if (header->valid == 0 || state->failure != kNoFailure) return;
  const BatchSums sums = SumRows(header, row_loss, row_correct, losses, right, counted);
  if (threadIdx.x == 0) KeepBooks(sums, trains ? header->weight : sums.counted, trains, state, progress);
}

__global__ void ShardTotalsKernel(const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                                  double* totals) {
  __shared__ double losses[kBlock];
  __shared__ int32_t right[kBlock], counted[kBlock];
  BatchSums sums = {};
  if (header->valid != 0) sums = SumRows(header, row_loss, row_correct, losses, right, counted);
  if (threadIdx.x != 0) return;
  for (int t = 0; t < kStepTotals; ++t) totals[t] = 0;
  totals[kTotalLoss] = sums.loss;
  totals[kTotalCounted] = sums.counted;
  totals[kTotalCorrect] = sums.correct;
  totals[kTotalMissing] = header->valid != 0 ? 0 : 1;
}

__global__ void JudgeStepKernel(const double* totals, const BatchHeader* last, RunState* state, BatchHeader* step,
                                volatile HostProgress* progress) {
  const bool whole = totals[kTotalMissing] == 0;
  *step = *last;
  step->valid = whole && last->step == state->trained_steps ? 1 : 0;
  if (whole) return;
  state->halt = 1;
  progress->halt = 1;
  __threadfence_system();
}

__global__ void FinishSumKernel(RunState* state, const BatchHeader* step, const double* totals, bool trains,
                                volatile HostProgress* progress) {
  if (step->valid == 0 || state->failure != kNoFailure) return;
  const BatchSums sums = {totals[kTotalLoss], static_cast<int32_t>(totals[kTotalCorrect]),
                          static_cast<int32_t>(totals[kTotalCounted])};
  KeepBooks(sums, step->weight, trains, state, progress);
}

}  // namespace

cudaError_t EnqueueStepWeight(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const RunState* state,
                              const float* class_weights, BatchHeader* header, cudaStream_t stream) {
  Launch(StepWeightKernel, 1, kBlock, 0, stream, graph, seeds, state, class_weights, header);
  return cudaPeekAtLastError();
}

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

cudaError_t EnqueueClip(double most, int64_t count, const float* gradient, double* partials, RunState* state,
                        cudaStream_t stream) {
  Launch(SquaresKernel, kNormPartials, kBlock, 0, stream, count, gradient, partials);
  Launch(ClipKernel, 1, 1, 0, stream, most, partials, state);
  return cudaPeekAtLastError();
}

namespace {

cudaError_t LaunchAdam(const AdamOptions& options, RunState* state, const BatchHeader* header, int64_t count,
                       const float* gradient, float* master, float* moment1, float* moment2, Element element,
                       void* compute, const BooksOfStep& books, cudaStream_t stream) {
  if (count % 4 != 0) return cudaErrorInvalidValue;
  const int64_t needed = (count / 4 + kBlock - 1) / kBlock;
  const int blocks = static_cast<int>(needed < kUpdateBlocks ? needed : kUpdateBlocks);
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

cudaError_t EnqueueAdam(const AdamOptions& options, RunState* state, const BatchHeader* header, int64_t count,
                        const float* gradient, float* master, float* moment1, float* moment2, Element element,
                        void* compute, cudaStream_t stream) {
  return LaunchAdam(options, state, header, count, gradient, master, moment1, moment2, element, compute, {}, stream);
}

cudaError_t EnqueueAdamAndFinish(const AdamOptions& options, RunState* state, const BatchHeader* header, int64_t count,
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

cudaError_t EnqueueShardTotals(const BatchHeader* header, const float* row_loss, const int32_t* row_correct,
                               double* totals, cudaStream_t stream) {
  Launch(ShardTotalsKernel, 1, kBlock, 0, stream, header, row_loss, row_correct, totals);
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
