// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// A linear layer, a tenth of its result, and GELU of that: the product and its bias by the library, into the output; what follows in place, four elements a thread.
/*hone
[[call]]
step = 0
op   = "matmul"
a    = "x"
b    = "linear_weight"
out  = "out"
m    = "batch_size"
n    = "output_size"
k    = "input_size"
transpose_b = true
bias = "linear_bias"

[[launch]]
step   = 1
kernel = "epilogue"
grid   = ["ceil_div(batch_size * output_size, 1024)"]
block  = ["256"]
args   = ["out", "batch_size * output_size:i64", "output_size:i64"]
*/
__device__ __forceinline__ float value(float v) {
  v *= 0.1f;
  return 0.5f * v * (1.0f + erff(0.70710678f * v));
}

__global__ void __launch_bounds__(256) epilogue(float* __restrict__ out, long long count, long long width) {
  const long long i = (blockIdx.x * 256LL + threadIdx.x) * 4;
  if (i + 3 < count) {
    float4 v = *reinterpret_cast<float4*>(out + i);
    v.x = value(v.x); v.y = value(v.y); v.z = value(v.z); v.w = value(v.w);
    *reinterpret_cast<float4*>(out + i) = v;
  } else {
    for (long long j = i; j < count; ++j) out[j] = value(out[j]);
  }
}
