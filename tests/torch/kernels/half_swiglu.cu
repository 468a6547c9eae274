// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread an element, in float32.
/*hone
[[launch]]
kernel = "swiglu"
grid   = ["ceil_div(tokens * width, 128)"]
block  = ["128"]
args   = ["gate", "up", "out", "tokens * width:i64"]
*/
__global__ void swiglu(const __half* gate, const __half* up, __half* out, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= n) return;
  const float x = __half2float(gate[i]);
  out[i] = __float2half(x / (1.0f + expf(-x)) * __half2float(up[i]));
}
