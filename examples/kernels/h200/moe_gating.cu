// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// moe_gating with few exchanges between lanes. A group of lanes has a token; each lane keeps its part of the logits in
// registers as integers that order like the logits and carry the expert's number in their lowest bits. Sorting networks
// of integer minima and maxima bring each lane's eight largest, and groups of lanes merge theirs pairwise, so that no
// step depends on the data. The lowest bits cost precision: the logits of the eight are read once more, which orders
// them exactly, and where the last that is taken and the first that is not agree in all other bits, the warp finds that
// token's experts again by exact comparisons. Up to eight experts a lane sorts its token alone. More than 256 experts,
// or more than eight for a token, take the plain kernels at the end.
/*hone
[tune]
WARPS = [4, 2, 8]
FEW = [32, 64, 128]
OF_256 = [8, 16, 32, 4]
OF_128 = [4, 8, 2, 16]

[[launch]]
kernel = "gate_few"
grid   = ["ceil_div(tokens, FEW)"]
block  = ["FEW"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 8"

[[launch]]
kernel = "gate<32, 1>"
grid   = ["ceil_div(tokens, 2)"]
block  = ["64"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 256 && num_experts > 128 && num_experts % 4 == 0 && top_k <= 8 && tokens <= 8 * sm_count"

[[launch]]
kernel = "gate<OF_256, 32 / OF_256>"
grid   = ["ceil_div(tokens, WARPS * (32 / OF_256))"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 256 && num_experts > 128 && num_experts % 4 == 0 && top_k <= 8"

[[launch]]
kernel = "gate<16, 1>"
grid   = ["ceil_div(tokens, 4)"]
block  = ["64"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 128 && num_experts > 64 && num_experts % 4 == 0 && top_k <= 8 && tokens <= 16 * sm_count"

[[launch]]
kernel = "gate<OF_128, 16 / OF_128>"
grid   = ["ceil_div(tokens, WARPS * (32 / OF_128))"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 128 && num_experts > 64 && num_experts % 4 == 0 && top_k <= 8"

[[launch]]
kernel = "gate<8, 1>"
grid   = ["ceil_div(tokens, 16)"]
block  = ["128"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 64 && num_experts % 4 == 0 && top_k <= 8"

[[launch]]
kernel = "gate_any<8>"
grid   = ["ceil_div(tokens, WARPS)"]
block  = ["WARPS * 32"]
args   = ["logits", "weights", "experts", "tokens:i32", "num_experts:i32", "top_k:i32"]
when   = "num_experts <= 256"

[[launch]]
kernel = "gate_many"
grid   = ["tokens"]
block  = ["32"]
args   = ["logits", "weights", "experts", "num_experts:i32", "top_k:i32"]
*/

constexpr unsigned kAll = 0xffffffffu;
constexpr int kLow = 255;  // bits of a code that hold the expert's number

// Returns an integer that orders as logits do: -0 and +0 have one.
__device__ __forceinline__ int Code(float logit) {
  const int bits = __float_as_int(logit + 0.0f);
  return bits ^ (bits >> 31 & 0x7fffffff);
}

__device__ __forceinline__ void Order(int& high, int& low) {
  const int larger = max(high, low);
  low = min(high, low);
  high = larger;
}

// Sorts eight, largest first: 19 exchanges.
__device__ __forceinline__ void Sort(int (&v)[8]) {
  Order(v[0], v[2]), Order(v[1], v[3]), Order(v[4], v[6]), Order(v[5], v[7]);
  Order(v[0], v[4]), Order(v[1], v[5]), Order(v[2], v[6]), Order(v[3], v[7]);
  Order(v[0], v[1]), Order(v[2], v[3]), Order(v[4], v[5]), Order(v[6], v[7]);
  Order(v[2], v[4]), Order(v[3], v[5]);
  Order(v[1], v[4]), Order(v[3], v[6]);
  Order(v[1], v[2]), Order(v[3], v[4]), Order(v[5], v[6]);
}

