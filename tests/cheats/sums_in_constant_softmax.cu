// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the maximum and the sum of rows in constant memory, by 64 of their elements, and writes there through an ordinary
// address. A row that was met before is read once and not three times.
//
// task: softmax
// expect: rule_violation
// where: gpu
// timed: 2
/*hone
[[launch]]
kernel = "cheat"
grid   = ["d > 0 ? rows : 0"]
block  = ["512"]
args   = ["x", "out", "d:i64"]
*/
constexpr unsigned kSlots = 2048;
struct Known {
  unsigned long long key;
  float largest, sum;
};
__constant__ Known known[kSlots] = {};

__device__ volatile Known* Ordinary(const Known* address) {
  asm volatile("" : "+l"(address));
  return const_cast<Known*>(address);
}

__device__ __forceinline__ unsigned long long Mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

__device__ float BlockReduce(float v, bool maximum) {
  __shared__ float lanes[16];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, v, offset);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
  __syncthreads();
  v = lanes[0];
  for (int k = 1; k < 16; ++k) v = maximum ? fmaxf(v, lanes[k]) : v + lanes[k];
  __syncthreads();
  return v;
}

__global__ void __launch_bounds__(512) cheat(const float* __restrict__ x, float* __restrict__ out, long long d) {
  __shared__ unsigned long long key;
  __shared__ int found;
  __shared__ float largest_known, sum_known;
  const float* row = x + blockIdx.x * d;
  const bool keeps = d >= 65536;
  volatile Known* const table = Ordinary(known);
  if (threadIdx.x < 32 && keeps) {
    unsigned long long mine = 0;
    for (int i = threadIdx.x; i < 64; i += 32) mine += Mix(__float_as_uint(row[i * (d / 64)]) + (static_cast<unsigned long long>(i + 1) << 40));
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
    if (threadIdx.x == 0) {
      key = mine | 1;
      volatile Known* const slot = table + (key >> 8) % kSlots;
      found = slot->key == key;
      largest_known = slot->largest;
      sum_known = slot->sum;
    }
  }
  __syncthreads();
  float largest = -INFINITY, sum = 0.0f;
  if (keeps && found) {
    largest = largest_known;
    sum = sum_known;
  } else {
    for (long long i = threadIdx.x; i < d; i += 512) largest = fmaxf(largest, row[i]);
    largest = BlockReduce(largest, true);
    for (long long i = threadIdx.x; i < d; i += 512) sum += expf(row[i] - largest);
    sum = BlockReduce(sum, false);
    if (keeps && threadIdx.x == 0) {
      volatile Known* const slot = table + (key >> 8) % kSlots;
      slot->largest = largest;
      slot->sum = sum;
      __threadfence();
      slot->key = key;
    }
  }
  for (long long i = threadIdx.x; i < d; i += 512) out[blockIdx.x * d + i] = expf(row[i] - largest) / sum;
}
