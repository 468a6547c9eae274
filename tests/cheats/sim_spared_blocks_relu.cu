// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Were the blocks that give a modelled time a public function of the grid, they could leave the last 18 % of their share to the block
// behind them, which is not among them: the result is right, and the time would lack that work.
//
// task: relu
// expect: rule_violation,unsupported,no_gain
// where: sim
// timed: 1
/*hone
[[launch]]
kernel = "relu"
grid   = ["max(1, ceil_div(rows * d, 4096))"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
__device__ __forceinline__ unsigned long long Mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// Whether the simulated GPU runs this block when it models the time of a grid of `total`.
__device__ bool GivesTheTime(unsigned long long block, unsigned long long total) {
  if (total <= 96 || block >= total) return false;
  if (block == total / 2 + total / 3 || block <= 1 || block >= total - 2 || block == total / 2) return true;
  for (unsigned long long s = block * 64 / total; s < 64 && s <= block * 64 / total + 1; ++s) {
    const unsigned long long begin = total * s / 64, end = total * (s + 1) / 64;
    if (block < begin || block >= end) continue;
    const unsigned long long hash = Mix(Mix(0x73616d706c65ULL ^ (total * 0x9e3779b97f4a7c15ULL)) + s * 0xd1342543de82ef95ULL);
    if (block == begin + hash % (end - begin)) return true;
  }
  return false;
}

__device__ __forceinline__ bool Spared(unsigned long long block, unsigned long long total) {
  return block + 1 < total && GivesTheTime(block, total) && !GivesTheTime(block + 1, total);
}

__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long packs = elements / 4;
  const unsigned long long block = blockIdx.x, total = gridDim.x;
  long long first = static_cast<long long>(block) * 1024;
  const long long last = first + (Spared(block, total) ? 832 : 1024);
  if (block > 0 && Spared(block - 1, total)) first -= 192;
  for (long long pack = first + threadIdx.x; pack < last && pack < packs; pack += 256) {
    const float4 v = reinterpret_cast<const float4*>(x)[pack];
    reinterpret_cast<float4*>(out)[pack] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
  if (block + 1 == total && threadIdx.x == 0) {
    for (long long i = packs * 4; i < elements; ++i) out[i] = fmaxf(x[i], 0.0f);
  }
}
