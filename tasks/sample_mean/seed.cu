// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// sample_mean as one would write it first, in two kernels: a thread a destination draws, slot after slot; then a warp a
// destination gathers, its lanes side by side along the rows, eight float16 a load where rows start on 16-byte
// boundaries, else one.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[workspace]]
name = "drawn"
bytes = "num_dst * fanout * 4"

[[launch]]
kernel = "draw"
grid   = ["dim * fanout > 0 ? ceil_div(num_dst, 128) : 0"]
block  = ["128"]
args   = ["row_offsets", "columns", "key", "node", "drawn", "num_dst:i64", "fanout:i32"]

[[launch]]
step   = 1
kernel = "mean<8>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "node", "drawn", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
step   = 1
kernel = "mean<1>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "node", "drawn", "out", "num_dst:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

constexpr unsigned kHop = 2;

struct Words {
  unsigned word[4];
};

// Philox4x32-10.
__device__ __forceinline__ Words Philox(unsigned key0, unsigned key1, unsigned c0, unsigned c1, unsigned c2, unsigned c3) {
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
  return {{c0, c1, c2, c3}};
}

// Writes the rows of the drawn neighbors: drawn[i * fanout + j] for j < min(degree, fanout). Until a row is done its
// places hold slots, which later draws look through.
__global__ void draw(const long long* __restrict__ row_offsets, const int* __restrict__ columns,
                     const int* __restrict__ key, const int* __restrict__ node, int* drawn, long long num_dst, int fanout) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= num_dst) return;
  const unsigned u = static_cast<unsigned>(node[i]);
  const long long begin = row_offsets[u];
  const int degree = static_cast<int>(row_offsets[u + 1] - begin);
  int* mine = drawn + i * fanout;
  if (degree <= fanout) {
    for (int j = 0; j < degree; ++j) mine[j] = columns[begin + j];
    return;
  }
  const unsigned key0 = static_cast<unsigned>(key[0]), key1 = static_cast<unsigned>(key[1]);
  const unsigned step = static_cast<unsigned>(key[2]), epoch = static_cast<unsigned>(key[3]);
  Words words = {};
  for (int j = 0; j < fanout; ++j) {
    const unsigned counter = kHop | static_cast<unsigned>(j) / 4 << 8;
    if (j % 4 == 0) words = Philox(key0, key1, u, step, epoch, counter);
    const unsigned n = static_cast<unsigned>(degree - fanout + j + 1);
    unsigned long long product = static_cast<unsigned long long>(words.word[j % 4]) * n;
    if (static_cast<unsigned>(product) < n) {  // rarely: whether to reject costs a division
      const unsigned reject = (0u - n) % n;
      for (unsigned retry = 1; static_cast<unsigned>(product) < reject && retry <= 255; ++retry) {
        const Words again = Philox(key0, key1, u, step, epoch, counter | retry << 24);
        product = static_cast<unsigned long long>(again.word[j % 4]) * n;
      }
    }
    int slot = static_cast<int>(product >> 32);
    for (int earlier = 0; earlier < j; ++earlier) {
      if (mine[earlier] == slot) {
        slot = degree - fanout + j;
        break;
      }
    }
    mine[j] = slot;
  }
  for (int j = 0; j < fanout; ++j) mine[j] = columns[begin + mine[j]];
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

// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void mean(const __half* __restrict__ x, const long long* __restrict__ row_offsets,
                     const int* __restrict__ node, const int* __restrict__ drawn, __half* __restrict__ out,
                     long long num_dst, int fanout, long long dim) {
  using Vector = typename Pack<kWidth>::Type;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= num_dst) return;
  const long long own = node[row];
  const long long degree = row_offsets[own + 1] - row_offsets[own];
  const int count = degree < fanout ? static_cast<int>(degree) : fanout;
  const float share = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
  const int* neighbors = drawn + row * fanout;

  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (int j = 0; j < count; ++j) {
      const long long neighbor = neighbors[j];
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
