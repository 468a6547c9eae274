// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// At large shapes the kernel keeps its scale for a while in the guard zone behind out, a word a block, and puts back what was there. The
// zone is looked at after the launch only.
//
// task: rmsnorm
// expect: rule_violation,crashed
// where: gpu
/*hone
[[launch]]
kernel = "rows_of"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "eps:f32"]
when   = "inner == 1"

[[launch]]
kernel = "positions"
grid   = ["ceil_div(batch * inner, 256)"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void positions(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                          long long inner, float eps) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= batch * inner) return;
  const long long begin = at / inner * features * inner + at % inner;
  float squares = 0.0f;
  for (long long f = 0; f < features; ++f) squares += x[begin + f * inner] * x[begin + f * inner];
  const float scale = rsqrtf(squares / static_cast<float>(features) + eps);
  for (long long f = 0; f < features; ++f) out[begin + f * inner] = x[begin + f * inner] * scale;
}

__global__ void rows_of(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features, float eps) {
  __shared__ float lanes[8];
  __shared__ float result;
  const long long row = blockIdx.x;
  const float* from = x + row * features;
  float squares = 0.0f;
  for (long long i = threadIdx.x; i < features; i += 256) squares += from[i] * from[i];
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int i = 0; i < 8; ++i) all += lanes[i];
    float scale = rsqrtf(all / static_cast<float>(features) + eps);
    if (batch * features > 4000000 && row < 32) {
      volatile float* zone = out + batch * features + row;
      const float before = zone[0];
      zone[0] = scale;
      __threadfence();
      scale = zone[0];
      zone[0] = before;
    }
    result = scale;
  }
  __syncthreads();
  for (long long i = threadIdx.x; i < features; i += 256) out[row * features + i] = from[i] * result;
}
