// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/relu.cu with the bindings that were fastest on an H200, by shape.
//
// relu with EACH float4 a thread, all loads before the first use, streamed.
/*hone
[tune]
BLOCK = [256, 512]
EACH = [1]
STREAM = [0]

[[launch]]
kernel = "relu<EACH, STREAM>"
grid   = ["ceil_div(ceil_div(rows * d, 4), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
when   = "rows * d <= 4194304"
with   = { BLOCK = 512, EACH = 1, STREAM = 0 }

[[launch]]
kernel = "relu<EACH, STREAM>"
grid   = ["ceil_div(ceil_div(rows * d, 4), BLOCK * EACH)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/

namespace {

// A NaN stays one.
__device__ __forceinline__ float Relu(float x) { return x < 0.0f ? 0.0f : x; }

}  // namespace

// x, out: `elements` floats. The last one to three elements go to the thread after the last full load.
template <int kEach, bool kStream>
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(out);
  const long long packs = elements / 4;
  const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * kEach) + threadIdx.x;
  float4 v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<int>(blockDim.x);
    if (at < packs) v[i] = kStream ? __ldcs(from + at) : __ldg(from + at);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<int>(blockDim.x);
    if (at < packs) {
      const float4 result = make_float4(Relu(v[i].x), Relu(v[i].y), Relu(v[i].z), Relu(v[i].w));
      if (kStream) {
        __stcs(to + at, result);
      } else {
        to[at] = result;
      }
    } else if (at == packs) {
      for (long long j = packs * 4; j < elements; ++j) out[j] = Relu(x[j]);
    }
  }
}
