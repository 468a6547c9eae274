// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines what the attention kernels read, and how lanes share it.
//
// The items of a destination are the rows to which it attends: item 0 is the node itself, item j + 1 its slot j.
// Registers keep rows as loaded, two bytes per element if stored so, and each use widens them again. That takes fewer
// registers, so that more rows are in flight at once. Relu and dropout are applied to two such elements at a time.
//
// A byte of dropout's bits stands for eight columns: bit i for column 2i, bit 4 + i for column 2i + 1.
#pragma once

#include <type_traits>

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/graph/feature_rows.cuh"
#include "gnn/cuda/kernels/attention_kernels.h"

namespace hone::gnn::cuda {

// Eight elements in their stored form.
template <typename T>
struct Raw8 {
  uint4 words = {};
};
template <>
struct Raw8<float> {
  float4 low = {}, high = {};
};
__device__ inline Raw8<float> LoadRaw8(const float* p) {
  return {__ldg(reinterpret_cast<const float4*>(p)), __ldg(reinterpret_cast<const float4*>(p) + 1)};
}
template <typename T>
__device__ Raw8<T> LoadRaw8(const T* p) {
  return {__ldg(reinterpret_cast<const uint4*>(p))};
}
__device__ inline Float8 WidenRaw8(const Raw8<float>& x) {
  return {{x.low.x, x.low.y, x.low.z, x.low.w, x.high.x, x.high.y, x.high.z, x.high.w}};
}
__device__ inline Float8 WidenRaw8(const Raw8<__half>& x) {
  const uint32_t packed_pairs[4] = {x.words.x, x.words.y, x.words.z, x.words.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&packed_pairs[i]));
    out.v[2 * i] = f.x;
    out.v[2 * i + 1] = f.y;
  }
  return out;
}
__device__ inline Float8 WidenRaw8(const Raw8<__nv_bfloat16>& x) {
  const uint32_t packed_pairs[4] = {x.words.x, x.words.y, x.words.z, x.words.w};
  Float8 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.v[2 * i] = __uint_as_float(packed_pairs[i] << 16);
    out.v[2 * i + 1] = __uint_as_float(packed_pairs[i] & 0xffff0000u);
  }
  return out;
}

// Sets element i, which is zero, to one.
__device__ inline void SetOne(int i, Raw8<float>& x) {
  float* const values[8] = {&x.low.x, &x.low.y, &x.low.z, &x.low.w, &x.high.x, &x.high.y, &x.high.z, &x.high.w};
#pragma unroll
  for (int j = 0; j < 8; ++j) *values[j] = j == i ? 1.0f : *values[j];
}
template <typename T>
__device__ void SetOne(int i, Raw8<T>& x) {
  constexpr uint32_t kOne = std::is_same_v<T, __half> ? 0x3c00u : 0x3f80u;
  const uint32_t word = kOne << (i % 2 * 16);
  x.words.x |= i / 2 == 0 ? word : 0u;
  x.words.y |= i / 2 == 1 ? word : 0u;
  x.words.z |= i / 2 == 2 ? word : 0u;
  x.words.w |= i / 2 == 3 ? word : 0u;
}

// Keeps the compiler from holding widened values in registers: widening them again is cheaper.
template <typename T>
__device__ void WidenAgain(Raw8<T>& x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(x.words.x), "+r"(x.words.y), "+r"(x.words.z), "+r"(x.words.w));
#endif
}
__device__ inline void WidenAgain(Raw8<float>&) {}
__device__ inline void WidenAgain(Float8&) {}

__device__ inline float Dot8(const Float8& a, const Float8& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += a.v[i] * b.v[i];
  return sum;
}
__device__ inline void AddScaled8(float factor, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += factor * x.v[i];
}
// Applies dropout to eight values: `bits` says which are kept, and they are multiplied by `scale`.
__device__ inline void Keep8(uint32_t bits, float scale, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = (bits >> (i / 2 + i % 2 * 4) & 1u) != 0 ? x.v[i] * scale : 0.0f;
}
// Returns a pair of two-byte elements with dropped elements set to zero.
__device__ inline uint32_t KeptPair(uint32_t spread, int i, uint32_t pair) {
  return pair & (spread >> i & 0x00010001u) * 0xffffu;
}
// Returns `bits` so that KeptPair finds those of columns 2i and 2i + 1 in bits i and i + 16.
__device__ inline uint32_t Spread(uint32_t bits) { return bits | bits << 12; }