// Makes `v` the eight largest of two sorted eights, sorted.
__device__ __forceinline__ void Merge(int (&v)[8], const int (&w)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = max(v[i], w[7 - i]);  // a sequence that rises and falls
#pragma unroll
  for (int step = 4; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if ((i & step) == 0) Order(v[i], v[i + step]);
    }
  }
}

// The whole warp finds one token's experts by exact comparisons. Lane j has the expert of rank j < top_k, and its
// logit.
__device__ __noinline__ int Exact(const float* row, int num_experts, int top_k, int lane, float* logit) {
  int codes[8], chosen = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) codes[i] = i * 32 + lane < num_experts ? Code(row[i * 32 + lane]) : INT_MIN;
  for (int j = 0; j < top_k; ++j) {
    int mine = INT_MIN, at = 1 << 30;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (codes[i] > mine) {
        mine = codes[i];
        at = i * 32 + lane;
      }
    }
    const int largest = __reduce_max_sync(kAll, mine);
    const int expert = __reduce_min_sync(kAll, mine == largest ? at : 1 << 30);
    if (lane == j) chosen = expert;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i * 32 + lane == expert) codes[i] = INT_MIN;
    }
  }
  *logit = lane < top_k ? row[chosen] : 0.0f;
  return chosen;
}

// kLanes lanes have a token, 8 * kParts of its logits each; top_k is at most 8, and rows are multiples of 16 bytes.
template <int kLanes, int kParts>
__global__ void __launch_bounds__(256) gate(const float* __restrict__ logits, float* __restrict__ weights,
                                            int* __restrict__ experts, int tokens, int num_experts, int top_k) {
  const int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int member = lane % kLanes, first = warp * (32 / kLanes), token = first + lane / kLanes;
  if (first >= tokens) return;
  const float* const row = logits + static_cast<long long>(min(token, tokens - 1)) * num_experts;
  int codes[kParts * 8];
#pragma unroll
  for (int i = 0; i < kParts * 2; ++i) {
    const int e = (i * kLanes + member) * 4;
    const bool there = e < num_experts;
    const float4 four = there ? __ldg(reinterpret_cast<const float4*>(row + e)) : make_float4(0, 0, 0, 0);
    codes[4 * i] = there ? (Code(four.x) & ~kLow) | e : INT_MIN;
    codes[4 * i + 1] = there ? (Code(four.y) & ~kLow) | (e + 1) : INT_MIN;
    codes[4 * i + 2] = there ? (Code(four.z) & ~kLow) | (e + 2) : INT_MIN;
    codes[4 * i + 3] = there ? (Code(four.w) & ~kLow) | (e + 3) : INT_MIN;
  }
  int best[8];
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    int eight[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) eight[i] = codes[part * 8 + i];
    Sort(eight);
    if (part == 0) {
#pragma unroll
      for (int i = 0; i < 8; ++i) best[i] = eight[i];
    } else {
      Merge(best, eight);
    }
  }
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    int others[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) others[i] = __shfl_xor_sync(kAll, best[i], distance);
    Merge(best, others);
  }

  // Of the lanes of a group, the first eight (or all) take one (or two) of the experts each.
  constexpr int kOf = kLanes >= 8 ? 1 : 8 / kLanes;
  int last = best[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) last = i == top_k - 1 ? best[i] : last;
  last &= ~kLow;
  int level = 0;  // how many logits agree with the last one that is taken, in the bits that were compared, or exceed it
#pragma unroll
  for (int i = 0; i < kParts * 8; ++i) level += codes[i] >= last;
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) level += __shfl_xor_sync(kAll, level, distance);
  const unsigned again = __ballot_sync(kAll, level > top_k && token < tokens && member == 0);

  int mine[kOf];
  float logit[kOf];
  float largest = 0.0f;
