// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One block per destination: one thread draws as the rule is written, and all threads sum.
//
// task: sample_mean
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "sample"
grid   = ["num_dst"]
block  = ["64"]
shared = "fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "fanout:i32", "dim:i64"]
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

__global__ void sample(const __half* x, const long long* row_offsets, const int* columns, const int* key,
                       const int* node, __half* out, int fanout, long long dim) {
  extern __shared__ int drawn[];
  const long long row = blockIdx.x, own = node[row], begin = row_offsets[own];
  const int degree = static_cast<int>(row_offsets[own + 1] - begin), count = min(degree, fanout);
  if (threadIdx.x == 0) {
    for (int j = 0; j < count; ++j) {
      int slot = j;
      if (degree > fanout) {
        slot = Below(key, static_cast<unsigned>(own), j, degree - fanout + j + 1);
        for (int earlier = 0; earlier < j; ++earlier) {
          if (drawn[earlier] != slot) continue;
          slot = degree - fanout + j;
          break;
        }
      }
      drawn[j] = slot;
    }
  }
  __syncthreads();
  for (long long i = threadIdx.x; i < dim; i += 64) {
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) sum += __half2float(x[columns[begin + drawn[j]] * dim + i]);
    out[row * 2 * dim + i] = __float2half_rn(count > 0 ? sum / static_cast<float>(count) : 0.0f);
    out[row * 2 * dim + dim + i] = x[own * dim + i];
  }
}
