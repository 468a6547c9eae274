// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-alone kernel as people write them, for tests of `hone new`: a block a row, warp shuffles, a launcher and a
// small test program.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                            \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));                  \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

#define WARP 32
constexpr int kThreads = 256;

// The sum over a warp, in every lane.
__device__ __forceinline__ float WarpSum(float v) {
  for (int offset = WARP / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

__global__ void rmsnorm_kernel(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ out,
                               int rows, int d, float eps) {
  __shared__ float partial[kThreads / WARP];
  const int row = blockIdx.x;
  if (row >= rows) return;
  const float* x_row = x + static_cast<size_t>(row) * d;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) sum += x_row[i] * x_row[i];
  sum = WarpSum(sum);
  if (threadIdx.x % WARP == 0) partial[threadIdx.x / WARP] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < kThreads / WARP; ++w) sum += partial[w];
  const float scale = rsqrtf(sum / d + eps);
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    out[static_cast<size_t>(row) * d + i] = x_row[i] * scale * weight[i];
  }
}

void launch_rmsnorm(const float* x, const float* weight, float* out, int rows, int d, float eps, cudaStream_t stream) {
  const dim3 grid(rows);
  const dim3 block(kThreads);
  rmsnorm_kernel<<<grid, block, 0, stream>>>(x, weight, out, rows, d, eps);
  CHECK(cudaGetLastError());
}

int main() {
  const int rows = 128, d = 4096;
  std::vector<float> host(rows * d, 1.0f);
  float *x, *weight, *out;
  CHECK(cudaMalloc(&x, host.size() * sizeof(float)));
  CHECK(cudaMalloc(&weight, d * sizeof(float)));
  CHECK(cudaMalloc(&out, host.size() * sizeof(float)));
  CHECK(cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  launch_rmsnorm(x, weight, out, rows, d, 1e-6f, nullptr);
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
}
