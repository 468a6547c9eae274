// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// gather_mean_backward as a segmented sum. Most sources were drawn once or never, so a sum a source has one row under
// way and waits for three loads in turn (offsets, slot, row). Here a group of lanes, one a vector of the row, takes
// SOURCES consecutive sources: their slots lie side by side, are read by all lanes at once (with the destination's
// share, so that the division is done once a slot), and DEEP rows are under way whichever sources they belong to. Slots
// are added in their order.
/*hone
[tune]
BLOCK = [256, 128, 512]
SOURCES = [4, 8, 2, 1]
DEEP = [4, 8, 6, 2]

[[launch]]
kernel = "gather_mean_backward<8, 16, SOURCES, DEEP, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_src, SOURCES * BLOCK / 16) : 0"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && dim <= 128"

[[launch]]
kernel = "gather_mean_backward<8, 32, SOURCES, DEEP, BLOCK>"
grid   = ["ceil_div(num_src, SOURCES * BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean_backward<4, 32, SOURCES, DEEP, BLOCK>"
grid   = ["ceil_div(num_src, SOURCES * BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 4 == 0"

[[launch]]
kernel = "gather_mean_backward<1, 32, SOURCES, DEEP, BLOCK>"
grid   = ["ceil_div(num_src, SOURCES * BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
*/
#include <cuda_bf16.h>

namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

// kWidth consecutive bfloat16 in one load or store.
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
  using Type = __nv_bfloat16;
};

}  // namespace

// kLanes threads for kSources < kLanes sources. dim is a multiple of kWidth. Lanes of a warp shuffle together, so that
// its groups run equally many steps; what a group lacks is a row of zeros, which is not read.
template <int kWidth, int kLanes, int kSources, int kDeep, int kThreads>
__global__ void __launch_bounds__(kThreads)
    gather_mean_backward(const __nv_bfloat16* __restrict__ grad_out, const int* __restrict__ degree,
                         const int* __restrict__ row_offsets, const int* __restrict__ slot,
                         __nv_bfloat16* __restrict__ grad_x, long long num_src, int fanout, int dim) {
  static_assert(kSources < kLanes, "a lane holds an offset");
  using Vector = typename Pack<kWidth>::Type;
  constexpr int kGroups = kThreads / kLanes;
  struct Slot {
    int vertex;   // -1: none
    float share;  // of its gradient that the source takes
  };
  __shared__ int ends[kGroups][kSources];
  __shared__ Slot slots[kGroups][kLanes];
  const int group = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const long long first_source = (static_cast<long long>(blockIdx.x) * kGroups + group) * kSources;
  const int sources = static_cast<int>(max(0LL, min(static_cast<long long>(kSources), num_src - first_source)));
  const int offset = sources > 0 && lane <= sources ? __ldg(row_offsets + first_source + lane) : 0;
  const int begin = __shfl_sync(kAllLanes, offset, 0, kLanes);
  const int end = __shfl_sync(kAllLanes, offset, sources, kLanes);
  if (lane > 0 && lane <= sources) ends[group][lane - 1] = offset;
  __syncwarp();
  int longest = end - begin;  // of the warp's groups
  if (kLanes < 32) longest = max(longest, __shfl_xor_sync(kAllLanes, longest, 16));

  const int vectors = dim / kWidth;
  for (int first_column = 0; first_column < vectors; first_column += kLanes) {
    const int column = first_column + lane;
    const bool mine = column < vectors;
    float sum[kWidth] = {};
    int source = 0, source_end = sources > 0 ? ends[group][0] : 0;
    const auto finish = [&] {  // this source's sum; on to the next one
      if (mine) {
        Vector packed;
        __nv_bfloat16* r = reinterpret_cast<__nv_bfloat16*>(&packed);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) r[e] = __float2bfloat16_rn(sum[e]);
        __stcs(reinterpret_cast<Vector*>(grad_x + (first_source + source) * dim) + column, packed);
      }
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] = 0.0f;
      if (++source < sources) source_end = ends[group][source];
    };

    for (int base = 0; base < longest; base += kLanes) {
      const int t = begin + base + lane, here = min(kLanes, longest - base);
      Slot known = {-1, 0.0f};
      if (t < end) {
        known.vertex = __ldg(slot + t) / fanout;
        known.share = 1.0f / static_cast<float>(max(1, min(__ldg(degree + known.vertex), fanout)));
      }
      __syncwarp();  // all have read what was there
      slots[group][lane] = known;
      __syncwarp();
      for (int first = 0; first < here; first += kDeep) {
        Vector packs[kDeep];
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const int row = first + u < here ? slots[group][first + u].vertex : -1;
          if (mine && row >= 0) {
            packs[u] = __ldg(reinterpret_cast<const Vector*>(grad_out + static_cast<long long>(row) * dim) + column);
          }
        }
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const int at = begin + base + first + u;
          if (first + u >= here || at >= end) continue;
          const float scale = slots[group][first + u].share;
          while (at >= source_end) finish();
          const __nv_bfloat16* v = reinterpret_cast<const __nv_bfloat16*>(&packs[u]);
          if (mine) {
#pragma unroll
            for (int e = 0; e < kWidth; ++e) sum[e] += scale * __bfloat162float(v[e]);
          }
        }
      }
    }
    while (source < sources) finish();
  }
}
