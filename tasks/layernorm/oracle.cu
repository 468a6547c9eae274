// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to layernorm, in double: first the mean, then the mean of squared distances from it. Each
// is taken in two steps: each of up to 4096 parts of a row adds every parts-th element, then one thread a row
// joins the parts. It is a single thread's loop cut in pieces, so that long rows stay quick.
/*hone
[[workspace]]
name = "partial"
bytes = "rows * min(4096, ceil_div(d, 32)) * 8"

[[workspace]]
name = "mean"
bytes = "rows * 8"

[[workspace]]
name = "variance"
bytes = "rows * 8"

[[launch]]
kernel = "partial_sum"
grid   = ["ceil_div(rows * min(4096, ceil_div(d, 32)), 128)"]
block  = ["128"]
args   = ["x", "partial", "rows:i64", "d:i64", "min(4096, ceil_div(d, 32)):i64"]

[[launch]]
step   = 1
kernel = "join"
grid   = ["ceil_div(rows, 128)"]
block  = ["128"]
args   = ["partial", "mean", "rows:i64", "d:i64", "min(4096, ceil_div(d, 32)):i64"]

[[launch]]
step   = 2
kernel = "partial_squares"
grid   = ["ceil_div(rows * min(4096, ceil_div(d, 32)), 128)"]
block  = ["128"]
args   = ["x", "mean", "partial", "rows:i64", "d:i64", "min(4096, ceil_div(d, 32)):i64"]

[[launch]]
step   = 3
kernel = "join"
grid   = ["ceil_div(rows, 128)"]
block  = ["128"]
args   = ["partial", "variance", "rows:i64", "d:i64", "min(4096, ceil_div(d, 32)):i64"]

[[launch]]
step   = 4
kernel = "normalize"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "weight", "bias", "mean", "variance", "ref:out", "rows * d:i64", "d:i64", "eps:f32"]
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

__global__ void partial_sum(const float* x, double* partial, long long rows, long long d, long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= rows * parts) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = t % parts; i < d; i += parts) sum += HONE_ORACLE_IN(x[t / parts * d + i]);
  partial[t] = sum;
}

__global__ void partial_squares(const float* x, const double* mean, double* partial, long long rows, long long d,
                                long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= rows * parts) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = t % parts; i < d; i += parts) {
    const double distance = HONE_ORACLE_MID(HONE_ORACLE_IN(x[t / parts * d + i]) - mean[t / parts]);
    sum += distance * distance;
  }
  partial[t] = sum;
}

// The mean over d elements of what `partial` holds the sums of.
__global__ void join(const double* partial, double* result, long long rows, long long d, long long parts) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long part = 0; part < parts; ++part) sum += partial[row * parts + part];
  result[row] = static_cast<double>(sum) / static_cast<double>(d);
}

__global__ void normalize(const float* x, const float* weight, const float* bias, const double* mean,
                          const double* variance, double* out, long long elements, long long d, float eps) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / d;
  const double scale = 1.0 / sqrt(variance[row] + static_cast<double>(eps));
  const double normal = HONE_ORACLE_MID((HONE_ORACLE_IN(x[i]) - mean[row]) * scale);
  out[i] = normal * HONE_ORACLE_IN(weight[i % d]) + HONE_ORACLE_IN(bias[i % d]);
}
