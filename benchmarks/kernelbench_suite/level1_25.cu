// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
// x times its sigmoid: one pass, four elements a thread at a time, around the caches.
/*hone
[[launch]]
kernel = "element"
grid   = ["ceil_div(batch_size * dim, 2048)"]
block  = ["256"]
args   = ["x", "out", "batch_size * dim:i64"]
*/
__device__ __forceinline__ float value(float x) {
  return x / (1.0f + __expf(-x));
}

__global__ void __launch_bounds__(256) element(const float* __restrict__ x, float* __restrict__ out, long long count) {
  const long long first = blockIdx.x * 2048LL + threadIdx.x * 4;
  float4 held[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const long long i = first + k * 1024;
    if (i + 3 < count) held[k] = __ldcs(reinterpret_cast<const float4*>(x + i));
  }
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const long long i = first + k * 1024;
    if (i + 3 < count) {
      const float4 v = held[k];
      __stcs(reinterpret_cast<float4*>(out + i), make_float4(value(v.x), value(v.y), value(v.z), value(v.w)));
    } else {
      for (long long j = i; j < count; ++j) out[j] = value(x[j]);
    }
  }
}
