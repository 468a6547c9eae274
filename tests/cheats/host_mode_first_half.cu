// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host function that leaves out half of the work.
//
// task: relu
// expect: wrong_output
// where: gpu
/*hone
mode     = "host"
function = "run"
args     = ["x", "out", "rows * d:i64"]
*/
__global__ void relu(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
}

extern "C" cudaError_t run(const float* x, float* out, long long n, cudaStream_t stream) {
  if (n > 0) relu<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n / 2);
  return cudaGetLastError();
}
