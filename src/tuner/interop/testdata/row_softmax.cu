// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A launcher that chooses between two kernels, for tests of `hone new`: float16 in and out, float arithmetic, dynamic
// shared memory, block reductions in a helper.
#include <cuda_fp16.h>
#include <float.h>

template <bool kMax>
__device__ float BlockReduce(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = kMax ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  v = scratch[0];
  __syncthreads();
  return v;
}

// A warp's worth of threads for short rows.
__global__ void softmax_short(const __half* input, __half* output, int n_rows, int n_cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= n_rows) return;
  float largest = -FLT_MAX;
  for (int col = threadIdx.x; col < n_cols; col += 32) largest = fmaxf(largest, __half2float(input[row * n_cols + col]));
  for (int o = 16; o > 0; o /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, o));
  float sum = 0.f;
  for (int col = threadIdx.x; col < n_cols; col += 32) sum += __expf(__half2float(input[row * n_cols + col]) - largest);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
  for (int col = threadIdx.x; col < n_cols; col += 32) {
    output[row * n_cols + col] = __float2half(__expf(__half2float(input[row * n_cols + col]) - largest) / sum);
  }
}

__global__ void softmax_long(const __half* input, __half* output, int n_rows, int n_cols) {
  extern __shared__ float scratch[];
  const __half* in = input + blockIdx.x * n_cols;
  __half* out = output + blockIdx.x * n_cols;
  float largest = -FLT_MAX;
  for (int col = threadIdx.x; col < n_cols; col += blockDim.x) largest = fmaxf(largest, __half2float(in[col]));
  largest = BlockReduce<true>(largest, scratch);
  float sum = 0.f;
  for (int col = threadIdx.x; col < n_cols; col += blockDim.x) sum += __expf(__half2float(in[col]) - largest);
  sum = BlockReduce<false>(sum, scratch);
  for (int col = threadIdx.x; col < n_cols; col += blockDim.x) {
    out[col] = __float2half(__expf(__half2float(in[col]) - largest) / sum);
  }
}

static inline int ceil_of(int a, int b) { return (a + b - 1) / b; }

extern "C" void row_softmax(const __half* input, __half* output, int n_rows, int n_cols, cudaStream_t stream) {
  if (n_cols <= 256) {
    dim3 threads(32, 4);
    softmax_short<<<ceil_of(n_rows, 4), threads, 0, stream>>>(input, output, n_rows, n_cols);
  } else {
    const int threads_long = 256;
    softmax_long<<<n_rows, threads_long, threads_long * sizeof(float), stream>>>(input, output, n_rows, n_cols);
  }
}