// Returns the bits of the values above zero.
__device__ inline uint32_t PositiveBits(const Float8& x) {
  uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) bits |= x.v[i] > 0.0f ? 1u << (i / 2 + i % 2 * 4) : 0u;
  return bits;
}
// Returns which of eight values are above zero, as bits, given that none is below zero: a carry into the sign bit shows
// that a value is not zero.
__device__ inline uint32_t PositiveBits(const Raw8<__nv_bfloat16>& x) {
  constexpr uint32_t kAllButSigns = 0x7fff7fffu;
  const uint32_t bits =
      ((x.words.x + kAllButSigns) & ~kAllButSigns) >> 15 | ((x.words.y + kAllButSigns) & ~kAllButSigns) >> 14 |
      ((x.words.z + kAllButSigns) & ~kAllButSigns) >> 13 | ((x.words.w + kAllButSigns) & ~kAllButSigns) >> 12;
  return (bits | bits >> 12) & 0xffu;
}

// The rows of an inner hop, by local id: x = dropout(f(z)). Fetch loads a vector, Made is the form that is kept in
// registers, and WidenRaw8(made) * Scale() is x.
template <typename T>
struct HiddenRows {
  const T* z;
  int32_t vectors;
  Activation activation;
  float scale;
  const uint8_t* kept;  // null: nothing is dropped

  struct Fetched {
    Raw8<T> raw;
    uint32_t bits = 0;
  };
  static constexpr bool kOfGraph = false, kAppendsOne = false;
  using Made = Float8;
  __device__ int32_t Self(int32_t row) const { return row; }
  __device__ int32_t Place(int32_t source) const { return source; }
  __device__ float Scale() const { return 1.0f; }
  __device__ Fetched Fetch(int32_t row_place, int32_t vector) const {
    const int64_t at = static_cast<int64_t>(row_place) * vectors + vector;
    return {LoadRaw8(z + at * 8), kept != nullptr ? static_cast<uint32_t>(__ldg(kept + at)) : 0u};
  }
  __device__ Made Make(const Fetched& from) const {
    Float8 x = WidenRaw8(from.raw);
    Activate8(activation, nullptr, 0, x);
    if (kept != nullptr) Keep8(from.bits, scale, x);
    return x;
  }
  // Records which elements pass relu and dropout. Several destinations may read the same source; they write the same
  // bits.
  __device__ void NotePassing(uint8_t* passes, int32_t row_place, int32_t vector, const Made& made) const {
    passes[static_cast<int64_t>(row_place) * vectors + vector] = static_cast<uint8_t>(PositiveBits(made));
  }
};
__device__ inline const Float8& WidenRaw8(const Float8& x) { return x; }

// The rows of an inner hop, as HiddenRows, for two-byte elements with relu or without an activation: such elements are
// exact in two bytes again after activation and dropout, whose scale Scale() returns.
struct PlainRows {
  const __nv_bfloat16* z;
  int32_t vectors;
  bool applies_relu;
  float scale;
  const uint8_t* kept;

  struct Fetched {
    Raw8<__nv_bfloat16> raw;
    uint32_t bits = 0;
  };
  static constexpr bool kOfGraph = false, kAppendsOne = false;
  using Made = Raw8<__nv_bfloat16>;
  __device__ int32_t Self(int32_t row) const { return row; }
  __device__ int32_t Place(int32_t source) const { return source; }
  __device__ float Scale() const { return scale; }
  __device__ Fetched Fetch(int32_t row_place, int32_t vector) const {
    const int64_t at = static_cast<int64_t>(row_place) * vectors + vector;
    return {LoadRaw8(z + at * 8), kept != nullptr ? static_cast<uint32_t>(__ldg(kept + at)) : 0u};
  }
  __device__ Made Make(const Fetched& from) const {
    uint32_t packed_pairs[4] = {from.raw.words.x, from.raw.words.y, from.raw.words.z, from.raw.words.w};
    const uint32_t spread = Spread(from.bits);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (applies_relu) {
        const __nv_bfloat162 pair =
            __hmax2(*reinterpret_cast<const __nv_bfloat162*>(&packed_pairs[i]), __nv_bfloat162{0.0f, 0.0f});
        packed_pairs[i] = *reinterpret_cast<const uint32_t*>(&pair);
      }
      if (kept != nullptr) packed_pairs[i] = KeptPair(spread, i, packed_pairs[i]);
    }
    return {make_uint4(packed_pairs[0], packed_pairs[1], packed_pairs[2], packed_pairs[3])};
  }
  __device__ void NotePassing(uint8_t* passes, int32_t row_place, int32_t vector, const Made& made) const {
    passes[static_cast<int64_t>(row_place) * vectors + vector] = static_cast<uint8_t>(PositiveBits(made));
  }
};

// Reads the graph's features by global id; `Features` (feature_rows.cuh) locates them.
template <typename T, typename Features>
struct FeatureRows {
  Features features;
  const int32_t* nodes;

