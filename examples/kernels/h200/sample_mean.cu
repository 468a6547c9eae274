// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/sample_mean.cu with the bindings that were fastest on an H200, by shape.
//
// sample_mean with as many lanes a destination as its row has vectors, and DEEP neighbors' rows under way at once. A lane
// draws a slot, and Floyd's rule is settled for all slots of a destination together: a draw is replaced where an earlier
// one is equal to it, or where it equals the replacement d - k + e of an earlier slot e that was replaced. The first is
// known from comparing; the second follows chains of ever earlier slots, mostly none, so a vote or two ends it.
//
// A block first draws for EACH destinations of each of its groups of lanes, with as many lanes a destination as it has
// slots: all of its nodes, then all of its row offsets, then all of its columns are under way at once. Then it gathers.
// Fanouts above 32 settle slot by slot in shared memory.
/*hone
[tune]
BLOCK = [64]
EACH = [2]
DEEP = [5]

[[launch]]
kernel = "sample_mean_block<16, EACH, DEEP, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_dst, EACH * BLOCK / 16) : 0"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && dim <= 128 && fanout <= 32"

[[launch]]
kernel = "sample_mean_block<32, EACH, DEEP, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_dst, EACH * BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && dim <= 256 && fanout <= 32"

[[launch]]
kernel = "sample_mean<8, 32, 1, DEEP, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && fanout <= 32"

[[launch]]
kernel = "sample_mean<1, 32, 1, DEEP, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "row_offsets", "columns", "key", "node", "out", "num_dst:i64", "fanout:i32", "dim:i32"]
when   = "fanout <= 32"

[[launch]]
kernel = "sample_mean_many<8>"
grid   = ["dim > 0 ? num_dst : 0"]
block  = ["32"]
shared = "fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "sample_mean_many<1>"
grid   = ["num_dst"]
block  = ["32"]
shared = "fanout * 4"
args   = ["x", "row_offsets", "columns", "key", "node", "out", "fanout:i32", "dim:i32"]
*/
#include <cuda_fp16.h>

namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kHop = 2;

// Word `slot` of the stream of node u after `retry` rejections: Philox4x32-10.
__device__ __forceinline__ unsigned Word(int4 key, unsigned u, unsigned slot, unsigned retry) {
  unsigned key0 = static_cast<unsigned>(key.x), key1 = static_cast<unsigned>(key.y);
  unsigned c0 = u, c1 = static_cast<unsigned>(key.z), c2 = static_cast<unsigned>(key.w);
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
__device__ __forceinline__ int Below(int4 key, unsigned u, unsigned slot, unsigned n) {
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

template <int kWidth>
__device__ __forceinline__ void Add(float (&sum)[kWidth], const typename Pack<kWidth>::Type& pack) {
  const __half* v = reinterpret_cast<const __half*>(&pack);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) sum[e] += __half2float(v[e]);
}

template <int kWidth>
__device__ __forceinline__ typename Pack<kWidth>::Type Rounded(const float (&sum)[kWidth], float scale) {
  typename Pack<kWidth>::Type packed;
  __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) r[e] = __float2half_rn(sum[e] * scale);
  return packed;
}

}  // namespace

// kThreads / kLanes groups for kEach destinations each; fanout <= 32, dim a multiple of 8 and at most 8 kLanes.
template <int kLanes, int kEach, int kDeep, int kThreads>
__global__ void __launch_bounds__(kThreads)
    sample_mean_block(const __half* __restrict__ x, const long long* __restrict__ row_offsets,
                      const int* __restrict__ columns, const int* __restrict__ key, const int* __restrict__ node,
                      __half* __restrict__ out, long long num_dst, int fanout, int dim) {
  constexpr int kGroups = kThreads / kLanes, kRows = kGroups * kEach;
  __shared__ int owns[kRows], degrees[kRows], neighbors[kRows * 32];
  __shared__ long long begins[kRows];
  const long long first_row = static_cast<long long>(blockIdx.x) * kRows;
  const int rows = static_cast<int>(min(static_cast<long long>(kRows), num_dst - first_row));
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < rows; i += kThreads) {
    const int own = __ldg(node + first_row + i);
    const long long begin = __ldg(row_offsets + own);
    owns[i] = own;
    begins[i] = begin;
    degrees[i] = static_cast<int>(__ldg(row_offsets + own + 1) - begin);
  }
  const int4 words = __ldg(reinterpret_cast<const int4*>(key));
  __syncthreads();

  // Lanes of a destination: a power of two, so that no warp's end divides them.
  const int shift = fanout > 1 ? 32 - __clz(fanout - 1) : 0, width = 1 << shift;
  const unsigned all_slots = width < 32 ? (1u << width) - 1 : kAllLanes;
  const int slot_lane = thread % 32 / width * width;  // the first of this destination's
  for (int base = 0; base < rows << shift; base += kThreads) {
    const int i = (base + thread) >> shift, j = thread & (width - 1);
    const bool present = i < rows;
    const int degree = present ? degrees[i] : 0;
    const bool draws = degree > fanout;
    int held = j;
    if (draws && j < fanout) {
      held = Below(words, static_cast<unsigned>(owns[i]), static_cast<unsigned>(j),
                   static_cast<unsigned>(degree - fanout + j + 1));
    }
    if (__any_sync(kAllLanes, draws)) {
      bool replaced = false;  // equal to an earlier one
      for (int e = 0; e + 1 < fanout; ++e) {
        const int earlier = __shfl_sync(kAllLanes, held, e, width);
        replaced |= e < j && earlier == held;
      }
      replaced = replaced && draws && j < fanout;
      const int e = held - (degree - fanout);
      const bool could = draws && j < fanout && e >= 0 && e < j;
      for (bool changed = true; __any_sync(kAllLanes, changed);) {  // equal to an earlier one's replacement
        const unsigned votes = __ballot_sync(kAllLanes, replaced) >> slot_lane & all_slots;
        changed = could && !replaced && (votes >> e & 1u) != 0;
        replaced |= changed;
      }
      if (replaced) held = degree - fanout + j;
    }
    if (present && j < fanout) neighbors[i << shift | j] = j < degree ? __ldg(columns + begins[i] + held) : -1;
  }
  __syncthreads();

  const int group = thread / kLanes, lane = thread % kLanes;
  if (lane * 8 >= dim) return;
  const __half* column = x + lane * 8;
