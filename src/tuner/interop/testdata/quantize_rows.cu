// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Symmetric int8 quantisation with one scale a row, as people write it for serving: an output of small integers beside
// one of floats. For tests of `hone new`.
#include <cuda_runtime.h>
#include <stdint.h>

#include <iostream>

constexpr int kThreads = 256;

__global__ void quantize_rows_kernel(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale,
                                     int rows, int cols) {
  __shared__ float partial[kThreads];
  const int row = blockIdx.x;
  if (row >= rows) return;
  const float* x_row = x + (size_t)row * cols;
  int8_t* q_row = q + (size_t)row * cols;
  float largest = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) largest = fmaxf(largest, fabsf(x_row[i]));
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  const float s = fmaxf(partial[0], 1e-8f) / 127.f;
  if (threadIdx.x == 0) scale[row] = s;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = rintf(x_row[i] / s);
    q_row[i] = static_cast<int8_t>(fminf(fmaxf(v, -127.f), 127.f));
  }
}

void quantize_rows(const float* x, int8_t* q, float* scale, int rows, int cols, cudaStream_t stream) {
  quantize_rows_kernel<<<rows, kThreads, 0, stream>>>(x, q, scale, rows, cols);
  if (cudaGetLastError() != cudaSuccess) std::cerr << "launch failed\n";
}
