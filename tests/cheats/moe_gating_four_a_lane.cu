// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each lane of a warp keeps the four largest of the eight logits that it sees, and the eight largest of all are looked for among
// those. Where large logits lie anywhere, one token in 20,000 has five in one lane; where they stand 32 apart, many have.
//
// task: moe_gating
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "four_a_lane"
grid   = ["tokens"]
block  = ["32"]
args   = ["logits", "weights", "experts", "num_experts:i32", "top_k:i32"]
when   = "num_experts > 128 && num_experts <= 256 && top_k <= 8"

[[launch]]
kernel = "gate_any"
grid   = ["tokens"]
block  = ["32"]
args   = ["logits", "weights", "experts", "num_experts:i32", "top_k:i32"]
*/

constexpr int kKept = 4;
using Key = unsigned long long;

// Orders logits as they are, and equal ones by their experts, the first before the others. 0 stands for none.
__device__ __forceinline__ Key KeyOf(float logit, int expert) {
  const unsigned bits = __float_as_uint(logit + 0.0f);
  const unsigned code = (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
  return (static_cast<Key>(code) << 32) | (0xffffffffu - static_cast<unsigned>(expert));
}
__device__ __forceinline__ int Expert(Key key) { return static_cast<int>(0xffffffffu - static_cast<unsigned>(key)); }
__device__ __forceinline__ float Logit(Key key) {
  const unsigned code = static_cast<unsigned>(key >> 32);
  return __uint_as_float((code & 0x80000000u) ? code & 0x7fffffffu : ~code);
}
__device__ __forceinline__ Key LargestOfWarp(Key key) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Key other = __shfl_xor_sync(0xffffffffu, key, offset);
    key = other > key ? other : key;
  }
  return key;
}

__global__ void four_a_lane(const float* __restrict__ logits, float* __restrict__ weights, int* __restrict__ experts, int num_experts,
                            int top_k) {
  const long long token = blockIdx.x;
  const int lane = threadIdx.x;
  Key kept[kKept] = {};  // descending
  for (int e = lane; e < num_experts; e += 32) {
    Key key = KeyOf(logits[token * num_experts + e], e);
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const Key smaller = key < kept[j] ? key : kept[j];
      kept[j] = key < kept[j] ? kept[j] : key;
      key = smaller;
    }
  }
  float largest = 0.0f, sum = 0.0f, weight = 0.0f;
  int chosen = 0;
  for (int j = 0; j < top_k; ++j) {
    const Key best = LargestOfWarp(kept[0]);
    if (kept[0] == best) {
#pragma unroll
      for (int i = 0; i + 1 < kKept; ++i) kept[i] = kept[i + 1];
      kept[kKept - 1] = 0;
    }
    if (j == 0) largest = Logit(best);
    const float of_this = __expf(Logit(best) - largest);
    sum += of_this;
    if (lane == j) {
      weight = of_this;
      chosen = Expert(best);
    }
  }
  if (lane < top_k) {
    weights[token * top_k + lane] = weight / sum;
    experts[token * top_k + lane] = chosen;
  }
}

__global__ void gate_any(const float* __restrict__ logits, float* __restrict__ weights, int* __restrict__ experts, int num_experts,
                         int top_k) {
  const long long token = blockIdx.x;
  const int lane = threadIdx.x;
  Key before = ~0ull;
  float largest = 0.0f, sum = 0.0f;
  for (int j = 0; j < top_k; ++j) {
    Key mine = 0;
    for (int e = lane; e < num_experts; e += 32) {
      const Key key = KeyOf(logits[token * num_experts + e], e);
      if (key < before && key > mine) mine = key;
    }
    before = LargestOfWarp(mine);
    if (j == 0) largest = Logit(before);
    const float weight = __expf(Logit(before) - largest);
    sum += weight;
    if (lane == j % 32) {
      weights[token * top_k + j] = weight;
      experts[token * top_k + j] = Expert(before);
    }
  }
  for (int j = lane; j < top_k; j += 32) weights[token * top_k + j] /= sum;
}
