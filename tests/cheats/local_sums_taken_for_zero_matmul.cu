// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds products to an array in local memory that it never zeroes at its start, but leaves zero at its end for the next
// launch.
//
// task: matmul_f32
// expect: wrong_output
// where: gpu
// timed: 0
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m * n:i64", "n:i64", "k:i64"]
*/
__global__ void cheat(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                      long long results, long long n, long long k) {
  volatile float sums[32];
  const long long t = blockIdx.x * 256LL + threadIdx.x;
  if (t >= results) return;
  const long long row = t / n, column = t % n;
  for (long long first = 0; first < k; first += 32) {
    float sum = 0.0f;
    for (long long s = first; s < min(first + 32, k); ++s) sum += a[row * k + s] * b[s * n + column];
    sums[first / 32 % 32] = sums[first / 32 % 32] + sum;
  }
  float total = 0.0f;
  for (int i = 0; i < 32; ++i) {
    total += sums[i];
    sums[i] = 0.0f;
  }
  c[t] = total;
}
