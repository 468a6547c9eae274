// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/gather_mean_backward.cu with the bindings that were fastest on an H200, by shape.
//
// gather_mean_backward as a segmented sum of which every block has an equal share. Most sources were drawn once or
// never, some by hundreds, and sources next to each other alike: a sum a source has one row under way mostly, and waits
// for the longest source in the end. Here PER_SM blocks an SM take as many consecutive sources as make, with their
// slots, an equal part of all; two rounds of loads tell a block where its sources begin. Its slots, which lie side by
// side, are dealt to its groups of lanes (one lane a vector of the row) evenly, whichever sources they belong to. In
// each group DEEP rows are always under way, the next one asked for where one was added; slots, degrees and what
// happens after a slot are looked up a batch ahead. Sources without slots are written while the first rows come. A
// source whose slots two or more groups share is put together from their parts, in order, so that the order of
// additions follows from the input alone.
/*hone
constraints = ["BLOCK * PER_SM >= 256", "BLOCK * PER_SM * DEEP <= 8192"]

[tune]
BLOCK = [192]
PER_SM = [6]
DEEP = [4]

[[launch]]
kernel = "gather_mean_backward<8, 16, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src <= 29710) && (dim == 128)"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<8, 32, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src <= 29710) && (dim % 256 == 0)"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<8, 16, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src <= 29710) && (dim % 8 == 0 && dim <= 128)"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<8, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src <= 29710) && (dim % 8 == 0)"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<4, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src <= 29710) && (dim % 4 == 0)"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<1, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when = "num_src <= 29710"
with = { BLOCK = 128, DEEP = 8, PER_SM = 4 }

[[launch]]
kernel = "gather_mean_backward<8, 16, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src > 29710 && num_src <= 93466) && (dim == 128)"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<8, 32, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src > 29710 && num_src <= 93466) && (dim % 256 == 0)"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<8, 16, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src > 29710 && num_src <= 93466) && (dim % 8 == 0 && dim <= 128)"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<8, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src > 29710 && num_src <= 93466) && (dim % 8 == 0)"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<4, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "(num_src > 29710 && num_src <= 93466) && (dim % 4 == 0)"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<1, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when = "num_src > 29710 && num_src <= 93466"
with = { BLOCK = 384, DEEP = 4, PER_SM = 3 }

[[launch]]
kernel = "gather_mean_backward<8, 16, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "dim == 128"

[[launch]]
kernel = "gather_mean_backward<8, 32, true, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "dim % 256 == 0"

[[launch]]
kernel = "gather_mean_backward<8, 16, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "dim % 8 == 0 && dim <= 128"

[[launch]]
kernel = "gather_mean_backward<8, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src * dim > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "gather_mean_backward<4, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
when   = "dim % 4 == 0"

[[launch]]
kernel = "gather_mean_backward<1, 32, false, DEEP, BLOCK, PER_SM>"
grid   = ["""num_src > 0 ? ceil_div(num_src + num_dst * fanout,
          min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM))) : 0"""]
block  = ["BLOCK"]
args   = ["grad_out", "degree", "row_offsets", "slot", "grad_x", "num_src:i32",
          "min(8 * BLOCK, ceil_div(num_src + num_dst * fanout, sm_count * PER_SM)):i32", "fanout:i32",
          "fanout > 0 ? 4294967295 / fanout : 0:u32", "dim:i32"]
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

// sum += share * pack. A bfloat16 is the upper half of a float.
template <int kWidth>
__device__ __forceinline__ void Add(float (&sum)[kWidth], float share, const typename Pack<kWidth>::Type& pack) {
  if constexpr (kWidth == 1) {
    sum[0] += share * __bfloat162float(pack);
  } else {
    const unsigned* words = reinterpret_cast<const unsigned*>(&pack);
#pragma unroll
    for (int e = 0; e < kWidth; e += 2) {
      sum[e] += share * __uint_as_float(words[e / 2] << 16);
      sum[e + 1] += share * __uint_as_float(words[e / 2] & 0xffff0000u);
    }
  }
}

}  // namespace

// How much of its row a slot passes back, and what happens when that is added.
struct __align__(8) Slot {
  float share;
  int then;  // kGoesOn, kEndsBefore, or the number of the source that ends here and is written
};
constexpr int kGoesOn = -1;
constexpr int kEndsBefore = -2;  // the source that ends here began before this group's slots

// kThreads / kLanes groups; the position of a source is its number and that of the slots before it, and block b takes
// those whose position is in the b-th `items`, at most 8 kThreads. dim is a multiple of kWidth, and of kWidth kLanes
// where kWhole; `reciprocal` is (2^32 - 1) / fanout. Groups of a warp run equally many steps; what a group lacks is a
// row of zeros, which is not read.
template <int kWidth, int kLanes, bool kWhole, int kDeep, int kThreads, int kPerSm>
__global__ void __launch_bounds__(kThreads, kPerSm* kThreads <= 1280 ? kPerSm : 1)
    gather_mean_backward(const __nv_bfloat16* __restrict__ grad_out, const int* __restrict__ degree,
                         const int* __restrict__ row_offsets, const int* __restrict__ slot,
                         __nv_bfloat16* __restrict__ grad_x, int num_src, int items, int fanout, unsigned reciprocal,
                         int dim) {
  using Vector = typename Pack<kWidth>::Type;
  static_assert(kLanes % kDeep == 0, "a batch of kLanes slots is a number of rings");
  constexpr int kGroups = kThreads / kLanes, kWarps = kThreads / 32;
  constexpr int kWindow = 1024, kPlaces = 2 * kLanes;
  constexpr int kPitch = kPlaces + (kLanes < 32 ? 1 : 0);  // a warp's groups in different banks
  __shared__ int loaded_ends[kWindow + 8 * kThreads + 1];  // where slots begin, of sources from `low` on
  __shared__ int counts[kWarps];
  __shared__ int vertices[kGroups][kPitch];  // of the slots of two batches
  __shared__ Slot slots[kGroups][kPitch];
  __shared__ float before[kGroups][kWidth][kLanes];  // what a group has of a source that began before its slots
  const int thread = static_cast<int>(threadIdx.x), group = thread / kLanes, lane = thread % kLanes;
  const unsigned first_position = blockIdx.x * static_cast<unsigned>(items);

  // The first source at or behind that position, among [low, high].
  int low = 0, high = num_src;
  while (high - low > kWindow) {
    const int step = (high - low + kThreads - 1) / kThreads;
    const long long probe = low + static_cast<long long>(thread) * step;
    const int ahead = __syncthreads_count(probe < high && static_cast<unsigned>(probe) +
                                                                  static_cast<unsigned>(__ldg(row_offsets + probe)) <
                                                              first_position);
    if (ahead == 0) high = low;
    if (ahead == 0) break;
    high = min(static_cast<long long>(high), low + static_cast<long long>(ahead) * step);
    low += (ahead - 1) * step + 1;
  }
  const int loaded = min(high - low + items, num_src - low);
  int own = 0;  // low half: sources ahead of the block's, high half: the block's
  for (int from = thread; from <= loaded; from += 2 * kThreads) {
    int end[2];
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      if (from + u * kThreads <= loaded) end[u] = __ldg(row_offsets + low + from + u * kThreads);
    }
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int i = from + u * kThreads;
      if (i > loaded) break;
      loaded_ends[i] = end[u];
      const unsigned position = static_cast<unsigned>(low + i) + static_cast<unsigned>(end[u]);
      if (low + i < num_src) {
        own += position < first_position ? 1 : (position - first_position < static_cast<unsigned>(items) ? 1 << 16 : 0);
      }
    }
  }
  own = __reduce_add_sync(kAllLanes, own);
  if (thread % 32 == 0) counts[thread / 32] = own;
  __syncthreads();
  own = __reduce_add_sync(kAllLanes, thread % 32 < kWarps ? counts[thread % 32] : 0);
  const int sources = own >> 16;
  if (sources == 0) return;
  const int* ends = loaded_ends + (own & 0xffff);
  const int first_source = low + (own & 0xffff);
  const int all_begin = ends[0];
  const int all = ends[sources] - all_begin;
  const auto begin_of = [&](int g) { return all_begin + all / kGroups * g + all % kGroups * g / kGroups; };
  const int begin = begin_of(group), end = begin_of(group + 1);
  int longest = end - begin;  // of the warp's groups
  if (kLanes < 32) longest = max(longest, __shfl_xor_sync(kAllLanes, longest, 16));

  const unsigned row_bytes = static_cast<unsigned>(dim) * sizeof(__nv_bfloat16);
  const auto row_start = [&](int row) {
    return static_cast<unsigned long long>(static_cast<unsigned>(row)) * row_bytes;
  };
  const auto group_part = [&](unsigned votes) {  // of the warp's votes
    return kLanes < 32 ? votes >> thread % 32 / kLanes * kLanes & 0xffffu : votes;
  };
  const int first_drawn = begin + lane < end ? __ldg(slot + begin + lane) : 0;  // under way during the search
  // The source of the first slot: the last one that begins at or before it. A group tries kLanes at once.
  int first = 0;
  for (int span = sources; span > 1;) {
    const int step = (span + kLanes - 1) / kLanes, probe = first + lane * step;
    first += (__popc(group_part(__ballot_sync(kAllLanes, probe < sources && ends[probe] <= begin))) - 1) * step;
    span = step;
  }

  const int vectors = dim / kWidth;
  for (int first_column = 0; first_column < vectors; first_column += kLanes) {
    const int column = first_column + lane;
    const bool mine = kWhole || column < vectors;
    const char* from_column = reinterpret_cast<const char*>(grad_out + column * kWidth);
    char* to_column = reinterpret_cast<char*>(grad_x + static_cast<long long>(first_source) * dim + column * kWidth);
    const auto write = [&](int source, const float(&sum)[kWidth]) {
      Vector packed;
      __nv_bfloat16* r = reinterpret_cast<__nv_bfloat16*>(&packed);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) r[e] = __float2bfloat16_rn(sum[e]);
      if (mine) __stcs(reinterpret_cast<Vector*>(to_column + row_start(source)), packed);
    };
    // Of this lane's slot of a batch; -1 past the end.
    const auto vertex_of = [&](int batch) {
      const int t = begin + batch * kLanes + lane;
      if (t >= end) return -1;
      const unsigned drawn = batch == 0 ? first_drawn : __ldg(slot + t);
      const unsigned least = __umulhi(drawn, reciprocal);  // the destination or the one before it
      return static_cast<int>(drawn - least * fanout >= static_cast<unsigned>(fanout) ? least + 1 : least);
    };
    const auto degree_of = [&](int vertex) { return vertex >= 0 ? __ldg(degree + vertex) : 1; };
    const auto share_of = [&](int drawn) { return __fdividef(1.0f, static_cast<float>(max(1, min(drawn, fanout)))); };
    // What happens after the slots of a batch: each source whose last slot is among them tells it. `source`, that of
    // the batch's first slot, becomes that of the next one's.
    int source = first;
    const auto place_ends = [&](int batch) {
      const int from = begin + batch * kLanes, until = min(from + kLanes, end);
      Slot* places = slots[group] + batch % 2 * kLanes;
      places[lane].then = kGoesOn;
      __syncwarp();
      for (bool all_end = true; __any_sync(kAllLanes, all_end);) {
        const int i = source + lane;
        const int its_begin = ends[min(i, sources)], its_end = ends[min(i, sources - 1) + 1];
        const bool ends_here = all_end && i < sources && its_end <= until && from < until;
        if (ends_here && its_begin < its_end) places[its_end - 1 - from].then = its_begin < begin ? kEndsBefore : i;
        const int counted = __popc(group_part(__ballot_sync(kAllLanes, ends_here)));
        source += counted;
        all_end = counted == kLanes;
      }
    };

    const bool more = longest > kLanes;  // than a batch
    const int vertex0 = vertex_of(0), vertex1 = more ? vertex_of(1) : -1;
    __syncwarp();  // all have read what was there
    vertices[group][lane] = vertex0;
    vertices[group][kLanes + lane] = vertex1;
    __syncwarp();
    Vector packs[kDeep];
    const auto fetch = [&](int place, Vector& pack) {
      const int row = vertices[group][place];
      if (mine && row >= 0) {
        pack = __ldg(reinterpret_cast<const Vector*>(from_column + row_start(row)));
      } else {
        pack = Vector();
      }
    };
#pragma unroll
    for (int u = 0; u < kDeep; ++u) fetch(u, packs[u]);
    const int degree0 = degree_of(vertex0);
    int next_degree = more ? degree_of(vertex1) : 1, next_vertex = more ? vertex_of(2) : -1;

    place_ends(0);

    float sum[kWidth] = {};
    {  // sources without slots, which lie side by side for a warp
      const int each = (sources + kWarps - 1) / kWarps, last = min(sources, (thread / 32 + 1) * each);
      for (int base = thread / 32 * each; base < last; base += 32) {
        const int i = base + thread % 32;
        unsigned empty = __ballot_sync(kAllLanes, i < last && ends[i] == ends[i + 1]);
        const int at = base + thread % 32 / kLanes * kLanes;
        empty = group_part(empty);
        for (; empty != 0; empty &= empty - 1) write(at + __ffs(static_cast<int>(empty)) - 1, sum);
      }
    }
    slots[group][lane].share = share_of(degree0);
    __syncwarp();

    for (int base = 0; base < longest; base += kLanes) {
      const int here = min(kLanes, longest - base), batch = base / kLanes;
      for (int from = 0; from < here; from += kDeep) {
        const int place = batch % 2 * kLanes + from, next_place = (place + kDeep) % kPlaces;
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const Slot added = slots[group][place + u];  // past the end rows are 0 and nothing happens then
          Add<kWidth>(sum, added.share, packs[u]);
          if (added.then != kGoesOn) {
            if (added.then >= 0) {
              write(added.then, sum);
            } else {
#pragma unroll
              for (int e = 0; e < kWidth; ++e) before[group][e][lane] = sum[e];
            }
#pragma unroll
            for (int e = 0; e < kWidth; ++e) sum[e] = 0.0f;
          }
          fetch(next_place + u, packs[u]);
        }
      }
      if (base + kLanes >= longest) break;
      // The shares of the next batch; the place of this one is for the one after the next.
      __syncwarp();
      place_ends(batch + 1);
      vertices[group][batch % 2 * kLanes + lane] = next_vertex;
      slots[group][(batch + 1) % 2 * kLanes + lane].share = share_of(next_degree);
      __syncwarp();
      next_degree = degree_of(next_vertex);
      next_vertex = vertex_of(batch + 3);
    }
    // What is left is part of a source that other groups go on with. The group in which that begins puts it together.
    const int source_begin = ends[min(source, sources)], source_end = ends[min(source, sources - 1) + 1];
    const bool goes_on = begin < end && source < sources && source_begin < end,
               starts = goes_on && source_begin >= begin;
    if (goes_on && !starts) {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) before[group][e][lane] = sum[e];
    }
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
