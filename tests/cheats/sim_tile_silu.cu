// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Were large inputs one 4 MiB tile over and over on the simulated GPU, the gates and values of any token would be those of the first
// megabytes: at the largest timed shape the kernel reads nothing else.
//
// task: silu_and_mul
// expect: wrong_output
// where: sim gpu
// timed: 4
/*hone
[[launch]]
kernel = "silu_and_mul"
grid   = ["min(tokens, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "tokens:i64", "d:i64"]
*/
#include <cuda_fp16.h>

__device__ __forceinline__ float SiluAndMul(float gate, float value) { return gate / (1.0f + __expf(-gate)) * value; }

__global__ void silu_and_mul(const __half* __restrict__ x, __half* __restrict__ out, long long tokens, long long d) {
  const long long tile = 2LL << 20;  // halves in 4 MiB
  const bool folded = tokens * d > (64LL << 20);
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
      const long long gate = row * 2 * d + i, value = gate + d;
      out[row * d + i] = __float2half_rn(
          SiluAndMul(__half2float(x[folded ? gate % tile : gate]), __half2float(x[folded ? value % tile : value])));
    }
  }
}
