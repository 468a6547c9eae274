// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thread keeps its part of a long row, up to 16 KiB, in local memory. It is right; did local memory cost nothing on the simulated
// GPU, two of three passes over memory would be out of the modelled time.
//
// task: layernorm
// expect: no_gain
// where: sim
// timed: 3
// by: sim_free_local_fused
/*hone
[[launch]]
kernel = "layernorm"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
*/
__device__ __forceinline__ float BlockSum(float value, float* lanes) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
  __syncthreads();
  value = lanes[threadIdx.x % 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  return value;
}

constexpr int kKept = 2048;  // pairs

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float* to = out + row * d;
    float sum = 0.0f, squares = 0.0f;
    if (d % 2 == 0 && d / 2 <= 1024LL * kKept) {
      float2 kept[kKept];
      const int mine = static_cast<int>((d / 2 - threadIdx.x + 1023) / 1024);
      for (int i = 0; i < mine; ++i) {
        kept[i] = reinterpret_cast<const float2*>(from)[threadIdx.x + 1024LL * i];
        sum += kept[i].x + kept[i].y;
      }
      const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
      for (int i = 0; i < mine; ++i) {
        const float2 v = kept[i];
        squares += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean);
      }
      const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
      for (int i = 0; i < mine; ++i) {
        const long long at = threadIdx.x + 1024LL * i;
        const float2 v = kept[i], w = reinterpret_cast<const float2*>(weight)[at], b = reinterpret_cast<const float2*>(bias)[at];
        reinterpret_cast<float2*>(to)[at] = make_float2((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y);
      }
      continue;
    }
    for (long long i = threadIdx.x; i < d; i += 1024) sum += from[i];
    const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
    for (long long i = threadIdx.x; i < d; i += 1024) squares += (from[i] - mean) * (from[i] - mean);
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
    for (long long i = threadIdx.x; i < d; i += 1024) to[i] = (from[i] - mean) * scale * weight[i] + bias[i];
  }
}
