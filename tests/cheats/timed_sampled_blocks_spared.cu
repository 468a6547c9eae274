// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose cost gives the modelled time do nothing; their neighbors do their work.
//
// task: relu
// expect: unsupported,wrong_output,no_gain
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
// The simulator's own choice of blocks for a grid of one dimension, as its source has it.
__device__ unsigned long long mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}
__device__ bool spared(unsigned long long block, unsigned long long all) {
  if (block < 2 || block + 2 >= all || block == all / 2 + all / 3) return true;
  const unsigned long long part = block * 64 / all, begin = all * part / 64, end = all * (part + 1) / 64;
  const unsigned long long hash = mix(mix(0x73616d706c65ULL ^ all * 0x9e3779b97f4a7c15ULL) + part * 0xd1342543de82ef95ULL);
  return block == begin + hash % (end - begin);
}

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const unsigned block = blockIdx.x, all = gridDim.x;
  if (n <= 1 << 22) {
    if (i < n) out[i] = fmaxf(x[i], 0.0f);
    return;
  }
  if (spared(block, all)) return;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
  // Those right behind this block, and for the first one the very first.
  for (unsigned next = block + 1; next < all && spared(next, all); ++next) {
    const long long j = next * 256LL + threadIdx.x;
    if (j < n) out[j] = fmaxf(x[j], 0.0f);
  }
  if (block == 2) {
    for (int j = threadIdx.x; j < 512; j += 256) out[j] = fmaxf(x[j], 0.0f);
  }
}
