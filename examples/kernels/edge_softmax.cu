// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// edge_softmax in one pass over a destination's slots. What does not count (self slots, slots past the degree) weighs
// nothing.
//
// Where slots are no more than lanes, as in every sampled hop, all rows of a destination are copied to shared memory at
// once, each lane its own vectors, while the softmax of their weights happens: rows under way cost no registers.
//  * One head: as many lanes a destination as its row has vectors. Blocks stay; while they weigh and add the rows of
//    one destination those of the next are on their way, and the slots of the one after it.
//  * Several heads, whose sums took longer than their rows: tensor cores multiply weights by rows, eight heads at once.
//  * One head and few destinations, which wait for round trips more than for bytes: a block a destination, everything
//    that can be asked for at once under way at once.
// Else rows of DEEP slots are under way in registers, and further slots rescale what is there (running maximum); a row
// is read once for up to four heads.
/*hone
[tune]
BLOCK = [32, 64, 128]
DEEP = [8]
DEEP_HEADS = [6]  # with four heads at a time
TENSOR = [2, 1]   # heads from which tensor cores add
FEW = [80, 16, 0]  # destinations an SM up to which each has a block of its own

[[launch]]
kernel = "edge_softmax_few<4>"
grid   = ["num_dst"]
block  = ["128"]
args   = ["fanout:i32", "negative_slope:f32", "self", "index", "degree", "score_dst", "score_src", "x", "out",
          "num_src:i32"]
when   = "dim == 256 && heads == 1 && fanout >= 8 && fanout < 16 && num_dst <= sm_count * FEW"

[[launch]]
kernel = "edge_softmax_few<2>"
grid   = ["num_dst"]
block  = ["64"]
args   = ["fanout:i32", "negative_slope:f32", "self", "index", "degree", "score_dst", "score_src", "x", "out",
          "num_src:i32"]
when   = "dim == 128 && heads == 1 && fanout >= 8 && fanout < 16 && num_dst <= sm_count * FEW"

[[launch]]
kernel = "edge_softmax_few<1>"
grid   = ["num_dst"]
block  = ["32"]
args   = ["fanout:i32", "negative_slope:f32", "self", "index", "degree", "score_dst", "score_src", "x", "out",
          "num_src:i32"]
when   = "dim == 64 && heads == 1 && fanout >= 8 && fanout < 16 && num_dst <= sm_count * FEW"

[[launch]]
kernel = "edge_softmax_tensor<1, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)", "ceil_div(heads, 8)"]
block  = ["BLOCK"]
shared = "BLOCK * max(fanout + 1, min(heads, 8)) * 16"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 64 == 0 && dim > 128 && dim <= 256 && fanout < 16 && heads >= TENSOR && heads < 500000"

[[launch]]
kernel = "edge_softmax_tensor<2, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)", "ceil_div(heads, 8)"]
block  = ["BLOCK"]
shared = "BLOCK * max(fanout + 1, min(heads, 8)) * 16"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 64 == 0 && dim > 128 && dim <= 256 && fanout < 32 && heads >= TENSOR && heads < 500000"

[[launch]]
kernel = "edge_softmax_short<16, 4, BLOCK>"
grid   = ["dim > 0 ? min(ceil_div(num_dst, BLOCK / 16), sm_count * max(1, min(2048 / BLOCK, 233472 / (BLOCK * (fanout + 1) * 32 + 1024)))) : 0", "heads / 4"]
block  = ["BLOCK"]
shared = "BLOCK * (fanout + 1) * 32"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 128 && fanout < 16 && heads % 4 == 0 && heads < 260000 && BLOCK * (fanout + 1) * 32 <= 232448"

[[launch]]
kernel = "edge_softmax_short<16, 1, BLOCK>"
grid   = ["dim > 0 ? min(ceil_div(num_dst, BLOCK / 16), sm_count * max(1, min(2048 / BLOCK, 233472 / (BLOCK * (fanout + 1) * 32 + 1024)))) : 0", "heads"]
block  = ["BLOCK"]
shared = "BLOCK * (fanout + 1) * 32"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 128 && fanout < 16 && heads < 65536 && BLOCK * (fanout + 1) * 32 <= 232448"

[[launch]]
kernel = "edge_softmax_short<32, 1, BLOCK>"
grid   = ["dim > 0 ? min(ceil_div(num_dst, BLOCK / 32), sm_count * max(1, min(2048 / BLOCK, 233472 / (BLOCK * (fanout + 1) * 32 + 1024)))) : 0", "heads"]
block  = ["BLOCK"]
shared = "BLOCK * (fanout + 1) * 32"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 256 && fanout < 32 && heads < 65536 && BLOCK * (fanout + 1) * 32 <= 232448"

[[launch]]
kernel = "edge_softmax<8, 16, 4, DEEP_HEADS, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 16) : 0", "heads / 4"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 128 && heads % 4 == 0 && heads < 260000"

[[launch]]
kernel = "edge_softmax<8, 32, 4, DEEP_HEADS, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 32) : 0", "heads / 4"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && heads % 4 == 0 && heads < 260000"

[[launch]]
kernel = "edge_softmax<8, 16, 1, DEEP, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / 16) : 0", "heads"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 128 && heads < 65536"

[[launch]]
kernel = "edge_softmax<8, 32, 1, DEEP, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)", "heads"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && heads < 65536"

[[launch]]
kernel = "edge_softmax<4, 32, 1, DEEP, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)", "heads"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 4 == 0 && heads < 65536"

[[launch]]
kernel = "edge_softmax<1, 32, 1, DEEP, BLOCK>"
grid   = ["ceil_div(num_dst, BLOCK / 32)", "min(heads, 65535)"]
block  = ["BLOCK"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
*/
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>

namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
// Of what does not count: far enough down that its exponential is 0.
constexpr float kNever = -3.402823466e38f;
constexpr float kLift = 32768.0f;  // a power of two: products and sums are as exact with it as without

// kWidth consecutive float16 in one load or store.
template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<4> {
  using Type = uint2;
};
template <>
struct Pack<1> {
  using Type = __half;
};

// kHeads consecutive scores; four of them lie on a 16-byte boundary.
template <int kHeads>
__device__ __forceinline__ void LoadScores(const float* from, float (&scores)[kHeads]) {
  if constexpr (kHeads == 4) {
    const float4 v = __ldg(reinterpret_cast<const float4*>(from));
    scores[0] = v.x;
    scores[1] = v.y;
    scores[2] = v.z;
    scores[3] = v.w;
  } else {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) scores[h] = __ldg(from + h);
  }
}

}  // namespace

// A warp a destination, with fanout < 16 kSteps and dim a multiple of 64 up to 256; grid rows share the heads, eight at
// a time. The weighted sums are a product of two matrices, weights [heads, slots] and rows [slots, dim], which tensor
// cores make: of a weight what float16 holds stands in row `head` and what remains in row head + 8, so that the sum of
// both has 22 bits of it. Dynamic shared memory: for a warp, rows of 512 bytes for fanout + 1 slots, or the grid row's
// heads where these are more. Vector v of row j lies at v ^ j % 8, so that eight rows' vectors fall into different
// banks.
template <int kSteps, int kThreads>
__global__ void __launch_bounds__(kThreads)
    edge_softmax_tensor(const __half* __restrict__ x, const float* __restrict__ score_src,
                        const float* __restrict__ score_dst, const int* __restrict__ self,
                        const int* __restrict__ index, const int* __restrict__ degree, __half* __restrict__ out,
                        long long num_dst, int fanout, int heads, int dim, float negative_slope) {
  constexpr int kWarps = kThreads / 32, kHeads = 8, kHeld = 4 * kSteps;
  extern __shared__ uint4 rows[];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const long long vertex = static_cast<long long>(blockIdx.x) * kWarps + warp;
  if (vertex >= num_dst) return;
  uint4* own_rows = rows + warp * max(fanout + 1, min(heads, kHeads)) * 32;
  const bool mine = lane * 8 < dim;
  const int first_head = static_cast<int>(blockIdx.y) * kHeads, heads_here = min(heads - first_head, kHeads);

  // Of this lane's slot, item 0 being the destination itself. Three loads that do not wait for each other: slots past
  // the degree hold rows too. Bit j of `counting`: slot j counts.
  const int own = __ldg(self + vertex), items = __ldg(degree + vertex);
  const int row = lane > 0 && lane <= fanout ? __ldg(index + vertex * fanout + lane - 1) : own;
  const unsigned counting = __ballot_sync(kAllLanes, lane == 0 || (lane <= fanout && lane <= items && row != own));
  const char* column = reinterpret_cast<const char*>(x + lane * 8);
  const unsigned row_bytes = static_cast<unsigned>(dim) * sizeof(__half);
#pragma unroll
  for (int j = 0; j < 16 * kSteps; ++j) {
    if (j % 4 == 0 && j > fanout) break;
    const unsigned source = __shfl_sync(kAllLanes, row, j);
    if (mine && (counting & 1u << j) != 0) {
      __pipeline_memcpy_async(own_rows + j * 32 + (lane ^ j % 8),
                              column + static_cast<unsigned long long>(source) * row_bytes, sizeof(uint4));
    }
  }
  __pipeline_commit();

  // A lane weighs, for a head, slots 2 pair, 2 pair + 1 and these + 8, of each 16: what mma wants of it.
  const int head = lane / 4, pair = lane % 4;
  const bool has_head = head < heads_here;
  const auto item_of = [&](int i) { return i / 4 * 16 + i % 4 / 2 * 8 + 2 * pair + i % 2; };
  const auto counts = [&](int i) { return (counting >> item_of(i) & 1u) != 0; };
  const float destination = has_head ? __ldg(score_dst + vertex * heads + first_head + head) : 0.0f;
  float weight[kHeld], top = kNever;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const unsigned source = __shfl_sync(kAllLanes, row, item_of(i));
    weight[i] = 0.0f;
    if (has_head && counts(i)) {
      const auto at = static_cast<unsigned long long>(source) * static_cast<unsigned>(heads);
      weight[i] = __ldg(score_src + first_head + head + at);
    }
  }
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const float score = weight[i] + destination;
    weight[i] = counts(i) ? (score > 0.0f ? score : negative_slope * score) : kNever;
    top = fmaxf(top, weight[i]);
  }
  top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, 1));
  top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, 2));
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    weight[i] = counts(i) ? __expf(weight[i] - top) : 0.0f;
    total += weight[i];
  }
  total += __shfl_xor_sync(kAllLanes, total, 1);
  total += __shfl_xor_sync(kAllLanes, total, 2);
  // Weights as float16 pairs, 2^15 times as large: else those below 6e-5 lose digits, and a small weight of a large row may
  // be all that a sum has.
  const float scale = __fdividef(kLift, total);
  unsigned high[2 * kSteps], low[2 * kSteps];  // two weights each
