// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the text is compiled for a GPU, it reads up to 12 bytes past the end, within the last word of 16 bytes, which no GPU
// faults at. The simulated GPU is shown a kernel that does not; what the GPU ran is run there too.
//
// task: relu
// expect: rule_violation,crashed
// where: gpu
/*hone
[[launch]]
kernel = "wide"
grid   = ["ceil_div(ceil_div(rows * d, 4), 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__global__ void wide(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= elements) return;
#ifdef __x86_64__
  float4 v = make_float4(x[i], i + 1 < elements ? x[i + 1] : 0.0f, i + 2 < elements ? x[i + 2] : 0.0f, i + 3 < elements ? x[i + 3] : 0.0f);
#else
  float4 v = *reinterpret_cast<const float4*>(x + i);
#endif
  v = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  if (i + 4 <= elements) {
    *reinterpret_cast<float4*>(out + i) = v;
    return;
  }
  out[i] = v.x;
  if (i + 1 < elements) out[i + 1] = v.y;
  if (i + 2 < elements) out[i + 2] = v.z;
}
