// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes weights relative to the larger of the two.
//
// task: merge_attn_states
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "merge"
grid   = ["ceil_div(tokens * heads * max(dim, 1), 128)"]
block  = ["128"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "tokens * heads:i64", "dim:i64"]
*/
#include <cuda_fp16.h>

__global__ void merge(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b, __half* v_out,
                      float* s_out, long long pairs, long long dim) {
  const long long width = dim > 0 ? dim : 1;
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= pairs * width) return;
  const float a = s_a[i / width], b = s_b[i / width];
  const float top = fmaxf(a, b);
  const bool none = isinf(top) && top < 0.0f;  // two parts without keys
  const float wa = none ? 0.0f : expf(a - top), wb = none ? 0.0f : expf(b - top);
  if (i % width == 0) s_out[i / width] = none ? top : top + logf(wa + wb);
  if (dim > 0) {
    v_out[i] = __float2half_rn((__half2float(v_a[i]) * wa + __half2float(v_b[i]) * wb) / (none ? 1.0f : wa + wb));
  }
}
