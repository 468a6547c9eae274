// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "rmsnorm"
grid   = ["batch_size"]
block  = ["32"]
args   = ["hidden_states", "weight", "eps:f32", "output"]
*/
__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, float eps, __nv_bfloat16* out) {
  const long long row = static_cast<long long>(blockIdx.x) * 64;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < 64; i += 32) squares += __bfloat162float(x[row + i]) * __bfloat162float(x[row + i]);
  for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
  const float scale = rsqrtf(squares / 64.0f + eps);
  for (int i = threadIdx.x; i < 64; i += 32) {
    out[row + i] = __float2bfloat16(__bfloat162float(x[row + i]) * scale * __bfloat162float(weight[i]));
  }
}
