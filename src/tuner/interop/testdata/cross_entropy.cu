// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The mean cross entropy of a batch: one number, summed by atomics into memory that the launcher clears. For tests of
// `hone new`.
#include <cuda_runtime.h>

__global__ void cross_entropy_kernel(const float* logits, const int* labels, float* loss, int batch, int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= batch) return;
  const float* x = logits + (long long)row * classes;
  float largest = x[0];
  for (int c = 1; c < classes; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) sum += expf(x[c] - largest);
  const int label = labels[row];
  atomicAdd(loss, (logf(sum) + largest - x[label]) / batch);
}

void cross_entropy(const float* logits, const int* labels, float* loss, int batch, int classes, cudaStream_t stream) {
  cudaMemsetAsync(loss, 0, sizeof(float), stream);
  const int threads = 128;
  const int blocks = (batch + threads - 1) / threads;
  cross_entropy_kernel<<<blocks, threads, 0, stream>>>(logits, labels, loss, batch, classes);
}
