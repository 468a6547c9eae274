// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// x times a logistic function of twice the argument: the same as half of one plus tanh, and more exact where tanh is near -1.
//
// task: gelu_tanh
// expect: ok
// where: sim gpu
/*hone
[tune]
BLOCK = [128, 256]

[[launch]]
kernel = "gelu<(BLOCK / 16)>"
grid   = ["max(1, ceil_div(rows * d, BLOCK * 8))"]
block  = ["BLOCK"]
args   = ["struct:Work{x, out, rows * d:i64}"]
*/
struct Work {
  const float* x;
  float* out;
  long long elements;
};

template <int kEach>
__global__ void gelu(Work work) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * kEach + threadIdx.x;
  float kept[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<long long>(blockDim.x);
    kept[i] = at < work.elements ? __ldcs(work.x + at) : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const long long at = first + i * static_cast<long long>(blockDim.x);
    const float x = kept[i], u = 1.5957691216f * x * fmaf(0.044715f * x, x, 1.0f);
    const float e = __expf(-u);
    if (at < work.elements) __stcs(work.out + at, x == 0.0f ? x : x / (1.0f + e));
  }
}
