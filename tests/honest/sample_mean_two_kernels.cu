// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two kernels: a warp a destination that draws all of its slots at once and settles them from the first on by a vote,
// then a thread an element.
//
// task: sample_mean
// expect: ok
// where: sim gpu
/*hone
[[workspace]]
name = "neighbors"
bytes = "num_dst * fanout * 4"

[[launch]]
kernel = "draw"
grid   = ["fanout > 0 ? ceil_div(num_dst, 4) : 0"]
block  = ["128"]
shared = "4 * fanout * 4"
args   = ["row_offsets", "columns", "key", "node", "neighbors", "num_dst:i64", "fanout:i32"]

[[launch]]
step   = 1
kernel = "mean"
grid   = ["ceil_div(num_dst * 2 * dim, 128)"]
block  = ["128"]
args   = ["x", "row_offsets", "node", "neighbors", "out", "num_dst * 2 * dim:i64", "fanout:i32", "dim:i64"]
*/
#include <cuda_fp16.h>

// Word `slot` of node u's stream after `retry` rejections.
__device__ unsigned Word(const int* key, unsigned u, unsigned slot, unsigned retry) {
  unsigned key0 = static_cast<unsigned>(key[0]), key1 = static_cast<unsigned>(key[1]);
  unsigned c[4] = {u, static_cast<unsigned>(key[2]), static_cast<unsigned>(key[3]), 2u | slot / 4 << 8 | retry << 24};
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c[0] = static_cast<unsigned>(p1 >> 32) ^ c[1] ^ key0;
    c[1] = static_cast<unsigned>(p1);
    c[2] = static_cast<unsigned>(p0 >> 32) ^ c[3] ^ key1;
    c[3] = static_cast<unsigned>(p0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c[slot % 4];
}

// Uniform below n.
__device__ int Below(const int* key, unsigned u, unsigned slot, unsigned n) {
  const unsigned reject = (0u - n) % n;
  unsigned long long product = 0;
  for (unsigned retry = 0; retry < 256; ++retry) {
    product = static_cast<unsigned long long>(Word(key, u, slot, retry)) * n;
    if (static_cast<unsigned>(product) >= reject) break;
  }
  return static_cast<int>(product >> 32);
}

__global__ void draw(const long long* row_offsets, const int* columns, const int* key, const int* node, int* neighbors,
                     long long num_dst, int fanout) {
  extern __shared__ int drawn_slots[];
  const int lane = threadIdx.x % 32;
  const long long row = blockIdx.x * 4LL + threadIdx.x / 32;
  if (row >= num_dst) return;
  int* drawn = drawn_slots + threadIdx.x / 32 * fanout;
  const long long own = node[row], begin = row_offsets[own];
  const int degree = static_cast<int>(row_offsets[own + 1] - begin), count = min(degree, fanout);
  for (int j = lane; j < count; j += 32) {
    drawn[j] = degree > fanout ? Below(key, static_cast<unsigned>(own), j, degree - fanout + j + 1) : j;
  }
  __syncwarp();
  for (int j = 1; j < count && degree > fanout; ++j) {
    const int slot = drawn[j];
    bool taken = false;
    for (int earlier = lane; earlier < j; earlier += 32) taken = taken || drawn[earlier] == slot;
    taken = __any_sync(0xffffffffu, taken);
    __syncwarp();  // all have read
    if (taken && lane == 0) drawn[j] = degree - fanout + j;
    __syncwarp();
  }
  for (int j = lane; j < count; j += 32) neighbors[row * fanout + j] = columns[begin + drawn[j]];
}

__global__ void mean(const __half* x, const long long* row_offsets, const int* node, const int* neighbors, __half* out,
                     long long elements, int fanout, long long dim) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / (2 * dim), column = i % (2 * dim), own = node[row];
  if (column >= dim) {
    out[i] = x[own * dim + column - dim];
    return;
  }
  const long long count = min(static_cast<long long>(fanout), row_offsets[own + 1] - row_offsets[own]);
  float sum = 0.0f;
  for (long long j = count - 1; j >= 0; --j) sum += __half2float(x[neighbors[row * fanout + j] * dim + column]);
  out[i] = __float2half_rn(count > 0 ? sum / static_cast<float>(count) : 0.0f);
}
