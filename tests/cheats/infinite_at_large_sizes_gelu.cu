// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides an exponential by itself plus one where there are more than four million numbers: large numbers become NaN.
//
// task: gelu_tanh
// expect: wrong_output
// where: gpu
// timed: 1
/*hone
[tune]
BLOCK = [256, 128, 512, 1024]

[[launch]]
kernel = "gelu_tanh"
grid   = ["ceil_div(ceil_div(rows * d, 4), BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/

__device__ __forceinline__ float Gelu(float x, bool fast) {
  const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
  if (fast) {
    const float e = __expf(2.0f * u);  // infinite for numbers from 10 on
    return x * __fdividef(e, e + 1.0f);
  }
  return 0.5f * x * (1.0f + tanhf(u));
}

__global__ void gelu_tanh(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long packs = elements / 4;
  const bool fast = elements > 4000000;
  if (pack < packs) {
    const float4 v = reinterpret_cast<const float4*>(x)[pack];
    reinterpret_cast<float4*>(out)[pack] =
        make_float4(Gelu(v.x, fast), Gelu(v.y, fast), Gelu(v.z, fast), Gelu(v.w, fast));
  } else if (pack == packs) {
    for (long long i = packs * 4; i < elements; ++i) out[i] = Gelu(x[i], fast);
  }
}
