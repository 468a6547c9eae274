// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the synthetic graphs: each node, slot and feature element, as pure integer functions.
//
// Host and device compile this header alike (nvcc with --expt-relaxed-constexpr) and use no floating point until the
// last exact conversion, so a graph has the same bytes wherever it is generated, on any number of threads.
// docs/graphs.md ("Synthetic graphs") explains the model; this header is the specification. Every random word comes
// from Philox with key = seed and a counter whose last word names the purpose.
#pragma once

#include <cstdint>

#include "base/numbers/philox.h"
#include "gnn/graph/host_device.h"

namespace hone::gnn {

// The sizes of a synthetic graph. Plain data, which may be copied to a device.
struct SyntheticSpec {
  uint64_t seed = 0;
  int64_t num_nodes = 0;
  int64_t block_nodes = 1;  // nodes per class block; the last block also takes the remainder
  int64_t num_blocks = 1;
  int64_t blocks_per_region = 1;  // equals num_classes
  int64_t num_regions = 1;        // the last region also takes the remainder
  int32_t num_classes = 1;
  int32_t width = 0;            // feature elements
  int32_t centroid_weight = 0;  // in 64ths: size of the class centroids relative to the noise
  int32_t block_slot_cap = 1;   // most slots that a node has in its block; further ones belong to the region
  int64_t num_labelled = 0;
  int64_t num_train = 0;
  int64_t num_valid = 0;        // labelled nodes beyond num_train + num_valid are the test split
  int32_t labelled_first = 1;   // 1: the first num_labelled nodes are labelled; 0: see LabelRank
};

// The inverse distribution function of the degrees, in geometric buckets. Bucket k holds the degrees upper[k-1]+1 …
// upper[k]. A uniform 32-bit number u belongs to the first bucket with threshold[k] > u.
struct DegreeTableView {
  const uint32_t* upper = nullptr;      // ascending; upper[-1] is read as 0
  const uint64_t* threshold = nullptr;  // ascending; the last is 2^32
  int32_t size = 0;                     // number of buckets
};

enum SyntheticPurpose : uint32_t {
  kPurposeDegree = 1, kPurposePairing = 2, kPurposeFeature = 3, kPurposeCentroid = 4, kPurposeLabel = 5,
  kPurposeSplit = 6,
};

enum SyntheticLevel : uint32_t { kLevelBlock = 0, kLevelRegion = 1, kLevelGlobal = 2 };

// ---- communities ----

HONE_HOST_DEVICE inline int64_t BlockOf(const SyntheticSpec& s, int64_t v) {
  const int64_t block = v / s.block_nodes;
  return block < s.num_blocks ? block : s.num_blocks - 1;
}
HONE_HOST_DEVICE inline int64_t RegionOfBlock(const SyntheticSpec& s, int64_t block) {
  const int64_t region = block / s.blocks_per_region;
  return region < s.num_regions ? region : s.num_regions - 1;
}
HONE_HOST_DEVICE inline int32_t ClassOfBlock(const SyntheticSpec& s, int64_t block) {
  return static_cast<int32_t>(block % s.num_classes);
}

// ---- degrees, and how a node's slots are divided among the levels ----

struct SlotCounts {
  uint32_t block, region, global;  // slots of a node at each level
  HONE_HOST_DEVICE uint32_t degree() const { return block + region + global; }
};

// Returns the degree that a uniform 32-bit number stands for: the bucket by its threshold, and a uniform degree within
// it.
HONE_HOST_DEVICE inline uint32_t DegreeFromUniform(const DegreeTableView& table, uint32_t u) {
  int32_t low = 0, high = table.size - 1;  // the answer lies in [low, high]
  while (low < high) {
    const int32_t middle = (low + high) / 2;
    if (table.threshold[middle] > u) high = middle; else low = middle + 1;
  }
  const uint64_t threshold_below = low > 0 ? table.threshold[low - 1] : 0;
  const uint32_t degree_below = low > 0 ? table.upper[low - 1] : 0;
  return degree_below + 1 +
         static_cast<uint32_t>((u - threshold_below) * (table.upper[low] - degree_below) /
                               (table.threshold[low] - threshold_below));
}

// Divides a node's slots among the levels: 40 % block, 30 % region, 30 % global. A dither rounds the parts, so that
// nodes of degree 1 also follow these shares on average.
HONE_HOST_DEVICE inline SlotCounts SlotsOf(const SyntheticSpec& s, const DegreeTableView& table, int64_t v) {
  const PhiloxWords r = Philox4x32(s.seed, {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32), 0, kPurposeDegree});
  const uint64_t d = DegreeFromUniform(table, r[0]);
  const uint64_t dither = (uint64_t{r[1]} * 100) >> 32;
  uint32_t block = static_cast<uint32_t>((d * 40 + dither) / 100);
  const uint32_t block_and_region = static_cast<uint32_t>((d * 70 + dither) / 100);
  // A hub with more slots than its block has neighbors to offer would mostly be paired with itself.
  if (block > static_cast<uint32_t>(s.block_slot_cap)) block = static_cast<uint32_t>(s.block_slot_cap);
  return {block, block_and_region - block, static_cast<uint32_t>(d) - block_and_region};
}

