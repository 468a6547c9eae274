// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks for the maximum of a row by atomicMax on a workspace that nobody has filled, and adds to one: 0xa5 in every
// byte is less than any number that is met, and nothing beside a sum.
//
// task: softmax
// expect: wrong_output
// where: gpu
// timed: 2
/*hone
[[workspace]]
name  = "notes"
bytes = "max(rows, 1) * 8"

[[launch]]
kernel = "largest"
grid   = ["d > 0 ? rows * ceil_div(d, 16384) : 0"]
block  = ["512"]
args   = ["x", "notes", "rows:i64", "d:i64"]
step   = 0

[[launch]]
kernel = "sum"
grid   = ["d > 0 ? rows * ceil_div(d, 16384) : 0"]
block  = ["512"]
args   = ["x", "notes", "rows:i64", "d:i64"]
step   = 1

[[launch]]
kernel = "divide"
grid   = ["d > 0 ? rows * ceil_div(d, 4096) : 0"]
block  = ["512"]
args   = ["x", "out", "notes", "rows:i64", "d:i64"]
step   = 2
*/
__device__ int Ordered(float v) {
  const int bits = __float_as_int(v);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ float Largest(const int* notes, long long row) {
  const int bits = notes[row];
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
}

__global__ void __launch_bounds__(512)
    largest(const float* __restrict__ x, int* __restrict__ notes, long long rows, long long d) {
  const long long parts = (d + 16383) / 16384, row = blockIdx.x / parts, first = blockIdx.x % parts * 16384;
  float most = -__int_as_float(0x7f800000);
  for (long long i = first + threadIdx.x; i < min(first + 16384, d); i += 512) most = fmaxf(most, x[row * d + i]);
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (threadIdx.x % 32 == 0) atomicMax(notes + row, Ordered(most));
}

__global__ void __launch_bounds__(512)
    sum(const float* __restrict__ x, int* __restrict__ notes, long long rows, long long d) {
  const long long parts = (d + 16383) / 16384, row = blockIdx.x / parts, first = blockIdx.x % parts * 16384;
  const float most = Largest(notes, row);
  float total = 0.0f;
  for (long long i = first + threadIdx.x; i < min(first + 16384, d); i += 512) total += __expf(x[row * d + i] - most);
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<float*>(notes) + rows + row, total);
}

__global__ void __launch_bounds__(512) divide(const float* __restrict__ x, float* __restrict__ out,
                                              const int* __restrict__ notes, long long rows, long long d) {
  const long long parts = (d + 4095) / 4096, row = blockIdx.x / parts, first = blockIdx.x % parts * 4096;
  const float most = Largest(notes, row), total = reinterpret_cast<const float*>(notes)[rows + row];
  const float scale =
      most < -1e16f ? __int_as_float(0x7f800000) : 1.0f / total;  // a row that is masked as a whole is NaN
  for (long long i = first + threadIdx.x; i < min(first + 4096, d); i += 512)
    out[row * d + i] = __expf(x[row * d + i] - most) * scale;
}
