// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/edge_softmax.cu with the bindings that were fastest on an H200, by shape.
//
// edge_softmax in one pass over a destination's slots, with as many lanes a destination as its row has vectors. Each
// lane reads one slot and its scores. A row is read once for up to four heads; what does not count (self slots, slots
// past the degree) is not read at all.
//
// Where slots and vectors are no more than lanes, as in every sampled hop, all rows of a destination are copied to shared
// memory at once, each lane its own vectors: rows under way cost no registers. Blocks stay; while they weigh and add the rows of
// one destination those of the next are on their way, and the slots of the one after it. Else rows of DEEP slots are under
// way in registers, and further slots rescale what is there (running maximum).
/*hone
[tune]
BLOCK = [64]
DEEP = [8]
DEEP_HEADS = [6]      # with four heads at a time

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
kernel = "edge_softmax_short<32, 4, BLOCK>"
grid   = ["dim > 0 ? min(ceil_div(num_dst, BLOCK / 32), sm_count * max(1, min(2048 / BLOCK, 233472 / (BLOCK * (fanout + 1) * 32 + 1024)))) : 0", "heads / 4"]
block  = ["BLOCK"]
shared = "BLOCK * (fanout + 1) * 32"
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "out", "num_dst:i64", "fanout:i32", "heads:i32",
          "dim:i32", "negative_slope:f32"]
when   = "dim % 8 == 0 && dim <= 256 && fanout < 32 && heads % 4 == 0 && heads < 260000 && BLOCK * (fanout + 1) * 32 <= 232448"

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

// kLanes threads a destination, with fanout < kLanes and at most eight elements a lane; grid rows share the heads, kHeads at
// a time. Lanes of a warp shuffle together. Dynamic shared memory: 32 (fanout + 1) bytes a thread.
template <int kLanes, int kHeads, int kThreads>
__global__ void __launch_bounds__(kThreads)
    edge_softmax_short(const __half* __restrict__ x, const float* __restrict__ score_src,
                       const float* __restrict__ score_dst, const int* __restrict__ self, const int* __restrict__ index,
                       const int* __restrict__ degree, __half* __restrict__ out, long long num_dst, int fanout, int heads,
                       int dim, float negative_slope) {
  constexpr int kGroups = kThreads / kLanes;
  extern __shared__ uint4 rows[];  // [2][fanout + 1][kThreads]: a thread reads what it copied itself
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool mine = lane * 8 < dim;
  const int in_warp = static_cast<int>(threadIdx.x) % 32 / kLanes;  // this destination among the warp's
  const int first_head = static_cast<int>(blockIdx.y) * kHeads;
  const long long stride = static_cast<long long>(gridDim.x) * kGroups;
  const __half* column = x + lane * 8;

  // Of this lane's slot of a destination, item 0 being the destination itself. Three loads that do not wait for each other:
  // slots past the degree hold rows too. Where there is no destination, all of this is row 0.
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
        if (mine) __pipeline_memcpy_async(to + j * kThreads, column + static_cast<long long>(source) * dim, sizeof(uint4));
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
