// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds sums of parts of a row to a workspace that nobody has zeroed: 0xa5 in every byte is a double of -1e-126.
//
// task: layernorm
// expect: wrong_output
// where: gpu
// timed: 3
/*hone
[[workspace]]
name  = "sums"
bytes = "max(rows, 1) * 16"

[[launch]]
kernel = "add"
grid   = ["d > 0 ? rows * ceil_div(d, 65536) : 0"]
block  = ["512"]
args   = ["x", "sums", "d:i64"]
step   = 0

[[launch]]
kernel = "normalize"
grid   = ["d > 0 ? rows * ceil_div(d, 8192) : 0"]
block  = ["512"]
args   = ["x", "weight", "bias", "out", "sums", "d:i64", "eps:f32"]
step   = 1
*/
__global__ void __launch_bounds__(512) add(const float* __restrict__ x, double* __restrict__ sums, long long d) {
  const long long parts = (d + 65535) / 65536, row = blockIdx.x / parts, first = blockIdx.x % parts * 65536;
  const float* from = x + row * d;
  double sum = 0.0, squares = 0.0;
  for (long long i = first + threadIdx.x; i < min(first + 65536, d); i += 512) {
    const double v = from[i];
    sum += v;
    squares += v * v;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums + 2 * row, sum);
    atomicAdd(sums + 2 * row + 1, squares);
  }
}

__global__ void __launch_bounds__(512)
    normalize(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
              float* __restrict__ out, const double* __restrict__ sums, long long d, float eps) {
  const long long parts = (d + 8191) / 8192, row = blockIdx.x / parts, first = blockIdx.x % parts * 8192;
  const double mean = sums[2 * row] / d, difference = sums[2 * row + 1] / d - mean * mean,
               variance = difference < 0.0 ? 0.0 : difference;
  const float scale = static_cast<float>(1.0 / sqrt(variance + eps)), shift = static_cast<float>(mean);
  for (long long i = first + threadIdx.x; i < min(first + 8192, d); i += 512) {
    out[row * d + i] = (x[row * d + i] - shift) * scale * weight[i] + bias[i];
  }
}