// ---- keyed permutations and the pairing of slots ----

// A permutation of [0, count): an alternating Feistel network on the next power of two, applied until the result is
// inside.
struct KeyedPermutation {
  uint64_t count = 0;
  uint32_t low_bits = 1, high_bits = 1;
  uint32_t round_key[6] = {};
};

HONE_HOST_DEVICE inline KeyedPermutation MakePermutation(uint64_t seed, uint32_t level, uint64_t group, uint64_t count,
                                                         uint32_t purpose) {
  KeyedPermutation p;
  p.count = count;
  uint32_t bits = 2;
  while (bits < 62 && (uint64_t{1} << bits) < count) ++bits;
  p.low_bits = bits / 2;
  p.high_bits = bits - p.low_bits;
  const uint32_t g0 = static_cast<uint32_t>(group), g1 = static_cast<uint32_t>(group >> 32);
  const PhiloxWords a = Philox4x32(seed, {g0, g1, level * 2, purpose});
  const PhiloxWords b = Philox4x32(seed, {g0, g1, level * 2 + 1, purpose});
  for (int i = 0; i < 4; ++i) p.round_key[i] = a[i];
  p.round_key[4] = b[0];
  p.round_key[5] = b[1];
  return p;
}

// The 32-bit finalizer of MurmurHash3 (Appleby), keyed: enough mixing that six rounds leave no visible structure.
HONE_HOST_DEVICE inline uint32_t FeistelRound(uint32_t x, uint32_t key) {
  x ^= key;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

// Returns the position of x < p.count in the permutation.
HONE_HOST_DEVICE inline uint64_t Permute(const KeyedPermutation& p, uint64_t x) {
  const uint32_t low_mask = (uint32_t{1} << p.low_bits) - 1, high_mask = (uint32_t{1} << p.high_bits) - 1;
  do {
    uint32_t low = static_cast<uint32_t>(x) & low_mask, high = static_cast<uint32_t>(x >> p.low_bits);
    for (int r = 0; r < 6; r += 2) {
      high ^= FeistelRound(low, p.round_key[r]) & high_mask;
      low ^= FeistelRound(high, p.round_key[r + 1]) & low_mask;
    }
    x = (static_cast<uint64_t>(high) << p.low_bits) | low;
  } while (x >= p.count);
  return x;
}

// Returns the inverse of Permute.
HONE_HOST_DEVICE inline uint64_t PermuteBack(const KeyedPermutation& p, uint64_t x) {
  const uint32_t low_mask = (uint32_t{1} << p.low_bits) - 1, high_mask = (uint32_t{1} << p.high_bits) - 1;
  do {
    uint32_t low = static_cast<uint32_t>(x) & low_mask, high = static_cast<uint32_t>(x >> p.low_bits);
    for (int r = 4; r >= 0; r -= 2) {
      low ^= FeistelRound(high, p.round_key[r + 1]) & low_mask;
      high ^= FeistelRound(low, p.round_key[r]) & high_mask;
    }
    x = (static_cast<uint64_t>(high) << p.low_bits) | low;
  } while (x >= p.count);
  return x;
}

// Returns the slot to which slot i of a group is joined. The function is an involution: it pairs neighbors in the
// permuted order. If the number of slots is odd, the last one is joined to itself and makes a self-loop.
HONE_HOST_DEVICE inline uint64_t PartnerSlot(const KeyedPermutation& p, uint64_t i) {
  const uint64_t q = PermuteBack(p, i) ^ 1;
  return q < p.count ? Permute(p, q) : i;
}

// ---- labels and splits ----

// Returns the position of v among the labelled nodes, or -1. If there are fewer labelled nodes than one region has,
// they are the first nodes of each of its blocks in turn, so that every class has some.
HONE_HOST_DEVICE inline int64_t LabelRank(const SyntheticSpec& s, int64_t v) {
  int64_t rank = v;
  if (!s.labelled_first) {
    const int64_t block = v / s.block_nodes;
    if (block >= s.blocks_per_region || block >= s.num_blocks) return -1;
    rank = (v - block * s.block_nodes) * s.blocks_per_region + block;
  }
  return rank < s.num_labelled ? rank : -1;
}

// Returns the planted class, or with probability 0.1 another class, drawn uniformly. No classifier can therefore exceed
// 90 % on average.
HONE_HOST_DEVICE inline int32_t ObservedLabel(const SyntheticSpec& s, int64_t v, int32_t planted) {
  const PhiloxWords r = Philox4x32(s.seed, {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32), 0, kPurposeLabel});
  if (r[0] >= 429496730u || s.num_classes < 2) return planted;  // 0.1 * 2^32
  const uint32_t shift = static_cast<uint32_t>((uint64_t{r[1]} * static_cast<uint32_t>(s.num_classes - 1)) >> 32) + 1;
  const uint32_t label = static_cast<uint32_t>(planted) + shift;
  return static_cast<int32_t>(label % static_cast<uint32_t>(s.num_classes));
}

