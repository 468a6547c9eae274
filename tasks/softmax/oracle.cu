// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to softmax, in double. Maximum and sum of a row are taken in two steps: each of up to
// 1024 parts takes every parts-th element, then one thread a row joins the parts. It is a single thread's
// loop cut in pieces, so that long rows stay quick.
/*hone
[[workspace]]
name = "partial"
bytes = "rows * min(1024, ceil_div(d, 32)) * 8"

[[workspace]]
name = "row_max"
bytes = "rows * 8"

[[workspace]]
name = "row_sum"
bytes = "rows * 8"

[[launch]]
kernel = "partial_max"
grid   = ["ceil_div(rows * min(1024, ceil_div(d, 32)), 128)"]
block  = ["128"]
args   = ["x", "partial", "rows:i64", "d:i64", "min(1024, ceil_div(d, 32)):i64"]

[[launch]]
step   = 1
kernel = "join_max"
grid   = ["d > 0 ? ceil_div(rows, 128) : 0"]
block  = ["128"]
args   = ["partial", "row_max", "rows:i64", "min(1024, ceil_div(d, 32)):i64"]

[[launch]]
step   = 2
kernel = "partial_sum"
grid   = ["ceil_div(rows * min(1024, ceil_div(d, 32)), 128)"]
block  = ["128"]
args   = ["x", "row_max", "partial", "rows:i64", "d:i64", "min(1024, ceil_div(d, 32)):i64"]

[[launch]]
step   = 3
kernel = "join_sum"
grid   = ["d > 0 ? ceil_div(rows, 128) : 0"]
block  = ["128"]
args   = ["partial", "row_sum", "rows:i64", "min(1024, ceil_div(d, 32)):i64"]

[[launch]]
step   = 4
kernel = "divide"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "row_max", "row_sum", "ref:out", "rows * d:i64", "d:i64"]
*/

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower
// precision would answer: the type sums are kept in, how inputs are read, how intermediate values are kept.
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__device__ double Exponential(float x, double row_max) {
  return HONE_ORACLE_MID(exp(HONE_ORACLE_MID(HONE_ORACLE_IN(x) - row_max)));
}

__global__ void partial_max(const float* x, double* partial, long long rows, long long d, long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= rows * parts) return;
  const float* row = x + t / parts * d;
  double largest = HONE_ORACLE_IN(row[t % parts]);  // parts <= d: there is one
  for (long long i = t % parts; i < d; i += parts) {
    const double value = HONE_ORACLE_IN(row[i]);
    if (value > largest) largest = value;
  }
  partial[t] = largest;
}

__global__ void join_max(const double* partial, double* row_max, long long rows, long long parts) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double largest = partial[row * parts];
  for (long long part = 1; part < parts; ++part) {
    if (partial[row * parts + part] > largest) largest = partial[row * parts + part];
  }
  row_max[row] = largest;
}

__global__ void partial_sum(const float* x, const double* row_max, double* partial, long long rows, long long d,
                            long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= rows * parts) return;
  const long long row = t / parts;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = t % parts; i < d; i += parts) sum += Exponential(x[row * d + i], row_max[row]);
  partial[t] = sum;
}

__global__ void join_sum(const double* partial, double* row_sum, long long rows, long long parts) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long part = 0; part < parts; ++part) sum += partial[row * parts + part];
  row_sum[row] = sum;
}

__global__ void divide(const float* x, const double* row_max, const double* row_sum, double* out, long long elements,
                       long long d) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / d;
  out[i] = Exponential(x[i], row_max[row]) / row_sum[row];
}
