// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cache as it was, then the rows that tokens bring.
/*hone
[[launch]]
kernel = "keep"
grid   = ["ceil_div(slots * d, 128)"]
block  = 128
args   = ["cache", "ref:cache", "slots * d:i64"]

[[launch]]
step   = 1
kernel = "scatter"
grid   = ["ceil_div(tokens * d, 128)"]
block  = 128
args   = ["key", "slot", "ref:cache", "tokens * d:i64", "d:i64"]
*/
#include <cuda_fp16.h>

extern "C" __global__ void keep(const __half* cache, double* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<double>(__half2float(cache[i]));
}

extern "C" __global__ void scatter(const __half* key, const long long* slot, double* out, long long n, long long d) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n || slot[i / d] < 0) return;
  out[slot[i / d] * d + i % d] = static_cast<double>(__half2float(key[i]));
}
