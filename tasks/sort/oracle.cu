// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The residuals of a candidate's order: one thread for each of its numbers, and whole numbers that count how often a place is named. The numbers
// themselves are not sorted here.
/*hone
[[workspace]]
name  = "named"
bytes = "rows * d * 4"

[[launch]]
kernel = "clear"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
args   = ["named", "rows * d:i64"]

[[launch]]
step   = 1
kernel = "count"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
args   = ["ids", "named", "rows * d:i64", "d:i64"]

[[launch]]
step   = 2
kernel = "residuals"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
args   = ["x", "values", "ids", "named", "ref:order", "ref:membership", "ref:once", "rows * d:i64", "d:i64"]
*/

__global__ void clear(int* named, long long count) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < count) named[n] = 0;
}

__global__ void count(const int* ids, int* named, long long count, long long d) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < count && ids[n] >= 0 && ids[n] < d) atomicAdd(named + n / d * d + ids[n], 1);
}

// A comparison with NaN is false, so that NaN among the values is an error of its order and of its place.
__global__ void residuals(const float* x, const float* values, const int* ids, const int* named, double* order, double* membership,
                          double* once, long long count, long long d) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long row = n / d * d;
  order[n] = n == row || values[n] >= values[n - 1] ? 0.0 : 1.0;
  membership[n] = ids[n] >= 0 && ids[n] < d && x[row + ids[n]] == values[n] ? 0.0 : 1.0;
  once[n] = named[n] == 1 ? 0.0 : 1.0;
}
