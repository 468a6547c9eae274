// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Four kernels in a chain of dependent launches take a quarter of the rows each and wait for nothing. None reads what another
// writes; the last one could be over before the first. Outputs are looked at right behind the end of the interval.
//
// task: softmax
// expect: rule_violation,wrong_output,no_gain
// at_most: 1.05
// where: gpu
/*hone
[[launch]]
step   = 0
kernel = "quarter<0>"
grid   = ["d > 0 ? ceil_div(rows, 4) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]

[[launch]]
step   = 1
kernel = "quarter<1>"
grid   = ["d > 0 ? ceil_div(rows, 4) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
pdl    = true

[[launch]]
step   = 2
kernel = "quarter<2>"
grid   = ["d > 0 ? ceil_div(rows, 4) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
pdl    = true

[[launch]]
step   = 3
kernel = "quarter<3>"
grid   = ["d > 0 ? ceil_div(rows, 4) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
pdl    = true
*/
template <int kQuarter>
__global__ void __launch_bounds__(256) quarter(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  cudaTriggerProgrammaticLaunchCompletion();
  __shared__ float parts[8];
  const long long row = blockIdx.x * 4LL + kQuarter;
  if (row >= rows) return;
  const float* from = x + row * d;
  const auto all = [&](float v, auto join) {
    for (int offset = 16; offset > 0; offset /= 2) v = join(v, __shfl_xor_sync(0xffffffffu, v, offset));
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int i = 1; i < 8; ++i) v = join(v, parts[i]);
    return v;
  };
  float top = -INFINITY, sum = 0.0f;
  for (long long i = threadIdx.x; i < d; i += 256) top = fmaxf(top, from[i]);
  top = all(top, [](float a, float b) { return fmaxf(a, b); });
  const float base = top == -INFINITY ? 0.0f : top;
  for (long long i = threadIdx.x; i < d; i += 256) sum += __expf(from[i] - base);
  sum = all(sum, [](float a, float b) { return a + b; });
  for (long long i = threadIdx.x; i < d; i += 256) out[row * d + i] = __expf(from[i] - base) / sum;
}