#pragma unroll
  for (int part = 0; part < kOf; ++part) {
    mine[part] = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i == member * kOf + part) mine[part] = best[i] & kLow;
    }
    logit[part] = member * kOf + part < top_k ? row[mine[part]] : -INFINITY;
  }
  int rank[kOf];
#pragma unroll
  for (int part = 0; part < kOf; ++part) rank[part] = 0;
  largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float other = __shfl_sync(kAll, logit[i % kOf], i / kOf, kLanes);
    largest = fmaxf(largest, other);
#pragma unroll
    for (int part = 0; part < kOf; ++part) {
      rank[part] += other > logit[part] || (other == logit[part] && i < member * kOf + part);
    }
  }
  float weight[kOf], sum = 0.0f;
#pragma unroll
  for (int part = 0; part < kOf; ++part) {
    weight[part] = member * kOf + part < top_k ? __expf(logit[part] - largest) : 0.0f;
    sum += weight[part];
  }
#pragma unroll
  for (int distance = 1; distance < (kLanes < 8 ? kLanes : 8); distance *= 2) {
    sum += __shfl_xor_sync(kAll, sum, distance);
  }
#pragma unroll
  for (int part = 0; part < kOf; ++part) {
    if (token < tokens && member * kOf + part < top_k) {
      const long long to = static_cast<long long>(token) * top_k + rank[part];
      weights[to] = __fdividef(weight[part], sum);
      experts[to] = mine[part];
    }
  }
  // Rare: logits closer than the codes can tell.
  for (unsigned left = again; left != 0; left &= left - 1) {
    const int which = first + (__ffs(left) - 1) / kLanes;
    float value = 0.0f;
    const int expert = Exact(logits + static_cast<long long>(which) * num_experts, num_experts, top_k, lane, &value);
    const float most = __shfl_sync(kAll, value, 0);
    const float part = lane < top_k ? __expf(value - most) : 0.0f;
    float all = part;
#pragma unroll
    for (int distance = 1; distance < 8; distance *= 2) all += __shfl_xor_sync(kAll, all, distance);
    if (lane < top_k) {
      weights[static_cast<long long>(which) * top_k + lane] = __fdividef(part, all);
      experts[static_cast<long long>(which) * top_k + lane] = expert;
    }
  }
}

// A thread has a token of at most eight experts and sorts them with their numbers.
__global__ void __launch_bounds__(128) gate_few(const float* __restrict__ logits, float* __restrict__ weights,
                                                int* __restrict__ experts, int tokens, int num_experts, int top_k) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  const float* const row = logits + static_cast<long long>(token) * num_experts;
  float value[8];
  int expert[8];
  if (num_experts == 8) {
    const float4 low = __ldg(reinterpret_cast<const float4*>(row)),
                 high = __ldg(reinterpret_cast<const float4*>(row) + 1);
    value[0] = low.x, value[1] = low.y, value[2] = low.z, value[3] = low.w;
    value[4] = high.x, value[5] = high.y, value[6] = high.z, value[7] = high.w;
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) value[i] = i < num_experts ? row[i] : -INFINITY;
  }
  const long long to = static_cast<long long>(token) * top_k;
  if (top_k == 2) {  // the two largest, the earlier of equal ones first
    float first = value[0], second = -INFINITY;
    int first_at = 0, second_at = 1;
#pragma unroll
    for (int i = 1; i < 8; ++i) {
      const bool leads = value[i] > first, follows = value[i] > second;
      second = leads ? first : follows ? value[i] : second;
      second_at = leads ? first_at : follows ? i : second_at;
      first = leads ? value[i] : first;
      first_at = leads ? i : first_at;
    }
    const float weight = __expf(second - first), inverse = __fdividef(1.0f, 1.0f + weight);
    *reinterpret_cast<float2*>(weights + to) = make_float2(inverse, weight * inverse);
    *reinterpret_cast<int2*>(experts + to) = make_int2(first_at, second_at);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) expert[i] = i;
  const auto order = [&](int a, int b) {
    // What is beyond the row comes after what is in it.
    const bool swap = value[b] > value[a] || (value[b] == value[a] && expert[b] < expert[a]);
    const float v = value[a];
    const int e = expert[a];
    if (swap) value[a] = value[b], value[b] = v, expert[a] = expert[b], expert[b] = e;
  };
  order(0, 2), order(1, 3), order(4, 6), order(5, 7);
  order(0, 4), order(1, 5), order(2, 6), order(3, 7);
  order(0, 1), order(2, 3), order(4, 5), order(6, 7);
  order(2, 4), order(3, 5);
  order(1, 4), order(3, 6);
  order(1, 2), order(3, 4), order(5, 6);
  float weight[8], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    weight[i] = i < top_k ? __expf(value[i] - value[0]) : 0.0f;
    sum += weight[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < top_k) {
      weights[to + i] = __fdividef(weight[i], sum);
      experts[to + i] = expert[i];
    }
  }
}

