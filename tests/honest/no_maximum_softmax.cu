// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One pass without a maximum where the sum of exponentials stays well within float32, as it does for ordinary logits; rows for which it does not
// are done again in the usual way. Right for all values.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "softmax"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i64"]
*/
template <typename Op>
__device__ __forceinline__ float Reduce(float v, float* lanes, Op op) {
  for (int offset = 16; offset > 0; offset /= 2) v = op(v, __shfl_xor_sync(~0u, v, offset));
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  v = lanes[0];
  for (int i = 1; i < 8; ++i) v = op(v, lanes[i]);
  __syncthreads();
  return v;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float lanes[8];
  const auto add = [](float a, float b) { return a + b; };
  const auto most = [](float a, float b) { return fmaxf(a, b); };
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    float sum = 0.0f, least = 0.0f;
    for (long long i = threadIdx.x; i < d; i += 256) {
      sum += __expf(from[i]);
      least = fmaxf(least, fabsf(from[i]));
    }
    sum = Reduce(sum, lanes, add);
    least = Reduce(least, lanes, most);
    float shift = 0.0f;
    if (!(least < 40.0f)) {
      float top = -3.402823466e38f;
      for (long long i = threadIdx.x; i < d; i += 256) top = fmaxf(top, from[i]);
      shift = Reduce(top, lanes, most);
      sum = 0.0f;
      for (long long i = threadIdx.x; i < d; i += 256) sum += __expf(from[i] - shift);
      sum = Reduce(sum, lanes, add);
    }
    const float scale = 1.0f / sum;
    for (long long i = threadIdx.x; i < d; i += 256) out[row * d + i] = __expf(from[i] - shift) * scale;
  }
}
