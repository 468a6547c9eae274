// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of up to 32,768 numbers have a block each, which goes through its row in stretches. Longer ones are cut into parts
// of that size: a first kernel sums them, and a second adds the sums of the parts before its own to its running sums.
/*hone
[tune]
BLOCK = [256, 512, 1024]

[[workspace]]
name  = "part"
bytes = "rows * ceil_div(length, 32768) * 4"

[[launch]]
kernel = "sum_parts"
grid   = ["length > 32768 ? rows * ceil_div(length, 32768) : 0"]
block  = ["BLOCK"]
args   = ["x", "part", "length:i64", "ceil_div(length, 32768):i32"]

[[launch]]
step   = 1
kernel = "running_sums<4>"
grid   = ["rows * ceil_div(length, 32768)"]
block  = ["BLOCK"]
args   = ["x", "part", "out", "length:i64", "ceil_div(length, 32768):i32"]
when   = "length % 4 == 0"

[[launch]]
step   = 1
kernel = "running_sums<1>"
grid   = ["rows * ceil_div(length, 32768)"]
block  = ["BLOCK"]
args   = ["x", "part", "out", "length:i64", "ceil_div(length, 32768):i32"]
*/

constexpr int kPart = 32768;  // elements of a row that one block takes

// The sum of all threads' values.
__device__ __forceinline__ float SumOfBlock(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) sum += shared[w];
  __syncthreads();
  return sum;
}

__global__ void sum_parts(const float* __restrict__ x, float* __restrict__ part, long long length, int parts) {
  __shared__ float shared[32];
  const int number = blockIdx.x % parts;
  const long long row = blockIdx.x / parts, begin = static_cast<long long>(number) * kPart;
  const long long end = min(length, begin + kPart);
  float sum = 0.0f;
  for (long long i = begin + threadIdx.x; i < end; i += blockDim.x) sum += x[row * length + i];
  sum = SumOfBlock(sum, shared);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
}

template <int kVec>
struct alignas(kVec * 4) Pack {
  float x[kVec];
};

template <int kVec>
__global__ void running_sums(const float* __restrict__ x, const float* __restrict__ part, float* __restrict__ out,
                             long long length, int parts) {
  __shared__ float shared[32];
  const int number = blockIdx.x % parts;
  const long long row = blockIdx.x / parts, begin = static_cast<long long>(number) * kPart;
  const long long end = min(length, begin + kPart);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  float before = 0.0f;
  if (number > 0) {
    for (int p = threadIdx.x; p < number; p += blockDim.x) before += part[row * parts + p];
    before = SumOfBlock(before, shared);
  }
  for (long long first = begin; first < end; first += blockDim.x * kVec) {
    const long long at = first + threadIdx.x * kVec;
    Pack<kVec> mine = {};
    if (at < end) mine = *reinterpret_cast<const Pack<kVec>*>(x + row * length + at);
#pragma unroll
    for (int e = 1; e < kVec; ++e) mine.x[e] += mine.x[e - 1];
    float sum = mine.x[kVec - 1];
    for (int offset = 1; offset < 32; offset *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += other;
    }
    if (lane == 31) shared[warp] = sum;
    __syncthreads();
    float offset = before, all = 0.0f;
    for (int w = 0; w < warps; ++w) {
      if (w < warp) offset += shared[w];
      all += shared[w];
    }
    const float of_lanes = __shfl_up_sync(0xffffffffu, sum, 1);
    if (lane > 0) offset += of_lanes;
#pragma unroll
    for (int e = 0; e < kVec; ++e) mine.x[e] += offset;
    if (at < end) *reinterpret_cast<Pack<kVec>*>(out + row * length + at) = mine;
    before += all;
    __syncthreads();
  }
}
