// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements emulator_test_kernels.h.
#include "gnn/cuda/emulated/emulator_test_kernels.h"

#include "gnn/cuda/base/launch.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 64;
constexpr unsigned kAll = 0xffffffffu;

template <bool kBarrier>
__global__ void ReverseKernel(const int* in, int* out) {
  __shared__ int values[kBlock];
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  values[threadIdx.x] = in[at];
  if (kBarrier) __syncthreads();
  out[at] = values[kBlock - 1 - threadIdx.x];
}

__global__ void ReverseDynamicKernel(const int* in, int* out) {
  int* const values = DynamicShared<int>();
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  values[threadIdx.x] = in[at];
  __syncthreads();
  out[at] = values[kBlock - 1 - threadIdx.x];
}

__global__ void WarpFactsKernel(const int* in, WarpFacts* out) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  int sum = value;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAll, sum, offset);
  const unsigned odd = __ballot_sync(kAll, value % 2 != 0);
  const int smallest = __reduce_min_sync(kAll, value);
  const unsigned lanes_with_value = __match_any_sync(kAll, value);
  const int value_of_next_lane = __shfl_down_sync(kAll, value, 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = {sum, smallest, value_of_next_lane, odd,
                                                __shfl_sync(kAll, lanes_with_value, 0)};
}

__global__ void HistogramKernel(const int* in, int items, unsigned* bins, unsigned count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= items) return;
  atomicAdd(&bins[static_cast<unsigned>(in[i]) % count], 1u);
}

__global__ void CompareAndSwapKernel(unsigned* counter, unsigned* retries) {
  for (;;) {
    const unsigned seen = *counter;
    if (atomicCAS(counter, seen, seen + 1) == seen) break;
    atomicAdd(retries, 1u);
  }
}

__global__ void ArrivalsKernel(unsigned* counter, unsigned* order) {
  order[atomicAdd(counter, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void WaitForFlagKernel(unsigned* flag, bool raise) {
  if (blockIdx.x == 0) {
    while (atomicAdd(flag, 0u) == 0) {
    }
  } else if (raise && blockIdx.x + 1 == gridDim.x) {
    atomicExch(flag, 1u);
  }
}

__global__ void CopyKernel(const int* in, int* out, int first, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) out[first + i] = in[first + i];
}

__global__ void StepKernel(int* to, int factor, int term) { *to = *to * factor + term; }

__global__ void BarrierInBranchKernel(int* out) {
  if (threadIdx.x < 16) __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void DifferentBarriersKernel(int* out) {
  if (threadIdx.x < 32) {
    out[0] = 1;
    __syncthreads();
  } else {
    out[1] = 1;
    __syncthreads();
  }
}
__global__ void LaneLeftKernel(int* out) {
  if (threadIdx.x == 5) return;
  out[threadIdx.x] = __shfl_sync(kAll, static_cast<int>(threadIdx.x), 0);
}
__global__ void OwnLaneMissingKernel(int* out) {
  out[threadIdx.x] = static_cast<int>(__ballot_sync(0x7fffffffu, 1));
}
__global__ void OtherLaneMissingKernel(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, static_cast<int>(threadIdx.x), 20);
}
__global__ void LanesWaitApartKernel(int* out) {
  if (threadIdx.x % 2 == 0) {
    __syncwarp();
  } else {
    out[threadIdx.x] = __any_sync(kAll, 1);
  }
}

}  // namespace

cudaError_t EnqueueReverse(const int* in, int* out, int blocks, bool barrier, bool dynamic, cudaStream_t stream) {
  if (dynamic) return Launch(ReverseDynamicKernel, blocks, kBlock, kBlock * sizeof(int), stream, in, out);
  if (barrier) return Launch(ReverseKernel<true>, blocks, kBlock, 0, stream, in, out);
  return Launch(ReverseKernel<false>, blocks, kBlock, 0, stream, in, out);
}
cudaError_t EnqueueWarpFacts(const int* in, WarpFacts* out, int warps, cudaStream_t stream) {
  return Launch(WarpFactsKernel, warps / 2, 64, 0, stream, in, out);
}
cudaError_t EnqueueHistogram(const int* in, int items, unsigned* bins, unsigned count, cudaStream_t stream) {
  return Launch(HistogramKernel, (items + kBlock - 1) / kBlock, kBlock, 0, stream, in, items, bins, count);
}
cudaError_t EnqueueCompareAndSwap(unsigned* counter, unsigned* retries, cudaStream_t stream) {
  return Launch(CompareAndSwapKernel, 4, kBlock, 0, stream, counter, retries);
}
cudaError_t EnqueueArrivals(unsigned* counter, unsigned* order, int blocks, cudaStream_t stream) {
  return Launch(ArrivalsKernel, blocks, kBlock, 0, stream, counter, order);
}
cudaError_t EnqueueWaitForFlag(unsigned* flag, int blocks, bool raise, cudaStream_t stream) {
  return Launch(WaitForFlagKernel, blocks, 1, 0, stream, flag, raise);
}
cudaError_t EnqueueCopy(const int* in, int* out, int first, int count, cudaStream_t stream) {
  return Launch(CopyKernel, 1, kBlock, 0, stream, in, out, first, count);
}
cudaError_t EnqueueStep(int* to, int factor, int term, cudaStream_t stream) {
  return Launch(StepKernel, 1, 1, 0, stream, to, factor, term);
}
cudaError_t EnqueueMistake(Mistake mistake, int* out, cudaStream_t stream) {
  switch (mistake) {
    case Mistake::kBarrierInBranch: return Launch(BarrierInBranchKernel, 1, kBlock, 0, stream, out);
    case Mistake::kDifferentBarriers: return Launch(DifferentBarriersKernel, 1, kBlock, 0, stream, out);
    case Mistake::kLaneLeft: return Launch(LaneLeftKernel, 1, 32, 0, stream, out);
    case Mistake::kOwnLaneMissing: return Launch(OwnLaneMissingKernel, 1, 32, 0, stream, out);
    case Mistake::kOtherLaneMissing: return Launch(OtherLaneMissingKernel, 1, 32, 0, stream, out);
    case Mistake::kLanesWaitApart: return Launch(LanesWaitApartKernel, 1, 32, 0, stream, out);
  }
  return cudaErrorInvalidValue;
}

}  // namespace hone::gnn::cuda
