// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// sample_mean as one would write it first: a warp for each destination. Its lanes draw a slot each, settle who was
// earlier, and then lie side by side along the rows, eight float16 a load where rows start on 16-byte boundaries, else one.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "sample_mean<8>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
shared = "BLOCK / 32 * fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "sample_mean<1>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
shared = "BLOCK / 32 * fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kHop = 2;

// Word `slot` of the stream of node u after `retry` rejections: Philox4x32-10.
__device__ __forceinline__ unsigned Word(const int* key, unsigned u, unsigned slot, unsigned retry) {
  unsigned key0 = static_cast<unsigned>(key[0]), key1 = static_cast<unsigned>(key[1]);
  unsigned c0 = u, c1 = static_cast<unsigned>(key[2]), c2 = static_cast<unsigned>(key[3]);
  unsigned c3 = kHop | slot / 4 << 8 | retry << 24;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return slot % 4 < 2 ? (slot % 4 == 0 ? c0 : c1) : (slot % 4 == 2 ? c2 : c3);
}

// Uniform below n.
__device__ __forceinline__ int Below(const int* key, unsigned u, unsigned slot, unsigned n) {
  unsigned long long product = static_cast<unsigned long long>(Word(key, u, slot, 0)) * n;
  if (static_cast<unsigned>(product) < n) {  // rarely: whether to reject costs a division
    const unsigned reject = (0u - n) % n;
    for (unsigned retry = 1; static_cast<unsigned>(product) < reject && retry <= 255; ++retry) {
      product = static_cast<unsigned long long>(Word(key, u, slot, retry)) * n;
    }
  }
  return static_cast<int>(product >> 32);
}

// kWidth consecutive float16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

// dim is a multiple of kWidth, the block size of 32. Shared memory: fanout integers a warp.
template <int kWidth>
__global__ void sample_mean(const __half* __restrict__ x, const long long* __restrict__ row_offsets,
                            const int* __restrict__ columns, const int* __restrict__ key, const int* __restrict__ node,
                            __half* __restrict__ out, long long num_dst, int fanout, long long dim) {
  using Vector = typename Pack<kWidth>::Type;
  extern __shared__ int drawn[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + warp;
  if (row >= num_dst) return;
  const long long own = node[row];
  const long long begin = row_offsets[own];
  const int degree = static_cast<int>(row_offsets[own + 1] - begin);
  const int count = min(degree, fanout);
  int* mine = drawn + warp * fanout;

  for (int j = lane; j < count; j += 32) {
    mine[j] = degree > fanout ? Below(key, static_cast<unsigned>(own), j, degree - fanout + j + 1) : j;
  }
  __syncwarp();
  for (int j = 1; degree > fanout && j < fanout; ++j) {  // Floyd's rule, in the order of the slots
    const int slot = mine[j];
    bool taken = false;
    for (int earlier = lane; earlier < j; earlier += 32) taken |= mine[earlier] == slot;
    if (!__any_sync(kAllLanes, taken)) continue;
    __syncwarp();  // all have read
    if (lane == 0) mine[j] = degree - fanout + j;
    __syncwarp();
  }
  for (int j = lane; j < count; j += 32) mine[j] = columns[begin + mine[j]];
  __syncwarp();

  const float share = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
  for (long long column = lane; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (int j = 0; j < count; ++j) {
      const long long neighbor = mine[j];
      const Vector pack = reinterpret_cast<const Vector*>(x + neighbor * dim)[column];
      const __half* v = reinterpret_cast<const __half*>(&pack);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum[k] += __half2float(v[k]);
    }
    Vector result;
    __half* r = reinterpret_cast<__half*>(&result);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) r[k] = __float2half_rn(sum[k] * share);
    Vector* to = reinterpret_cast<Vector*>(out + row * 2 * dim);
    to[column] = result;
    to[dim / kWidth + column] = reinterpret_cast<const Vector*>(x + own * dim)[column];
  }
}