  static constexpr bool kOfGraph = true, kAppendsOne = false;
  using Fetched = Raw8<T>;
  using Made = Raw8<T>;
  __device__ int32_t Self(int32_t row) const { return __ldg(nodes + row); }
  __device__ int32_t Place(int32_t source) const { return features.Place(source); }
  __device__ float Scale() const { return 1.0f; }
  __device__ Fetched Fetch(int32_t row_place, int32_t vector) const {
    return LoadRaw8(features.At(row_place) + vector * 8);
  }
  __device__ const Made& Make(const Fetched& from) const { return from; }
  __device__ void NotePassing(uint8_t*, int32_t, int32_t, const Made&) const {}
};

// Reads [x, 1] for feature rows x: the 1 stands in column `one`, the first past the row's own, and zeros follow it.
template <typename T, typename Features>
struct FeatureRowsAndOne : FeatureRows<T, Features> {
  int32_t stored;  // vectors of a stored row; the others are made here
  int32_t one;

  static constexpr bool kAppendsOne = true;
  __device__ Raw8<T> Fetch(int32_t row_place, int32_t vector) const {
    Raw8<T> x = {};
    if (vector < stored) x = FeatureRows<T, Features>::Fetch(row_place, vector);
    if (vector == one / 8) SetOne(one % 8, x);
    return x;
  }
};

// The drawn sources of a hop, by destination.
struct Slots {
  int32_t fanout;
  const int32_t* sources;  // [rows * fanout]
  const int32_t* counts;   // [rows]
};

// The items of one destination.
struct Items {
  const int32_t* sources;
  int32_t self;
  int32_t count;  // number of items, the node itself included
  __device__ int32_t operator[](int32_t item) const { return item == 0 ? self : __ldg(sources + item - 1); }
  __device__ bool Counts(int32_t item) const { return item == 0 || __ldg(sources + item - 1) != self; }
};
__device__ inline Items ItemsOf(const Slots& slots, int32_t row, int32_t self) {
  return {slots.sources + static_cast<int64_t>(row) * slots.fanout, self, __ldg(slots.counts + row) + 1};
}

// The place in memory of one destination's values, of which each item has one per head (attention weights or
// gradients).
struct ItemValues {
  float* slots;  // value of the row's first slot
  float* self;   // value of the row's self-loop
  int32_t heads;
  __device__ float& At(int32_t item, int32_t h) const {
    return item == 0 ? self[h] : slots[static_cast<int64_t>(item - 1) * heads + h];
  }
};
__device__ inline ItemValues ValuesOf(float* slots, float* self, int32_t self_stride, const Slots& row_slots, int32_t row,
                                      int32_t heads) {
  return {slots + static_cast<int64_t>(row) * row_slots.fanout * heads, self + static_cast<int64_t>(row) * self_stride, heads};
}

// A group of kParts lanes that handles a destination. Each lane holds eight columns of rows, and the group works on up
// to kMost items at a time, a power of two. Each item has kLanesAnItem lanes, which hold the item's values.
template <int kParts, int kMost>
struct LaneGroup {
  static_assert(kMost <= kParts);
  static constexpr int kLanesAnItem = kParts / kMost;
  int part;  // the lane's position along a row
  int item;  // the lane's item, below kMost
  __device__ explicit LaneGroup(int lane) : part(lane % kParts), item(part / kLanesAnItem) {}
  __device__ bool speaks() const { return part % kLanesAnItem == 0; }  // whether the lane writes for its item

  // Returns, in the lanes of item i, the sum of v[i] over the group. This takes fewer exchanges than one sum for each
  // i.
  __device__ float SumByItem(float (&v)[kMost]) const {
    if constexpr (kMost == 16) Halve<8>(v);
    Halve<4>(v);
    Halve<2>(v);
    Halve<1>(v);
    float sum = v[0];
#pragma unroll
    for (int offset = kLanesAnItem / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
    return sum;
  }
  __device__ static float Sum(float x) {
#pragma unroll
    for (int offset = kParts / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
    return x;
  }
  // Broadcasts x from the lanes of item i to the whole group.
  template <typename T>
  __device__ static T Of(int i, T x) {
    return __shfl_sync(kFullWarp, x, i * kLanesAnItem, kParts);
  }
  __device__ static float MaxOfItems(float x) {
#pragma unroll
    for (int offset = kLanesAnItem; offset < kParts; offset *= 2) x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, offset));
    return x;
  }
  __device__ static float SumOfItems(float x) {
#pragma unroll
    for (int offset = kLanesAnItem; offset < kParts; offset *= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
    return x;
  }

 private:
  // Halves the number of values per lane: half of the lanes keep the upper half of the values and send the lower half
  // to a partner, the others do the reverse; received values are added.
  template <int kHalf>
  __device__ void Halve(float (&v)[kMost]) const {
    constexpr int kOffset = kLanesAnItem * kHalf;
    const bool upper = (part & kOffset) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float stays = upper ? v[i + kHalf] : v[i], goes = upper ? v[i] : v[i + kHalf];
      v[i] = stays + __shfl_xor_sync(kFullWarp, goes, kOffset);
    }
  }
};

}  // namespace hone::gnn::cuda