#pragma unroll
  for (int i = 0; i < kHeld; i += 2) {
    const float a = weight[i] * scale, b = weight[i + 1] * scale;
    const __half2 whole = __floats2half2_rn(a, b);
    const float2 held = __half22float2(whole);
    const __half2 rest = __floats2half2_rn(a - held.x, b - held.y);
    high[i / 2] = *reinterpret_cast<const unsigned*>(&whole);
    low[i / 2] = *reinterpret_cast<const unsigned*>(&rest);
  }

  // A lane points ldmatrix to slot lane % 16 of each 16. One that does not count has no row: the destination's own
  // stands in, with no weight.
  unsigned from[kSteps][4];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const int item = s * 16 + lane % 16, at = (counting >> item & 1u) != 0 ? item : 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      from[s][q] = static_cast<unsigned>(__cvta_generic_to_shared(own_rows + at * 32 + ((2 * q + lane / 16) ^ at % 8)));
    }
  }
  // Always, but ptxas would wait before it asks for the scores, were it not for the condition.
  if (!(total < 0.0f)) __pipeline_wait_prior(0);
  __syncwarp();
  // Columns 64 at a time: when all have read them, their place is the sums'.
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c * 64 >= dim) break;
    unsigned sums[8];  // of columns 64 c + 8 i + 2 pair and the next one, for this lane's head
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      float d[2][4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        unsigned b[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                     : "r"(from[s][q] + c * 128)
                     : "memory");
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(d[half][0]), "+f"(d[half][1]), "+f"(d[half][2]), "+f"(d[half][3])
              : "r"(high[2 * s]), "r"(low[2 * s]), "r"(high[2 * s + 1]), "r"(low[2 * s + 1]), "r"(b[2 * half]),
                "r"(b[2 * half + 1]));
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const __half2 both = __floats2half2_rn((d[half][0] + d[half][2]) * (1.0f / kLift),
                                               (d[half][1] + d[half][3]) * (1.0f / kLift));
        sums[2 * q + half] = *reinterpret_cast<const unsigned*>(&both);
      }
    }
    __syncwarp();
    if (has_head) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        reinterpret_cast<unsigned*>(own_rows + head * 32 + c * 8 + (i ^ head))[pair] = sums[i];
    }
  }
  __syncwarp();
  if (!mine) return;
  uint4* to = reinterpret_cast<uint4*>(out + (vertex * heads + first_head) * dim) + lane;