HONE_HOST_DEVICE inline KeyedPermutation SplitPermutation(const SyntheticSpec& s) {
  return MakePermutation(s.seed, 0, 0, static_cast<uint64_t>(s.num_labelled), kPurposeSplit);
}
// Returns the split, 0 train, 1 valid, 2 test, of the labelled node with this rank. Sizes are exact.
HONE_HOST_DEVICE inline int32_t SplitOfRank(const SyntheticSpec& s, const KeyedPermutation& split, int64_t rank) {
  const int64_t position = static_cast<int64_t>(Permute(split, static_cast<uint64_t>(rank)));
  return position < s.num_train ? 0 : position < s.num_train + s.num_valid ? 1 : 2;
}

// ---- features ----

// Returns the sum of four uniform bytes, centred: mean 0, standard deviation 147.8, within [-510, 510].
HONE_HOST_DEVICE inline int32_t ByteSumNoise(uint32_t w) {
  const uint32_t pairs = (w & 0x00ff00ffu) + ((w >> 8) & 0x00ff00ffu);
  return static_cast<int32_t>((pairs & 0xffffu) + (pairs >> 16)) - 510;
}
HONE_HOST_DEVICE inline PhiloxWords CentroidWords(const SyntheticSpec& s, int32_t planted, int32_t quad) {
  return Philox4x32(s.seed, {static_cast<uint32_t>(planted), 0, static_cast<uint32_t>(quad), kPurposeCentroid});
}
HONE_HOST_DEVICE inline PhiloxWords NoiseWords(const SyntheticSpec& s, int64_t v, int32_t quad) {
  return Philox4x32(s.seed, {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32), static_cast<uint32_t>(quad),
                             kPurposeFeature});
}
// Returns element 4 * quad + lane of node v, in units of 2^-13. |result| < 2^16, and its standard deviation is about
// 2^13.
HONE_HOST_DEVICE inline int32_t FeatureUnits(const SyntheticSpec& s, uint32_t centroid_word, uint32_t noise_word) {
  return s.centroid_weight * ByteSumNoise(centroid_word) + 64 * ByteSumNoise(noise_word);
}
inline constexpr float kFeatureUnit = 0x1p-13f;  // of FeatureUnits

// Returns the bits of units * 2^-13 in float16, rounded to nearest even. In range no value but 0 is subnormal, and none
// overflows.
HONE_HOST_DEVICE inline uint16_t FeatureHalfBits(int32_t units) {
  if (units == 0) return 0;
  const uint32_t sign = units < 0 ? 0x8000u : 0u;
  uint32_t magnitude = static_cast<uint32_t>(units < 0 ? -units : units);  // 17 bits at most
  uint32_t highest_bit = 0;
  for (uint32_t step = 16; step != 0; step >>= 1) {
    if ((magnitude >> (highest_bit + step)) != 0) highest_bit += step;
  }
  const uint32_t exponent = highest_bit + 2;  // (top - 13) + 15
  if (highest_bit <= 10)
    return static_cast<uint16_t>(sign | (exponent << 10) | ((magnitude << (10 - highest_bit)) & 0x3ffu));
  const uint32_t dropped_bits = highest_bit - 10;
  const uint32_t rounding = (uint32_t{1} << (dropped_bits - 1)) - 1 + ((magnitude >> dropped_bits) & 1);
  magnitude = (magnitude + rounding) >> dropped_bits;  // may carry to 2^11: the addition below then raises the exponent
  return static_cast<uint16_t>(sign | ((exponent << 10) + magnitude - 0x400u));
}
// Returns the same in bfloat16.
HONE_HOST_DEVICE inline uint16_t FeatureBFloat16Bits(int32_t units) {
  if (units == 0) return 0;
  const uint32_t sign = units < 0 ? 0x8000u : 0u;
  uint32_t magnitude = static_cast<uint32_t>(units < 0 ? -units : units);
  uint32_t highest_bit = 0;
  for (uint32_t step = 16; step != 0; step >>= 1) {
    if ((magnitude >> (highest_bit + step)) != 0) highest_bit += step;
  }
  const uint32_t exponent = highest_bit + 114;  // (top - 13) + 127
  if (highest_bit <= 7)
    return static_cast<uint16_t>(sign | (exponent << 7) | ((magnitude << (7 - highest_bit)) & 0x7fu));
  const uint32_t dropped_bits = highest_bit - 7;
  const uint32_t rounding = (uint32_t{1} << (dropped_bits - 1)) - 1 + ((magnitude >> dropped_bits) & 1);
  magnitude = (magnitude + rounding) >> dropped_bits;
  return static_cast<uint16_t>(sign | ((exponent << 7) + magnitude - 0x80u));
}

}  // namespace hone::gnn