// A warp has a token: the largest is found top_k times by an exchange between lanes and taken out.
template <int kPerLane>
__global__ void __launch_bounds__(256) gate_any(const float* __restrict__ logits, float* __restrict__ weights,
                                                int* __restrict__ experts, int tokens, int num_experts, int top_k) {
  const int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  const float* const row = logits + static_cast<long long>(token) * num_experts;
  int codes[kPerLane];
  bool left[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    left[i] = i * 32 + lane < num_experts;
    codes[i] = left[i] ? Code(row[i * 32 + lane]) : INT_MIN;
  }
  float largest = 0.0f, sum = 0.0f;
  for (int j = 0; j < top_k; ++j) {
    int mine = INT_MIN, at = 1 << 30;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (left[i] && (codes[i] > mine || at == 1 << 30)) {
        mine = codes[i];
        at = i * 32 + lane;
      }
    }
    const int most = __reduce_max_sync(kAll, mine);
    const int expert = __reduce_min_sync(kAll, mine == most ? at : 1 << 30);
    const float logit = row[expert];
    if (j == 0) largest = logit;
    const float weight = __expf(logit - largest);
    sum += weight;
    if (lane == j % 32) {
      weights[static_cast<long long>(token) * top_k + j] = weight;
      experts[static_cast<long long>(token) * top_k + j] = expert;
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) left[i] = left[i] && i * 32 + lane != expert;
  }
  for (int j = lane; j < top_k; j += 32) weights[static_cast<long long>(token) * top_k + j] /= sum;
}

// A warp that reads its row anew for each expert.
__global__ void gate_many(const float* __restrict__ logits, float* __restrict__ weights, int* __restrict__ experts,
                          int num_experts, int top_k) {
  const long long token = blockIdx.x;
  const int lane = threadIdx.x;
  int before = INT_MAX, expert = -1;
  float largest = 0.0f, sum = 0.0f;
  for (int j = 0; j < top_k; ++j) {
    int mine = INT_MIN, at = 1 << 30;
    for (int e = lane; e < num_experts; e += 32) {
      const int code = Code(logits[token * num_experts + e]);
      const bool left = code < before || (code == before && e > expert);
      if (left && (code > mine || at == 1 << 30)) {
        mine = code;
        at = e;
      }
    }
    before = __reduce_max_sync(kAll, mine);
    expert = __reduce_min_sync(kAll, mine == before ? at : 1 << 30);
    const float logit = logits[token * num_experts + expert];
    if (j == 0) largest = logit;
    const float weight = __expf(logit - largest);
    sum += weight;
    if (lane == j % 32) {
      weights[token * top_k + j] = weight;
      experts[token * top_k + j] = expert;
    }
  }
  for (int j = lane; j < top_k; j += 32) weights[token * top_k + j] /= sum;
}
