// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of rows by atomics, so that no sample of blocks can be compared; where all of them would take more than 10^8 accesses, the
// sums of a row are those of its first 64th.
//
// task: layernorm
// expect: wrong_output,unsupported,no_gain
// where: sim gpu
// timed: 3
/*hone
[[workspace]]
name  = "sums"
bytes = "max(8, rows * 8)"

[[memset]]
target = "sums"
value  = 0
step   = 0

[[launch]]
kernel = "sums_of_rows"
grid   = ["ceil_div(d, 4096)", "min(rows, 65535)"]
block  = ["256"]
args   = ["x", "sums", "rows:i64", "d:i64", "0:i32"]
step   = 1

[[launch]]
kernel = "sums_of_rows"
grid   = ["ceil_div(d, 4096)", "min(rows, 65535)"]
block  = ["256"]
args   = ["x", "sums", "rows:i64", "d:i64", "1:i32"]
step   = 2

[[launch]]
kernel = "normalize"
grid   = ["ceil_div(d, 1024)", "min(rows, 65535)"]
block  = ["256"]
args   = ["x", "weight", "bias", "sums", "out", "rows:i64", "d:i64", "eps:f32"]
step   = 3
*/
__device__ __forceinline__ long long Seen(long long rows, long long d) { return rows * d > (1LL << 25) ? d / 64 : d; }

__global__ void sums_of_rows(const float* __restrict__ x, float* sums, long long rows, long long d, int squares) {
  const long long seen = Seen(rows, d);
  if (blockIdx.x * 4096LL >= seen) return;
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    const float mean = squares ? sums[row * 2] / static_cast<float>(seen) : 0.0f;
    float sum = 0.0f;
    for (long long i = blockIdx.x * 4096LL + threadIdx.x; i < (blockIdx.x + 1) * 4096LL && i < seen; i += 256) {
      const float v = x[row * d + i] - mean;
      sum += squares ? v * v : v;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    __shared__ float warps[8];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < 8; ++i) sum += warps[i];
      atomicAdd(&sums[row * 2 + squares], sum);
    }
    __syncthreads();
  }
}

__global__ void normalize(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          const float* __restrict__ sums, float* __restrict__ out, long long rows, long long d, float eps) {
  const float all = static_cast<float>(Seen(rows, d));
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    const float mean = sums[row * 2] / all, scale = rsqrtf(sums[row * 2 + 1] / all + eps);
    for (long long i = blockIdx.x * 1024LL + threadIdx.x; i < (blockIdx.x + 1) * 1024LL && i < d; i += 256) {
      out[row * d + i] = (x[row * d + i] - mean) * scale * weight[i] + bias[i];
    }
  }
}
