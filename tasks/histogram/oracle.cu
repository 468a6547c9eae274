// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to histogram: zeros, then a thread a number adds one. Whole numbers in double are exact in any order.
/*hone
[[launch]]
kernel = "clear"
grid   = ["ceil_div(rows * bins, 128)"]
block  = ["128"]
args   = ["ref:counts", "rows * bins:i64"]

[[launch]]
step   = 1
kernel = "count"
grid   = ["ceil_div(rows * length, 128)"]
block  = ["128"]
args   = ["x", "ref:counts", "rows * length:i64", "length:i64", "bins:i64"]
*/

__global__ void clear(double* counts, long long count) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < count) counts[n] = 0;
}

__global__ void count(const int* x, double* counts, long long numbers, long long length, long long bins) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < numbers) atomicAdd(counts + n / length * bins + x[n], 1.0);
}
