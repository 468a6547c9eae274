// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block per position, reduced by shuffles and one shared value per warp.
//
// task: rmsnorm
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "rmsnorm"
grid   = ["batch * inner"]
block  = ["64"]
args   = ["x", "out", "features:i64", "inner:i64", "eps:f32"]
*/
__global__ void rmsnorm(const float* x, float* out, long long features, long long inner, float eps) {
  __shared__ float parts[2];
  const long long first = blockIdx.x / inner * features * inner + blockIdx.x % inner;
  float squares = 0.0f;
  for (long long f = threadIdx.x; f < features; f += 64) squares += x[first + f * inner] * x[first + f * inner];
  for (int k = 16; k > 0; k /= 2) squares += __shfl_down_sync(0xffffffffu, squares, k);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
  __syncthreads();
  const float scale = rsqrtf((parts[0] + parts[1]) / static_cast<float>(features) + eps);
  for (long long f = threadIdx.x; f < features; f += 64) out[first + f * inner] = x[first + f * inner] * scale;
}
