// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/gather_mean_backward.cu with the bindings that were fastest on an H200, by shape.
//
// gather_mean_backward as a segmented sum. Most sources were drawn once or never, some by hundreds, and sources next to each
// other alike: a sum a source has one row under way mostly, and waits for the longest source in the end. Here a block takes as
// many consecutive sources as make, with their slots, ITEMS for each of its groups of lanes (one lane a vector of the row); it
// finds the first by a search of row_offsets with all threads. Its slots, which lie side by side, are dealt to the groups
// evenly, whichever sources they belong to, and DEEP rows are under way in each. A source whose slots two or more groups share
// is put together from their parts, in order, so that the order of additions follows from the input alone.
/*hone
[tune]
BLOCK = [128]
ITEMS = [16]
DEEP = [4]

[[launch]]
kernel = "gather_mean_backward<8, 16, ITEMS, DEEP, BLOCK>"
grid   = ["dim > 0 ? ceil_div(num_src + num_dst * fanout, ITEMS * BLOCK / 16) : 0"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0 && dim <= 128"

[[launch]]
kernel = "gather_mean_backward<8, 32, ITEMS, DEEP, BLOCK>"
grid   = ["ceil_div(num_src + num_dst * fanout, ITEMS * BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean_backward<4, 32, ITEMS, DEEP, BLOCK>"
grid   = ["ceil_div(num_src + num_dst * fanout, ITEMS * BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i32"]
when   = "dim % 4 == 0"

[[launch]]
kernel = "gather_mean_backward<1, 32, ITEMS, DEEP, BLOCK>"
grid   = ["ceil_div(num_src + num_dst * fanout, ITEMS * BLOCK / 32)"]
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

// kThreads / kLanes groups; the position of a source is its number and that of the slots before it, and block b takes those
// whose position is in the b-th kItems of each group. dim is a multiple of kWidth. Groups of a warp run equally many
// steps; what a group lacks is a row of zeros, which is not read.
template <int kWidth, int kLanes, int kItems, int kDeep, int kThreads>
__global__ void __launch_bounds__(kThreads)
    gather_mean_backward(const __nv_bfloat16* __restrict__ grad_out, const int* __restrict__ degree,
                         const int* __restrict__ row_offsets, const int* __restrict__ slot,
                         __nv_bfloat16* __restrict__ grad_x, long long num_src, int fanout, int dim) {
  using Vector = typename Pack<kWidth>::Type;
  constexpr int kGroups = kThreads / kLanes;
  constexpr int kBlockItems = kGroups * kItems;
  __shared__ int ends[kBlockItems + 1];  // where a source's slots begin; the next one's where they end
  __shared__ int vertices[kGroups][kLanes];
  __shared__ float shares[kGroups][kLanes];
  __shared__ float before[kGroups][kWidth][kLanes];  // what a group has of a source that began before its slots
  const int group = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const long long first_position = static_cast<long long>(blockIdx.x) * kBlockItems;
  const int thread = static_cast<int>(threadIdx.x);
  // The first source at or behind that position, among [first_source, last].
  long long first_source = 0, last = num_src;
  while (first_source < last) {
    const long long step = (last - first_source + kThreads - 1) / kThreads, probe = first_source + thread * step;
    const int ahead = __syncthreads_count(probe < last && probe + __ldg(row_offsets + probe) < first_position);
    if (ahead == 0) break;
    last = min(last, first_source + ahead * step);
    first_source += (ahead - 1) * step + 1;
  }
  int own = 0;  // of the sources, counted by this thread
  for (int i = thread; i <= kBlockItems; i += kThreads) {
    const long long at = first_source + i;
    if (at > num_src) break;
    const int end = __ldg(row_offsets + at);
    ends[i] = end;
    own += at < num_src && at + end < first_position + kBlockItems;
  }
  int sources = 0;
  for (int i = 0; i < (kBlockItems + kThreads) / kThreads; ++i) sources += __syncthreads_count(own > i);
  if (sources == 0) return;
  const int all_begin = ends[0];
  const long long all = ends[sources] - all_begin;
  const auto begin_of = [&](int g) { return all_begin + static_cast<int>(all * g / kGroups); };
  const int begin = begin_of(group), end = begin_of(group + 1);
  int longest = end - begin;  // of the warp's groups
  if (kLanes < 32) longest = max(longest, __shfl_xor_sync(kAllLanes, longest, 16));
  // The source of the first slot: the last one that begins at or before it.
  int first = 0;
  for (int after = sources; after - first > 1;) {
    const int middle = (first + after) / 2;
    (ends[middle] <= begin ? first : after) = middle;
  }

  const int vectors = dim / kWidth;
  for (int first_column = 0; first_column < vectors; first_column += kLanes) {
    const int column = first_column + lane;
    const bool mine = column < vectors;
    const auto write = [&](int source, const float (&sum)[kWidth]) {
      if (!mine) return;
      Vector packed;
      __nv_bfloat16* r = reinterpret_cast<__nv_bfloat16*>(&packed);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) r[e] = __float2bfloat16_rn(sum[e]);
      __stcs(reinterpret_cast<Vector*>(grad_x + (first_source + source) * dim) + column, packed);
    };
    float sum[kWidth] = {};
    for (int i = group; i < sources; i += kGroups) {
      if (ends[i] == ends[i + 1]) write(i, sum);
    }

    int source = first, source_end = ends[first + 1];
    bool began_before = ends[first] < begin;
    const auto finish = [&] {  // this source's sum; on to the next one that has slots
      if (began_before) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) before[group][e][lane] = sum[e];
        began_before = false;
      } else {
        write(source, sum);
      }
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] = 0.0f;
    };

    for (int base = 0; base < longest; base += kLanes) {
      const int t = begin + base + lane, here = min(kLanes, longest - base);
      const int vertex = t < end ? static_cast<int>(static_cast<unsigned>(__ldg(slot + t)) / static_cast<unsigned>(fanout)) : -1;
      __syncwarp();  // all have read what was there
      vertices[group][lane] = vertex;
      __syncwarp();
      Vector packs[kDeep];
      const auto fetch = [&](int from) {
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const int row = from + u < here ? vertices[group][from + u] : -1;
          if (mine && row >= 0) {
            packs[u] = __ldg(reinterpret_cast<const Vector*>(grad_out + static_cast<long long>(row) * dim) + column);
          }
        }
      };
      fetch(0);
      shares[group][lane] = vertex >= 0 ? 1.0f / static_cast<float>(max(1, min(__ldg(degree + vertex), fanout))) : 0.0f;
      __syncwarp();
      for (int from = 0; from < here; from += kDeep) {
        if (from > 0) fetch(from);
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const int at = begin + base + from + u;
          if (from + u >= here || at >= end) continue;
          if (at >= source_end) {
            finish();
            do {
              source_end = ends[++source + 1];
            } while (at >= source_end);
          }
          const float scale = shares[group][from + u];
          const __nv_bfloat16* v = reinterpret_cast<const __nv_bfloat16*>(&packs[u]);
          if (mine) {
#pragma unroll
            for (int e = 0; e < kWidth; ++e) sum[e] += scale * __bfloat162float(v[e]);
          }
        }
      }
    }
    const bool goes_on = begin < end && source_end > end;
    const bool starts = goes_on && !began_before;  // the group in which a shared source begins puts it together
    if (begin < end && !starts) finish();
    __syncthreads();
    if (starts) {
      for (int other = group + 1; other < kGroups && begin_of(other) < source_end; ++other) {
        if (begin_of(other) == begin_of(other + 1)) continue;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sum[e] += before[other][e][lane];
      }
      write(source, sum);
    }
    if (first_column + kLanes < vectors) __syncthreads();  // the parts have been read
  }
}
