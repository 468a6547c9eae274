// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A histogram with atomics in shared memory first, into bins that the launcher clears. For tests of `hone new`.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const unsigned char* data, unsigned int* bins, int n, int num_bins) {
  extern __shared__ unsigned int local[];
  for (int b = threadIdx.x; b < num_bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&local[data[i] % num_bins], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < num_bins; b += blockDim.x) {
    if (local[b] > 0) atomicAdd(&bins[b], local[b]);
  }
}

void histogram(const unsigned char* data, unsigned int* bins, int n, int num_bins, cudaStream_t stream) {
  cudaMemsetAsync(bins, 0, num_bins * sizeof(unsigned int), stream);
  dim3 block(256);
  dim3 grid((n + block.x * 4 - 1) / (block.x * 4));
  histogram_kernel<<<grid, block, num_bins * sizeof(unsigned int), stream>>>(data, bins, n, num_bins);
}
