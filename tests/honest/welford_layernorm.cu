// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance in one pass by Welford's recurrence, joined by Chan's formula across threads; another order of operations than any sum.
//
// task: layernorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "layernorm"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "weight", "bias", "out", "rows:i64", "d:i64", "eps:f32"]
*/
struct Moments {
  float n = 0.0f, mean = 0.0f, m2 = 0.0f;
  __device__ void Add(float v) {
    n += 1.0f;
    const float off = v - mean;
    mean += off / n;
    m2 = fmaf(off, v - mean, m2);
  }
  __device__ void Join(float on, float om, float o2) {
    const float all = n + on;
    if (all == 0.0f) return;
    const float off = om - mean, share = on / all;
    mean = fmaf(off, share, mean);
    m2 += o2 + off * off * n * share;
    n = all;
  }
};

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, long long rows, long long d, float eps) {
  __shared__ Moments warps[8];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    Moments mine;
    for (long long i = threadIdx.x; i < d; i += 256) mine.Add(x[row * d + i]);
    for (int offset = 16; offset > 0; offset /= 2) {
      const float n = __shfl_xor_sync(~0u, mine.n, offset), mean = __shfl_xor_sync(~0u, mine.mean, offset);
      mine.Join(n, mean, __shfl_xor_sync(~0u, mine.m2, offset));
    }
    // Lanes joined in mirrored orders differ in the last bit: one of them speaks.
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    Moments all;
    for (const Moments& w : warps) all.Join(w.n, w.mean, w.m2);
    __syncthreads();
    const float scale = rsqrtf(all.m2 / static_cast<float>(d) + eps);
    for (long long i = threadIdx.x; i < d; i += 256) {
      out[row * d + i] = fmaf((x[row * d + i] - all.mean) * scale, weight[i], bias[i]);
    }
  }
}
