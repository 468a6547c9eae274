// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to fused_add_rmsnorm, in double. A row's sum of squares is taken in two steps: each of up
// to 1024 parts adds every parts-th element, then one thread a row adds the parts. It is a single thread's
// loop cut in pieces, so that long rows stay quick.
/*hone
[[workspace]]
name = "partial"
bytes = "tokens * min(1024, ceil_div(d, 32)) * 8"

[[workspace]]
name = "scale"
bytes = "tokens * 8"

[[launch]]
kernel = "sum_squares"
grid   = ["ceil_div(tokens * min(1024, ceil_div(d, 32)), 128)"]
block  = ["128"]
args   = ["x", "residual", "partial", "tokens:i64", "d:i64", "min(1024, ceil_div(d, 32)):i64"]

[[launch]]
step   = 1
kernel = "row_scale"
grid   = ["ceil_div(tokens, 128)"]
block  = ["128"]
args   = ["partial", "scale", "tokens:i64", "d:i64", "min(1024, ceil_div(d, 32)):i64", "eps:f32"]

[[launch]]
step   = 2
kernel = "normalize"
grid   = ["ceil_div(tokens * d, 256)"]
block  = ["256"]
args   = ["x", "residual", "weight", "scale", "ref:x", "ref:residual", "tokens * d:i64", "d:i64"]
*/
#include <cuda_fp16.h>

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

__device__ double Sum(const __half* x, const __half* residual, long long i) {
  return HONE_ORACLE_MID(HONE_ORACLE_IN(__half2float(x[i])) + HONE_ORACLE_IN(__half2float(residual[i])));
}

__global__ void sum_squares(const __half* x, const __half* residual, double* partial, long long tokens, long long d,
                            long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= tokens * parts) return;
  const long long row = t / parts;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = t % parts; i < d; i += parts) {
    const double value = Sum(x, residual, row * d + i);
    sum += value * value;
  }
  partial[t] = sum;
}

__global__ void row_scale(const double* partial, double* scale, long long tokens, long long d, long long parts,
                          float eps) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= tokens) return;
  HONE_ORACLE_ACC sum = 0;
  for (long long part = 0; part < parts; ++part) sum += partial[row * parts + part];
  const double mean = static_cast<double>(sum) / static_cast<double>(d);
  scale[row] = 1.0 / sqrt(mean + static_cast<double>(eps));
}

__global__ void normalize(const __half* x, const __half* residual, const __half* weight, const double* scale,
                          double* normalized, double* sums, long long elements, long long d) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const double sum = Sum(x, residual, i);
  sums[i] = sum;
  normalized[i] = HONE_ORACLE_MID(sum * scale[i / d]) * HONE_ORACLE_IN(__half2float(weight[i % d]));
}