#pragma unroll 1
  for (int i = group; i < rows; i += kGroups) {
    const int count = min(degrees[i], fanout);
    const uint4 own_pack = __ldg(reinterpret_cast<const uint4*>(column + static_cast<long long>(owns[i]) * dim));
    const int* from = neighbors + (i << shift);
    float sum[8] = {};
    for (int first = 0; first < count; first += kDeep) {
      uint4 packs[kDeep];
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        if (first + u < count) {
          packs[u] = __ldg(reinterpret_cast<const uint4*>(column + static_cast<long long>(from[first + u]) * dim));
        }
      }
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        if (first + u < count) Add<8>(sum, packs[u]);
      }
    }
    uint4* to = reinterpret_cast<uint4*>(out + (first_row + i) * 2 * dim) + lane;
    __stcs(to, Rounded<8>(sum, count > 0 ? 1.0f / static_cast<float>(count) : 0.0f));
    __stcs(to + dim / 8, own_pack);
  }
}

// kLanes threads a destination, which hold slots lane, lane + kLanes, ...: fanout <= kLanes * kHeld <= 32. dim is a
// multiple of kWidth. Lanes of a warp shuffle together, so that its groups run equally many
// steps.
template <int kWidth, int kLanes, int kHeld, int kDeep, int kThreads>
__global__ void __launch_bounds__(kThreads)
    sample_mean(const __half* __restrict__ x, const long long* __restrict__ row_offsets,
                const int* __restrict__ columns, const int* __restrict__ key, const int* __restrict__ node,
                __half* __restrict__ out, long long num_dst, int fanout, int dim) {
  using Vector = typename Pack<kWidth>::Type;
  constexpr int kKnown = kLanes < 32 ? 48 : 32;
  const long long row = static_cast<long long>(blockIdx.x) * (kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, vectors = dim / kWidth;
  const bool present = row < num_dst;
  const long long own = present ? __ldg(node + row) : 0;
  const long long begin = present ? __ldg(row_offsets + own) : 0;
  const int degree = present ? static_cast<int>(__ldg(row_offsets + own + 1) - begin) : 0;
  const int count = min(degree, fanout);
  const bool draws = degree > fanout;

  const int4 words = __ldg(reinterpret_cast<const int4*>(key));
  int held[kHeld];
#pragma unroll
  for (int q = 0; q < kHeld; ++q) {
    const int j = lane + q * kLanes;
    held[q] = draws && j < fanout ? Below(words, static_cast<unsigned>(own), static_cast<unsigned>(j),
                                          static_cast<unsigned>(degree - fanout + j + 1))
                                  : j;
  }
  // What all lanes of a group are to know: its draws, then its neighbors. A warp's two groups are half of the banks
  // apart.
  __shared__ __align__(16) int known[kThreads / kLanes][kKnown];
  int* group = known[threadIdx.x / kLanes];
  if (__any_sync(kAllLanes, draws)) {
#pragma unroll
    for (int q = 0; q < kHeld; ++q) group[lane + q * kLanes] = held[q];
    __syncwarp();
    bool replaced[kHeld] = {};
    for (int first = 0; first < fanout; first += 4) {  // equal to an earlier one
      const int4 four = *reinterpret_cast<const int4*>(group + first);
      const int draw[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int q = 0; q < kHeld; ++q) replaced[q] |= draws && first + e < lane + q * kLanes && held[q] == draw[e];
      }
    }
    __syncwarp();                                                 // all have read
    for (bool changed = true; __any_sync(kAllLanes, changed);) {  // equal to an earlier one's replacement
      unsigned all = 0;                                           // bit j: this destination's slot j is replaced
#pragma unroll
      for (int q = 0; q < kHeld; ++q) {
        const unsigned votes = __ballot_sync(kAllLanes, replaced[q]) >> (threadIdx.x % 32 / kLanes * kLanes);
        all |= (kLanes < 32 ? votes & 0xffffu : votes) << (q * kLanes % 32);
      }
      changed = false;
#pragma unroll
      for (int q = 0; q < kHeld; ++q) {
        const int j = lane + q * kLanes, e = held[q] - (degree - fanout);
        if (draws && !replaced[q] && j < fanout && e >= 0 && e < j && (all >> e & 1u) != 0) {
          replaced[q] = true;
          changed = true;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < kHeld; ++q) {
      if (replaced[q]) held[q] = degree - fanout + lane + q * kLanes;
    }
  }
#pragma unroll
  for (int q = 0; q < kHeld; ++q) {
    group[lane + q * kLanes] = lane + q * kLanes < count ? __ldg(columns + begin + held[q]) : -1;
  }
  __syncwarp();

  int longest = count;  // of the warp's groups
  if (kLanes < 32) longest = max(longest, __shfl_xor_sync(kAllLanes, longest, 16));
  const float share = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
  for (int first_column = 0; first_column < vectors; first_column += kLanes) {
    const int column = first_column + lane;
    const bool mine = present && column < vectors;
    Vector* to = reinterpret_cast<Vector*>(out + row * 2 * dim) + column;
    Vector own_pack = Vector();
    if (mine) own_pack = __ldg(reinterpret_cast<const Vector*>(x + own * dim) + column);
    float sum[kWidth] = {};
    for (int first = 0; first < longest; first += kDeep) {
      Vector packs[kDeep];
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        const int source = first + u < kLanes * kHeld ? group[first + u] : -1;
        packs[u] = mine && source >= 0
                       ? __ldg(reinterpret_cast<const Vector*>(x + static_cast<long long>(source) * dim) + column)
                       : Vector();
      }
#pragma unroll
      for (int u = 0; u < kDeep; ++u) Add<kWidth>(sum, packs[u]);
    }
    if (mine) {
      __stcs(to, Rounded<kWidth>(sum, share));
      __stcs(to + vectors, own_pack);
    }
  }
}

// Any fanout. A warp a destination; shared memory: fanout integers.
template <int kWidth>
__global__ void sample_mean_many(const __half* __restrict__ x, const long long* __restrict__ row_offsets,
                                 const int* __restrict__ columns, const int* __restrict__ key,
                                 const int* __restrict__ node, __half* __restrict__ out, int fanout, int dim) {
  using Vector = typename Pack<kWidth>::Type;
  extern __shared__ int drawn[];
  const int lane = static_cast<int>(threadIdx.x), vectors = dim / kWidth;
  const long long row = blockIdx.x, own = __ldg(node + row), begin = __ldg(row_offsets + own);
  const int degree = static_cast<int>(__ldg(row_offsets + own + 1) - begin), count = min(degree, fanout);
  const int4 words = __ldg(reinterpret_cast<const int4*>(key));
  for (int j = lane; j < count; j += 32) {
    drawn[j] = degree > fanout ? Below(words, static_cast<unsigned>(own), static_cast<unsigned>(j),
                                       static_cast<unsigned>(degree - fanout + j + 1))
                               : j;
  }
  __syncwarp();
  for (int j = 1; degree > fanout && j < fanout; ++j) {
    const int slot = drawn[j];
    bool taken = false;
    for (int earlier = lane; earlier < j; earlier += 32) taken |= drawn[earlier] == slot;
    if (!__any_sync(kAllLanes, taken)) continue;
    __syncwarp();  // all have read
    if (lane == 0) drawn[j] = degree - fanout + j;
    __syncwarp();
  }
  for (int j = lane; j < count; j += 32) drawn[j] = __ldg(columns + begin + drawn[j]);
  __syncwarp();

  const float share = count > 0 ? 1.0f / static_cast<float>(count) : 0.0f;
  for (int column = lane; column < vectors; column += 32) {
    float sum[kWidth] = {};
#pragma unroll 8
    for (int j = 0; j < count; ++j) {
      Add<kWidth>(sum, __ldg(reinterpret_cast<const Vector*>(x + static_cast<long long>(drawn[j]) * dim) + column));
    }
    Vector* to = reinterpret_cast<Vector*>(out + row * 2 * dim) + column;
    __stcs(to, Rounded<kWidth>(sum, share));
    __stcs(to + vectors, __ldg(reinterpret_cast<const Vector*>(x + own * dim) + column));
  }
}
