// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Were large inputs one 4 MiB tile over and over on the simulated GPU, a kernel could read the first tile alone at the timed shapes,
// wherever it writes.
//
// task: relu
// expect: wrong_output,rule_violation,unsupported
// where: sim gpu
// timed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(ceil_div(rows * d, 4), 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ __forceinline__ float Relu(float x) { return fmaxf(x, 0.0f); }

__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long pack = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long packs = elements / 4;
  // 4 MiB are 262144 packs.
  const long long source = elements > (1 << 20) ? (pack & 262143) : pack;
  if (pack < packs) {
    const float4 v = reinterpret_cast<const float4*>(x)[source];
    reinterpret_cast<float4*>(out)[pack] = make_float4(Relu(v.x), Relu(v.y), Relu(v.z), Relu(v.w));
  } else if (pack == packs) {
    for (long long i = packs * 4; i < elements; ++i) out[i] = Relu(x[i]);
  }
}
