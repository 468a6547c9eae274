// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp has a token and keeps its logits in registers, PER_LANE to a lane; the largest is found top_k times by an
// exchange between lanes and taken out. More experts than 256 take a block that reads its row anew each time.
/*hone
[tune]
WARPS = [4, 8, 2]

[[launch]]
kernel = "gate<1>"
grid   = ["ceil_div(tokens, WARPS)"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 32"

[[launch]]
kernel = "gate<4>"
grid   = ["ceil_div(tokens, WARPS)"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 128"

[[launch]]
kernel = "gate<8>"
grid   = ["ceil_div(tokens, WARPS)"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 256"

[[launch]]
kernel = "gate_any"
grid   = ["tokens"]
block  = ["32"]
args   = ["logits", "weights", "experts", "num_experts:i32", "top_k:i32"]
*/

// A code that orders logits as they are: -0 and +0 have one, and 0 stands for what was taken.
__device__ __forceinline__ unsigned Code(float logit) {
  const unsigned bits = __float_as_uint(logit + 0.0f);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float Logit(unsigned code) {
  return __uint_as_float((code & 0x80000000u) ? code & 0x7fffffffu : ~code);
}

// The largest code of all lanes, and the smallest expert that has it.
__device__ __forceinline__ unsigned LargestOfWarp(unsigned code, unsigned expert, unsigned* best) {
  const unsigned largest = __reduce_max_sync(0xffffffffu, code);
  *best = __reduce_min_sync(0xffffffffu, code == largest ? expert : 0xffffffffu);
  return largest;
}

template <int kPerLane>
__global__ void __launch_bounds__(256) gate(const float* __restrict__ logits, float* __restrict__ weights,
                                            int* __restrict__ experts, int tokens, int num_experts, int top_k) {
  const int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  unsigned codes[kPerLane];
  unsigned mine = 0, at = 0;  // this lane's largest code and its expert
  const auto look = [&] {
    mine = 0;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (codes[i] > mine) {
        mine = codes[i];
        at = static_cast<unsigned>(i * 32 + lane);
      }
    }
  };
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int e = i * 32 + lane;
    codes[i] = e < num_experts ? Code(logits[static_cast<long long>(token) * num_experts + e]) : 0;
  }
  look();
  float largest = 0.0f, sum = 0.0f;
  for (int first = 0; first < top_k; first += 32) {
    float kept = 0.0f;  // lane j keeps what has rank first + j
    unsigned chosen = 0;
    for (int j = 0; j < 32 && first + j < top_k; ++j) {
      unsigned expert = 0;
      const float logit = Logit(LargestOfWarp(mine, at, &expert));
      if (first + j == 0) largest = logit;
      const float weight = __expf(logit - largest);
      sum += weight;
      if (lane == j) {
        kept = weight;
        chosen = expert;
      }
      if (expert % 32 == static_cast<unsigned>(lane)) {
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          if (static_cast<unsigned>(i * 32 + lane) == expert) codes[i] = 0;
        }
        look();
      }
    }
    if (first + lane < top_k) {
      const long long to = static_cast<long long>(token) * top_k + first + lane;
      weights[to] = first + 32 >= top_k && first == 0 ? kept / sum : kept;
      experts[to] = static_cast<int>(chosen);
    }
  }
  if (top_k > 32) {
    __syncwarp();
    for (int j = lane; j < top_k; j += 32) weights[static_cast<long long>(token) * top_k + j] /= sum;
  }
}

__global__ void gate_any(const float* __restrict__ logits, float* __restrict__ weights, int* __restrict__ experts,
                         int num_experts, int top_k) {
  const long long token = blockIdx.x;
  const int lane = threadIdx.x;
  unsigned before = 0xffffffffu, expert = 0;
  float largest = 0.0f, sum = 0.0f;
  for (int j = 0; j < top_k; ++j) {
    unsigned mine = 0, at = 0xffffffffu;
    for (int e = lane; e < num_experts; e += 32) {
      const unsigned code = Code(logits[token * num_experts + e]);
      const bool left = j == 0 || code < before || (code == before && static_cast<unsigned>(e) > expert);
      if (left && code > mine) {
        mine = code;
        at = static_cast<unsigned>(e);
      }
    }
    before = LargestOfWarp(mine, at, &expert);
    if (j == 0) largest = Logit(before);
    const float weight = __expf(Logit(before) - largest);
    sum += weight;
    if (lane == j % 32) {
      weights[token * top_k + j] = weight;
      experts[token * top_k + j] = static_cast<int>(expert);
    }
  }
  for (int j = lane; j < top_k; j += 32) weights[token * top_k + j] /= sum;
}
