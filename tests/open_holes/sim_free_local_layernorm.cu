// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each thread keeps its part of a long row, up to 16 KiB, in local memory. It is right; but local memory costs nothing on the simulated
// GPU, so that two of three passes over memory are out of the modelled time and would be spills on a GPU.
//
// task: layernorm
// expect: ok
// where: sim gpu
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

constexpr int kKept = 1024;  // packs of four

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  __shared__ float lanes[32];
  float4 kept[kKept];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float* to = out + row * d;
    const bool fits = d % 4 == 0 && d / 4 <= 1024LL * kKept;
    float sum = 0.0f, squares = 0.0f;
    if (fits) {
      const int mine = static_cast<int>((d / 4 - threadIdx.x + 1023) / 1024);
#pragma unroll 4
      for (int i = 0; i < mine; ++i) {
        kept[i] = reinterpret_cast<const float4*>(from)[threadIdx.x + 1024LL * i];
        sum += (kept[i].x + kept[i].y) + (kept[i].z + kept[i].w);
      }
      const float mean = BlockSum(sum, lanes) / static_cast<float>(d);
      for (int i = 0; i < mine; ++i) {
        const float4 v = kept[i];
        squares += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean) + (v.z - mean) * (v.z - mean) +
                   (v.w - mean) * (v.w - mean);
      }
      const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(d) + eps);
      for (int i = 0; i < mine; ++i) {
        const long long at = threadIdx.x + 1024LL * i;
        const float4 v = kept[i], w = reinterpret_cast<const float4*>(weight)[at], b = reinterpret_cast<const float4*>(bias)[at];
        reinterpret_cast<float4*>(to)[at] =
            make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                        (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
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
