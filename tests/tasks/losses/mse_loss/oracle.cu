// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted mean of squared differences: 256 partial sums, then one thread joins them.
/*hone
[[workspace]]
name = "partial"
bytes = "256 * 8"

[[launch]]
kernel = "partial_sums"
grid   = 2
block  = 128
args   = ["prediction", "target", "partial", "rows * d:i64"]

[[launch]]
step   = 1
kernel = "join"
grid   = 1
block  = 1
args   = ["partial", "ref:loss", "rows * d:i64"]
*/
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

extern "C" __global__ void partial_sums(const float* prediction, const float* target, double* partial, long long n) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  HONE_ORACLE_ACC sum = 0;
  for (long long i = at; i < n; i += 256) {
    const double difference = HONE_ORACLE_MID(HONE_ORACLE_IN(prediction[i]) - HONE_ORACLE_IN(target[i]));
    sum += difference * difference;
  }
  partial[at] = static_cast<double>(sum);
}

extern "C" __global__ void join(const double* partial, double* loss, long long n) {
  HONE_ORACLE_ACC sum = 0;
  for (int i = 0; i < 256; ++i) sum += partial[i];
  loss[0] = static_cast<double>(sum) / static_cast<double>(n);
}