#pragma unroll 4
  for (int h = 0; h < heads_here; ++h) __stcs(to + h * (dim / 8), own_rows[h * 32 + (lane ^ h)]);
}

// kLanes threads a destination, with fanout < kLanes and at most eight elements a lane; grid rows share the heads,
// kHeads at a time. Lanes of a warp shuffle together. Dynamic shared memory: 32 (fanout + 1) bytes a thread.
template <int kLanes, int kHeads, int kThreads>
__global__ void __launch_bounds__(kThreads)
    edge_softmax_short(const __half* __restrict__ x, const float* __restrict__ score_src,
                       const float* __restrict__ score_dst, const int* __restrict__ self, const int* __restrict__ index,
                       const int* __restrict__ degree, __half* __restrict__ out, long long num_dst, int fanout,
                       int heads, int dim, float negative_slope) {
  constexpr int kGroups = kThreads / kLanes;
  extern __shared__ uint4 rows[];  // [2][fanout + 1][kThreads]: a thread reads what it copied itself
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool mine = lane * 8 < dim;
  const int in_warp = static_cast<int>(threadIdx.x) % 32 / kLanes;  // this destination among the warp's
  const int first_head = static_cast<int>(blockIdx.y) * kHeads;
  const long long stride = static_cast<long long>(gridDim.x) * kGroups;
  const __half* column = x + lane * 8;

  // Of this lane's slot of a destination, item 0 being the destination itself. Three loads that do not wait for each
  // other: slots past the degree hold rows too. Where there is no destination, all of this is row 0.
  struct Slot {
    int own = 0, row = 0, items = 0;
  };
  const auto load_slot = [&](long long vertex) {
    Slot slot;
    if (vertex < num_dst) {
      slot.own = __ldg(self + vertex);
      slot.items = __ldg(degree + vertex);
      if (lane > 0 && lane <= fanout) slot.row = __ldg(index + vertex * fanout + lane - 1);
    }
    return slot;
  };
  // The rows behind a destination's slots on their way, and the scores of this lane's slot. What does not count is the
  // destination's own row, with no weight.
  struct Scores {
    float source[kHeads], destination[kHeads];
    bool counts;
  };
  const auto start = [&](const Slot& slot, long long vertex, uint4* to) {
    Scores scores;
    scores.counts = vertex < num_dst && (lane == 0 || (lane <= fanout && lane <= slot.items && slot.row != slot.own));
    const int row = scores.counts && lane > 0 ? slot.row : slot.own;
    if (vertex - in_warp < num_dst) {  // all lanes of a warp or none
#pragma unroll 4
      for (int j = 0; j <= fanout; ++j) {
        const int source = __shfl_sync(kAllLanes, row, j, kLanes);
        if (mine)
          __pipeline_memcpy_async(to + j * kThreads, column + static_cast<long long>(source) * dim, sizeof(uint4));
      }
#pragma unroll
      for (int h = 0; h < kHeads; ++h) scores.source[h] = scores.destination[h] = 0.0f;
      if (scores.counts) {
        LoadScores<kHeads>(score_src + static_cast<long long>(row) * heads + first_head, scores.source);
        LoadScores<kHeads>(score_dst + vertex * heads + first_head, scores.destination);
      }
    }
    __pipeline_commit();
    return scores;
  };

  uint4 *now = rows + threadIdx.x, *next = now + (fanout + 1) * kThreads;
  long long vertex = static_cast<long long>(blockIdx.x) * kGroups + threadIdx.x / kLanes;
  Scores scores = start(load_slot(vertex), vertex, now);
  Slot following = load_slot(vertex + stride);
  for (; vertex - in_warp < num_dst; vertex += stride) {
    const Scores next_scores = start(following, vertex + stride, next);
    following = load_slot(vertex + 2 * stride);

    float weight[kHeads];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float score = scores.source[h] + scores.destination[h];
      const float logit = scores.counts ? (score > 0.0f ? score : negative_slope * score) : kNever;
      float top = logit;
#pragma unroll
      for (int offset = kLanes / 2; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, offset));
      weight[h] = scores.counts ? __expf(logit - top) : 0.0f;
      float total = weight[h];
#pragma unroll
      for (int offset = kLanes / 2; offset > 0; offset /= 2) total += __shfl_xor_sync(kAllLanes, total, offset);
      weight[h] = __fdividef(weight[h], total);
    }

    __pipeline_wait_prior(1);
    float sum[kHeads][8] = {};
