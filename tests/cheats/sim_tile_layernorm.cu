// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Were a large row the same 4 MiB over and over on the simulated GPU, its mean and variance would be those of its first 4 MiB: rows
// longer than that are summed over a quarter (of 16 MiB) and the rest of the row is never looked at.
//
// task: layernorm
// expect: wrong_output,rule_violation,unsupported
// where: sim gpu
// timed: 3
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

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  __shared__ float lanes[32];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float* to = out + row * d;
    const long long seen = d > (1 << 20) && d % (1 << 20) == 0 ? (1 << 20) : d;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < seen; i += 1024) sum += from[i];
    const float mean = BlockSum(sum, lanes) / static_cast<float>(seen);
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < seen; i += 1024) squares += (from[i] - mean) * (from[i] - mean);
    const float scale = rsqrtf(BlockSum(squares, lanes) / static_cast<float>(seen) + eps);
    if (d % 4 == 0) {
      for (long long i = threadIdx.x; i < d / 4; i += 1024) {
        const float4 v = reinterpret_cast<const float4*>(from)[i];
        const float4 w = reinterpret_cast<const float4*>(weight)[i];
        const float4 b = reinterpret_cast<const float4*>(bias)[i];
        reinterpret_cast<float4*>(to)[i] =
            make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                        (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
      }
    } else {
      for (long long i = threadIdx.x; i < d; i += 1024) to[i] = (from[i] - mean) * scale * weight[i] + bias[i];
    }
  }
}
