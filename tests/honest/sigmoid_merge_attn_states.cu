// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Another formula: the weight is a logistic function of the difference, the new log-sum-exp is the greater one plus log1p of an exponential.
// Both parts empty are seen by their sum being -inf.
//
// task: merge_attn_states
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "merge"
grid   = ["min(tokens * heads, 2147483647)"]
block  = ["64"]
args   = ["v_a", "s_a", "v_b", "s_b", "v_out", "s_out", "dim:i64", "tokens * heads:i64"]
*/
#include <cuda_fp16.h>

__global__ void merge(const __half* __restrict__ v_a, const float* __restrict__ s_a, const __half* __restrict__ v_b,
                      const float* __restrict__ s_b, __half* __restrict__ v_out, float* __restrict__ s_out, long long dim,
                      long long pairs) {
  for (long long pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const float a = s_a[pair], b = s_b[pair], infinity = __int_as_float(0x7f800000);
    const bool no_a = a == -infinity, no_b = b == -infinity;
    const float high = fmaxf(a, b), gap = no_a || no_b ? infinity : fabsf(a - b);
    const float tail = expf(-gap);                 // 0 where one is empty
    const float heavy = 1.0f / (1.0f + tail), light = tail / (1.0f + tail);
    const float w_a = no_a ? 0.0f : a >= b || no_b ? heavy : light, w_b = no_b ? 0.0f : a >= b && !no_a ? light : heavy;
    for (long long i = threadIdx.x; i < dim; i += blockDim.x) {
      const float left = w_a * __half2float(v_a[pair * dim + i]), right = w_b * __half2float(v_b[pair * dim + i]);
      v_out[pair * dim + i] = __float2half_rn(left + right);
    }
    if (threadIdx.x == 0) s_out[pair] = no_a && no_b ? -infinity : high + log1pf(tail);
  }
}