#pragma unroll 4
    for (int j = 0; j <= fanout; ++j) {
      float share[kHeads];
#pragma unroll
      for (int h = 0; h < kHeads; ++h) share[h] = __shfl_sync(kAllLanes, weight[h], j, kLanes);
      uint4 pack = make_uint4(0, 0, 0, 0);
      if (mine) pack = now[j * kThreads];
      const __half2* v = reinterpret_cast<const __half2*>(&pack);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float2 values = __half22float2(v[e]);
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          sum[h][2 * e] += share[h] * values.x;
          sum[h][2 * e + 1] += share[h] * values.y;
        }
      }
    }
    if (mine && vertex < num_dst) {
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        uint4 packed;
        __half2* r = reinterpret_cast<__half2*>(&packed);
#pragma unroll
        for (int e = 0; e < 4; ++e) r[e] = __floats2half2_rn(sum[h][2 * e], sum[h][2 * e + 1]);
        __stcs(reinterpret_cast<uint4*>(out + (vertex * heads + first_head + h) * dim) + lane, packed);
      }
    }
    uint4* const was = now;
    now = next;
    next = was;
    scores = next_scores;
  }
}

// kLanes threads a destination; grid rows share the heads, kHeads at a time. dim is a multiple of kWidth, heads of
// kHeads. Every loop runs equally often in all lanes of a warp, which shuffle together.
template <int kWidth, int kLanes, int kHeads, int kDeep, int kThreads>
__global__ void __launch_bounds__(kThreads)
    edge_softmax(const __half* __restrict__ x, const float* __restrict__ score_src, const float* __restrict__ score_dst,
                 const int* __restrict__ self, const int* __restrict__ index, const int* __restrict__ degree,
                 __half* __restrict__ out, long long num_dst, int fanout, int heads, int dim, float negative_slope) {
  using Vector = typename Pack<kWidth>::Type;
  // Of each group's slots: the row, -1 where none counts, and the weights, which all of its lanes are to know.
  __shared__ int rows[kThreads / kLanes][kLanes];
  __shared__ __align__(16) float weights[kThreads / kLanes][kLanes][kHeads];
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const long long vertex = static_cast<long long>(blockIdx.x) * (kThreads / kLanes) + group;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool present = vertex < num_dst;
  const int own_row = present ? __ldg(self + vertex) : -1;
  const int items = present ? 1 + min(__ldg(degree + vertex), fanout) : 0;  // item 0 is the destination itself
  const int vectors = dim / kWidth;

  for (int first_head = static_cast<int>(blockIdx.y) * kHeads; first_head < heads; first_head += gridDim.y * kHeads) {
    float destination[kHeads] = {};
    if (present) LoadScores<kHeads>(score_dst + vertex * heads + first_head, destination);

    for (int first_column = 0; first_column < vectors; first_column += kLanes) {
      const int column = first_column + lane;
      const bool mine = present && column < vectors;
      float top[kHeads], total[kHeads], sum[kHeads][kWidth] = {};
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        top[h] = kNever;
        total[h] = 0.0f;
      }

      for (int base = 0; base <= fanout; base += kLanes) {
        const int item = base + lane, here = min(kLanes, fanout + 1 - base);
        int row = item < items ? (item == 0 ? own_row : __ldg(index + vertex * fanout + item - 1)) : -1;
        if (item > 0 && row == own_row) row = -1;

        __syncwarp();  // all are done with the slots before
        rows[group][lane] = row;
        __syncwarp();

        Vector packs[kDeep];
        const auto fetch = [&](int first) {
#pragma unroll
          for (int u = 0; u < kDeep; ++u) {
            const int source = first + u < here ? rows[group][first + u] : -1;
            if (mine && source >= 0) {
              packs[u] = __ldg(reinterpret_cast<const Vector*>(x + static_cast<long long>(source) * dim) + column);
            } else {
              packs[u] = Vector();
            }
          }
        };
        fetch(0);

        float weight[kHeads];
#pragma unroll
        for (int h = 0; h < kHeads; ++h) weight[h] = kNever;
        if (row >= 0) {
          LoadScores<kHeads>(score_src + static_cast<long long>(row) * heads + first_head, weight);
#pragma unroll
          for (int h = 0; h < kHeads; ++h) {
            const float score = weight[h] + destination[h];
            weight[h] = score > 0.0f ? score : negative_slope * score;
          }
        }
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          float higher = fmaxf(top[h], weight[h]);
#pragma unroll
          for (int offset = kLanes / 2; offset > 0; offset /= 2) {
            higher = fmaxf(higher, __shfl_xor_sync(kAllLanes, higher, offset));
          }
          const float keep = __expf(top[h] - higher);
          weight[h] = row >= 0 ? __expf(weight[h] - higher) : 0.0f;
          weights[group][lane][h] = weight[h];
          total[h] = total[h] * keep + weight[h];
          top[h] = higher;
          if (base > 0) {
#pragma unroll
            for (int e = 0; e < kWidth; ++e) sum[h][e] *= keep;
          }
        }

        __syncwarp();

        for (int first = 0; first < here; first += kDeep) {
          if (first > 0) fetch(first);
#pragma unroll
          for (int u = 0; u < kDeep; ++u) {
            // Past the last one packs are 0, whatever the weight.
            const __half* v = reinterpret_cast<const __half*>(&packs[u]);
            float values[kWidth];
#pragma unroll
            for (int e = 0; e < kWidth; ++e) values[e] = __half2float(v[e]);
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
              const float share = weights[group][min(first + u, kLanes - 1)][h];
#pragma unroll
              for (int e = 0; e < kWidth; ++e) sum[h][e] += share * values[e];
            }
          }
        }
      }

