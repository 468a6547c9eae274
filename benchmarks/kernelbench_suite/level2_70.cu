// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// A linear layer, and its result plus twice the sigmoid of it: the product and its bias by the library, into the output; what follows in place, four elements a thread.
/*hone
[[call]]
step = 0
op   = "matmul"
a    = "x"
b    = "gemm_weight"
out  = "out"
m    = "batch_size"
n    = "hidden_size"
k    = "input_size"
transpose_b = true
bias = "gemm_bias"

[[launch]]
step   = 1
kernel = "epilogue"
grid   = ["ceil_div(batch_size * hidden_size, 1024)"]
block  = ["256"]
args   = ["out", "batch_size * hidden_size:i64", "hidden_size:i64"]
*/
__device__ __forceinline__ float value(float v) {
  return v + 2.0f / (1.0f + __expf(-v));
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
