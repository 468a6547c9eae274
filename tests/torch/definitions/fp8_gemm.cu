// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The definition fp8_gemm.json in CUDA: a thread a result.
/*hone
[[launch]]
kernel = "multiply"
grid   = ["m"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__global__ void multiply(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, __nv_bfloat16* c) {
  float sum = 0.0f;
  for (int i = 0; i < 128; ++i) {
    sum += static_cast<float>(a[blockIdx.x * 128 + i]) * static_cast<float>(b[threadIdx.x * 128 + i]);
  }
  c[blockIdx.x * 128 + threadIdx.x] = __float2bfloat16(sum);
}
