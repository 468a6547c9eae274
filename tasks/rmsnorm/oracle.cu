// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to rmsnorm, in double. The sum of squares at a position is taken in two steps: each of up
// to 1024 parts adds every parts-th feature, then one thread a position adds the parts. It is a single
// thread's loop cut in pieces, so that long rows stay quick.
/*hone
[[workspace]]
name = "partial"
bytes = "batch * min(1024, ceil_div(features, 64)) * inner * 8"

[[workspace]]
name = "scale"
bytes = "batch * inner * 8"

[[launch]]
kernel = "sum_squares"
grid   = ["ceil_div(batch * min(1024, ceil_div(features, 64)) * inner, 128)"]
block  = ["128"]
args   = ["x", "partial", "batch:i64", "features:i64", "inner:i64", "min(1024, ceil_div(features, 64)):i64"]

[[launch]]
step   = 1
kernel = "position_scale"
grid   = ["ceil_div(batch * inner, 128)"]
block  = ["128"]
args   = ["partial", "scale", "batch:i64", "features:i64", "inner:i64",
          "min(1024, ceil_div(features, 64)):i64", "eps:f32"]

[[launch]]
step   = 2
kernel = "normalize"
grid   = ["ceil_div(batch * features * inner, 256)"]
block  = ["256"]
args   = ["x", "scale", "ref:out", "batch * features * inner:i64", "features:i64", "inner:i64"]
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

__global__ void sum_squares(const float* x, double* partial, long long batch, long long features, long long inner,
                            long long parts) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= batch * parts * inner) return;
  const long long sample = t / (parts * inner);
  const long long part = t / inner % parts;
  HONE_ORACLE_ACC sum = 0;
  for (long long feature = part; feature < features; feature += parts) {
    const double value = HONE_ORACLE_IN(x[(sample * features + feature) * inner + t % inner]);
    sum += HONE_ORACLE_MID(value * value);
  }
  partial[t] = sum;
}

__global__ void position_scale(const double* partial, double* scale, long long batch, long long features,
                               long long inner, long long parts, float eps) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= batch * inner) return;
  const long long sample = t / inner;
  HONE_ORACLE_ACC sum = 0;
  for (long long part = 0; part < parts; ++part) sum += partial[(sample * parts + part) * inner + t % inner];
  const double mean = static_cast<double>(sum) / static_cast<double>(features);
  scale[t] = HONE_ORACLE_MID(1.0 / sqrt(mean + static_cast<double>(eps)));
}

__global__ void normalize(const float* x, const double* scale, double* out, long long elements, long long features,
                          long long inner) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long sample = i / (features * inner);
  out[i] = HONE_ORACLE_IN(x[i]) * scale[sample * inner + i % inner];
}