#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
#pragma unroll
        for (int offset = kLanes / 2; offset > 0; offset /= 2) total[h] += __shfl_xor_sync(kAllLanes, total[h], offset);
        if (!mine) continue;
        const float scale = 1.0f / total[h];
        Vector packed;
        __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) r[e] = __float2half_rn(sum[h][e] * scale);
        __stcs(reinterpret_cast<Vector*>(out + (vertex * heads + first_head + h) * dim) + column, packed);
      }
    }
  }
}

// The order of floats as integers.
__device__ __forceinline__ int Ordered(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

// Loads that a warp's barrier keeps where they are: left to itself ptxas saves registers by asking for a row where it is
// added, one round trip after the other.
__device__ __forceinline__ int AskFor(const int* from) {
  int value;
  asm volatile("ld.global.b32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ uint4 AskFor(const uint4* from) {
  uint4 value;
  asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

// Few destinations and one head, where what counts is how many loads wait for one another and how soon all rows are on
// their way. A block a destination, dim / 64 warps, each 64 columns of all its rows: a load takes four rows, and four
// loads all sixteen. Nothing is compared before the first loads, since blocks are for destinations alone; and none of
// these waits for another: they write different registers, for which a lane without a slot of its own reads another's.
// Scores are fetched to L2 by all blocks together while ids are on their way. heads is 1, fanout less than
// 16; well below, most of the sixteen rows that are read do not count.
template <int kWarps>
__global__ void __launch_bounds__(32 * kWarps)
    edge_softmax_few(int fanout, float negative_slope, const int* __restrict__ self, const int* __restrict__ index,
                     const int* __restrict__ degree, const float* __restrict__ score_dst,
                     const float* __restrict__ score_src, const __half* __restrict__ x, __half* __restrict__ out,
                     int num_src) {
  constexpr unsigned kRowVectors = 8 * kWarps;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, vertex = blockIdx.x;
  const int slot = static_cast<int>(lane) - 1;
  const int own = AskFor(self + vertex), items = AskFor(degree + vertex);
  const int drawn = AskFor(index + static_cast<unsigned long long>(vertex) * fanout + min(max(slot, 0), fanout - 1));
  const float destination = __int_as_float(AskFor(reinterpret_cast<const int*>(score_dst) + vertex));
  const unsigned line = threadIdx.x * gridDim.x + blockIdx.x;
  if (line < static_cast<unsigned>(num_src) / 32) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(score_src + line * 32) : "memory");
  }
  __syncwarp();

  // What does not count is the destination's own row, with no weight.
  const bool counts = slot < 0 || (slot < fanout && slot < items && drawn != own);
  const int row = counts && slot >= 0 ? drawn : own;
  const unsigned group = lane / 8;
  uint4 packs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned long long from = static_cast<unsigned>(__shfl_sync(kAllLanes, row, i * 4 + group));
    packs[i] = AskFor(reinterpret_cast<const uint4*>(x) + from * kRowVectors + warp * 8 + lane % 8);
  }
  const float source = __int_as_float(AskFor(reinterpret_cast<const int*>(score_src) + row));
  __syncwarp();  // all are asked for before weights are made

  const float score = source + destination, logit = score > 0.0f ? score : negative_slope * score;
  const int top =
      __reduce_max_sync(kAllLanes, counts ? Ordered(__float_as_int(logit)) : Ordered(__float_as_int(kNever)));
  float weight = counts ? __expf(logit - __int_as_float(Ordered(top))) : 0.0f;
  float total = weight;
#pragma unroll
  for (int offset = 8; offset > 0; offset /= 2) total += __shfl_xor_sync(kAllLanes, total, offset);
  weight = __fdividef(weight, __shfl_sync(kAllLanes, total, 0));

  float sum[8] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float share = __shfl_sync(kAllLanes, weight, i * 4 + group);
    const __half2* v = reinterpret_cast<const __half2*>(&packs[i]);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float2 values = __half22float2(v[e]);
      sum[2 * e] += share * values.x;
      sum[2 * e + 1] += share * values.y;
    }
  }
  // The four groups of lanes add up, each for a quarter of the columns.
  const bool upper = (group & 1) != 0, second = (group & 2) != 0;
  float half[4], quarter[2];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float other = __shfl_xor_sync(kAllLanes, upper ? sum[e] : sum[4 + e], 8);
    half[e] = (upper ? sum[4 + e] : sum[e]) + other;
  }
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float other = __shfl_xor_sync(kAllLanes, second ? half[e] : half[2 + e], 16);
    quarter[e] = (second ? half[2 + e] : half[e]) + other;
  }
  const unsigned pair = lane % 8 * 4 + (upper ? 2 : 0) + (second ? 1 : 0);  // of columns
  const __half2 packed = __floats2half2_rn(quarter[0], quarter[1]);
  __stcs(
      reinterpret_cast<unsigned*>(out) + (static_cast<unsigned long long>(vertex) * kRowVectors + warp * 8) * 4 + pair,
      *reinterpret_cast<const unsigned*>(&packed));
}
