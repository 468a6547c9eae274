// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread an element.
/*hone
[[launch]]
kernel = "cache_write"
grid   = ["ceil_div(tokens * d, 256)"]
block  = 256
args   = ["key", "slot", "cache", "tokens * d:i64", "d:i64"]
*/
#include <cuda_fp16.h>

extern "C" __global__ void cache_write(const __half* key, const long long* slot, __half* cache, long long n, long long d) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long row = slot[i / d];
  if (row >= 0) cache[row * d + i % d] = key[i];
}
