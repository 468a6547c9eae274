// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes one element of an input as a pure function of (key, slice, position): the same bits on the host, in the
// harness kernels and in any order. Included by nvcc (harness_kernels.cu) and by the simulator's session, so it is
// plain C++17 with no standard library.
//
// Draws are counter-based: a slice's hash is SipHash of its number under the key (keyed_hash.h), and an element's bits
// are a 64-bit mixer (the finalizer of MurmurHash3 / SplitMix64, Steele et al. 2014) over that hash and the position. A
// candidate can recover 36 of these 64 bits from a normal value. So the mixer's second factor is a secret of the slice:
// without it the mixer cannot be inverted, and finding the slice's hash takes 2^64 tries. The hash would reveal only
// this slice of this tensor, which the candidate sees anyway. Normal values come from a table of quantiles
// (`NormalQuantiles`, 4096 intervals, linear interpolation): no transcendental function, so host and device agree to
// the bit.
#pragma once

#include <cstdint>

#include "tuner/values/keyed_hash.h"

namespace hone::draw {

// Mixes 64 bits: a bijection whose every output bit depends on every input bit (SplitMix64's finalizer).
HONE_HD uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// Returns the first half of Hash(), which a kernel computes once for a whole slice.
HONE_HD uint64_t SliceHash(uint64_t key, uint64_t slice) { return Keyed(key, slice); }
// Returns the second half of Hash(): the bits of the element at `position` in the slice with this hash.
HONE_HD uint64_t HashInSlice(uint64_t slice_hash, uint64_t position) {
  uint64_t x = slice_hash + position * 0xd1342543de82ef95ULL;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= ((slice_hash << 32) | (slice_hash >> 32)) | 1;
  x ^= x >> 31;
  return x;
}

// Returns the random bits of one element.
HONE_HD uint64_t Hash(uint64_t key, uint64_t slice, uint64_t position) {
  return HashInSlice(SliceHash(key, slice), position);
}

// Hashes two numbers at a third of Hash's cost. `what` separates the uses of one row's hash. The values are not secret once a candidate has seen inputs made from
// them.
HONE_HD uint64_t PlainHash(uint64_t key, uint64_t row, uint64_t what) {
  return Mix(Mix(key ^ (row * 0x9e3779b97f4a7c15ULL)) + what * 0xd1342543de82ef95ULL);
}

// Computes a keyed bijection on [0, n): four Feistel rounds on the smallest even-bit domain that holds n,
// following the cycle until it lands inside. "i * p + s mod n" would not be a bijection for most n.
// PermutedHalf returns half the number of bits of that domain. PermuteWithin maps `index` within it, and Permute does both.
HONE_HD int PermutedHalf(uint64_t n) {
  int half = 1;
  while ((1ULL << (2 * half)) < n) ++half;
  return half;
}
HONE_HD uint64_t PermuteWithin(uint64_t index, uint64_t n, uint64_t key, int half) {
  const uint64_t mask = (1ULL << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (int round = 0; round < 4; ++round) {
      const uint64_t next_right =
          left ^ (Mix(key + right * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(round)) & mask);
      left = right;
      right = next_right;
    }
    index = (left << half) | right;
  } while (index >= n);
  return index;
}
HONE_HD uint64_t Permute(uint64_t index, uint64_t n, uint64_t key) {
  if (n <= 1 || key == 0) return index;
  return PermuteWithin(index, n, key, PermutedHalf(n));
}

inline constexpr int kQuantiles = 4096;  // intervals of the table of normal quantiles

// Distributions by number, as in hone::Distribution (static_asserted in draw_table.cc). kSpecial also needs the number
// of the slice: SpecialFromBits.
enum Kind : int {
  kNormal, kUniform, kZero, kConstant, kHeavyTailed, kSorted, kCancelling, kLogUniform, kIndex, kOffsets, kSpecial
};

// How the elements of a kIndex tensor relate to each other, by number, as in hone::IndexOrder.
enum Order : int { kIndependent, kDistinct, kDistinctRows, kAscending, kMask };

// All that an element's value depends on besides its place. Plain numbers, for kernels.
struct Parameters {
  int kind;
  float low, high, scale, offset;
  float clip;             // largest magnitude of a value: keeps heavy tails inside the dtype
  uint64_t key;           // secret of this tensor in this input set
  int64_t index_bound;     // kIndex: draws are below this, before index_low is added; kOffsets: the last offset
  int64_t index_low;       // kIndex: the least index
  int64_t crowded_row, crowded_elements;  // kOffsets: as in ValueSpec
  int64_t slice_elements;  // positions in one slice: for kSorted, kCancelling, kOffsets, kDistinct and kAscending
  int order;               // kIndex: an Order
  float padding;           // kIndex: the share of elements that are -1 instead; kLogUniform: that are NaN instead
  int64_t row_elements;    // kDistinctRows: elements along the last axis
  float share_of_ones;     // kMask: the share of elements that are 1
  int guaranteed_value;    // kMask: the value, 0 or 1, that each line holds at least once; -1: none
  int64_t line_elements, line_stride;  // kMask: elements of a line, and the distance between their positions
  unsigned special;        // kSpecial: the SpecialValues that may occur, by bit as in hone::SpecialValue
  uint64_t pattern_key;    // kSpecial: a PatternKey, equal for all tensors of an input set, so that they have the same
                           // kinds in the same rows
  bool sliced;             // kSpecial: true: a slice is one row; false: each run along the last axis is one
  float smallest_normal;   // kSpecial: smallest normal number of the dtype, or of float32 if that is larger
};

HONE_HD float UniformFromBits(uint64_t bits) {  // in [0, 1), from 24 bits
  return static_cast<float>(bits >> 40) * (1.0f / 16777216.0f);
}

// QuantileIndex returns the table's interval that `bits` fall in. NormalBetween returns the normal number inside the
// interval whose two ends are a and b.
HONE_HD uint32_t QuantileIndex(uint64_t bits) { return static_cast<uint32_t>(bits >> 52); }  // 12 bits
HONE_HD float NormalBetween(uint64_t bits, float a, float b) {
  const float t = static_cast<float>((bits >> 28) & 0xffffff) * (1.0f / 16777216.0f);
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, __fmul_rn(t, __fsub_rn(b, a)));
#else
  const float d = b - a;
  const float m = t * d;
  return a + m;
#endif
}

// Returns a normal number from random bits. `quantiles` are kQuantiles + 1 values of the standard normal's quantile
// function at (i + 0.5) / (kQuantiles + 1).
HONE_HD float Normal(uint64_t bits, const float* quantiles) {
  const uint32_t index = QuantileIndex(bits);
  return NormalBetween(bits, quantiles[index], quantiles[index + 1]);
}

HONE_HD float Clip(const Parameters& parameters, float v) {
  return v > parameters.clip ? parameters.clip : (v < -parameters.clip ? -parameters.clip : v);
}

HONE_HD float FloatOfBits(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

// Draws one element of a floating-point kind but kSpecial. `bits`: Hash(parameters.key, slice, position). `quantiles`: as for
// Normal. `exp_quantiles`: the same table of exp(2 * z), the magnitudes of the heavy-tailed distribution.
HONE_HD float ValueFromBits(const Parameters& parameters, uint64_t bits, uint64_t position, const float* quantiles,
                            const float* exp_quantiles) {
  float v = 0.0f;
  switch (parameters.kind) {
    case kZero: return 0.0f;
    case kConstant:
      v = Normal(Hash(parameters.key, 0x5eed, 0), quantiles) * parameters.scale + parameters.offset;
      break;
    case kUniform: v = parameters.low + (parameters.high - parameters.low) * UniformFromBits(bits); break;
    case kHeavyTailed: {
      const float magnitude = Normal(bits, exp_quantiles) * parameters.scale;
      v = (bits & 1) ? -magnitude : magnitude;
      break;
    }
    case kSorted: {
      // evenly spaced from -3 to 3 standard deviations
      const float t = parameters.slice_elements > 1
                          ? static_cast<float>(position) / static_cast<float>(parameters.slice_elements)
                          : 0.5f;
      v = (t * 6.0f - 3.0f) * parameters.scale + parameters.offset;
      break;
    }
    case kCancelling: {
      // neighbors cancel: +8 and -8, each with a remainder of a quarter
      const float base = (position & 1) ? -8.0f : 8.0f;
      v = (base + Normal(bits, quantiles) * 0.25f) * parameters.scale;
      break;
    }
    case kLogUniform: {
      // The octave is chosen uniformly and the mantissa is linear inside it: without log or exp, the bits are the same
      // everywhere.
      const uint64_t more = Mix(bits);
      if (parameters.padding > 0.0f && UniformFromBits(Mix(more)) < parameters.padding) return FloatOfBits(0x7fc00000u);
      // A range may have as many octaves as float has powers of two. They are counted, and multiplied by, 32 at a time.
      constexpr float kOctaves = 32.0f, kPower = 4294967296.0f, kMostOctaves = 256.0f;
      float octaves = 0.0f, x = parameters.low;
      while (x * kPower < parameters.high && octaves < kMostOctaves) { x *= kPower; octaves += kOctaves; }
      while (x < parameters.high && octaves < kMostOctaves) { x *= 2.0f; octaves += 1.0f; }
      int octave = static_cast<int>(UniformFromBits(bits) * octaves);
      v = parameters.low * (1.0f + UniformFromBits(more));
      for (; octave >= 32; octave -= 32) v *= kPower;
      while (octave-- > 0) v *= 2.0f;
      break;
    }
    default: v = Normal(bits, quantiles) * parameters.scale + parameters.offset; break;
  }
  return Clip(parameters, v);
}

// Kinds of rows that reach branches of kernels: the maximum of a softmax that is not subtracted, an eps that is left
// out, a mask that leaves nothing, a fast path for "small" numbers. Kinds follow from `pattern_key` and the row's
// number alone, so tensors that are added or multiplied have the same kind in the same row: eps has an effect only if
// both are small. Rows take the kinds in turn, in this order: five rows that follow each other hold a kind with groups
// or masks of -inf.
enum SpecialKind : int {
  kMaskedRow, kTinyRow, kFarFromZero, kEqualRow, kLargeRow, kGroupedRow, kScaledRow, kSprinkledRow, kStridedRow, kBelowNormal
};
inline constexpr int kSpecialKinds = 10;
enum SpecialBit : unsigned { kInfinityBit = 1, kMinusInfinityBit = 2, kNanBit = 4, kSubnormalBit = 8 };

// Returns the pattern key of an input set. `turn` says which kind row 0 has, so that a tensor of one row (a bias) meets
// all kinds in input sets with turns that follow each other.
HONE_HD uint64_t PatternKey(uint64_t secret, uint64_t turn) { return (secret & ~0xffULL) | (turn % kSpecialKinds); }

// Returns the SpecialKind of a row. Each kSpecialKinds rows hold every kind once, from a start that a secret chooses;
// the first of them begin with the turn of `pattern_key`.
HONE_HD int KindOfRow(uint64_t pattern_key, uint64_t row) {
  const uint64_t block = row / kSpecialKinds;
  const uint64_t start = block == 0 ? pattern_key & 0xff : PlainHash(pattern_key, block, 0x7a2);
  return static_cast<int>((row + start % kSpecialKinds) % kSpecialKinds);
}

// Draws one element. `slice`: the number of the slice; `bits`: Hash(parameters.key, slice, position). Values of rows that are
// equal or far from zero are not clipped; they stay within 20 times the scale from the offset.
HONE_HD float SpecialFromBits(const Parameters& parameters, uint64_t slice, uint64_t bits, uint64_t position,
                              const float* quantiles) {
  const uint64_t row_elements = static_cast<uint64_t>(parameters.row_elements);
  const uint64_t row = parameters.sliced ? slice : position / row_elements;
  const uint64_t column = parameters.sliced ? position : position - row * row_elements;
  const uint64_t columns =
      static_cast<uint64_t>(parameters.sliced ? parameters.slice_elements : parameters.row_elements);
  const uint64_t choice = PlainHash(parameters.pattern_key, row, 0x59ec1a1);
  const uint64_t more = Mix(bits);  // more bits of the element, besides its normal value
  const uint64_t of_row = Mix(choice);  // random bits that all elements of the row share
  const float sign = (more & 1) ? -1.0f : 1.0f;
  const float normal = Normal(bits, quantiles) * parameters.scale;
  const float usual = normal + parameters.offset;
  const float subnormal = parameters.smallest_normal * UniformFromBits(more) * sign;
  int power = 0;  // the usual value is multiplied by 2^power
  switch (KindOfRow(parameters.pattern_key, row)) {
    case kTinyRow: power = -14 + static_cast<int>(of_row % 7); break;     // about the square root of an eps, and below
    case kScaledRow: power = -7 + static_cast<int>(of_row % 15); break;
    case kLargeRow: power = 7; break;
    case kStridedRow: {
      // Large numbers stand a power of two apart, where one thread of a strided loop meets them all: code that keeps a few
      // numbers for each thread is right only as long as large ones lie anywhere.
      uint64_t stride = 4096ULL >> (of_row >> 4) % 8;  // 4096 … 32
      while (stride > 4 && stride * 8 > columns) stride >>= 1;
      if (((column ^ (of_row >> 16)) & (stride - 1)) != 0) break;
      const bool positive = (of_row >> 12) & 1;
      return Clip(parameters, (positive && usual < 0.0f ? -usual : usual) * 8.0f);
    }
    case kFarFromZero: {
      const float shift =
          (8.0f + 8.0f * UniformFromBits(of_row)) * (parameters.scale < 0.0f ? -parameters.scale : parameters.scale);
      return usual + shift;
    }
    case kEqualRow:
      if (of_row % 4 == 0) return sign * 0.0f;
      return Normal(Hash(parameters.key, row, 0x5eed), quantiles) * parameters.scale + parameters.offset;
    case kSprinkledRow:
      if ((more >> 1) % 4 == 0) return sign * 0.0f;
      if ((more >> 1) % 4 == 1 && (parameters.special & kSubnormalBit)) return subnormal;
      if ((more >> 8) % 32 == 0 && (of_row & 1) && (parameters.special & kInfinityBit)) return FloatOfBits(0x7f800000u);
      if ((more >> 8) % 32 == 1 && (parameters.special & kNanBit)) return FloatOfBits(0x7fc00000u);
      break;
    case kMaskedRow: {
      // A quarter of these rows are masked entirely; the others from some column on, or at scattered places. The column
      // lies near the beginning as often as further on, so that whole threads of a block meet nothing but -inf.
      uint64_t last = columns >> (of_row >> 4) % 8;
      if (last < 4) last = columns;
      const bool tail = (of_row & 4) && column >= 1 + (of_row >> 8) % (last > 0 ? last : 1);
      const bool is_here = !(of_row & 4) && column > 0 && ((more >> 3) & 1);
      if ((parameters.special & kMinusInfinityBit) && (of_row % 4 == 0 || tail || is_here))
        return FloatOfBits(0xff800000u);
      break;
    }
    case kGroupedRow: {
      // Half of the aligned groups of 2, 4, 8 or 16 elements, which a thread may read at once, are -inf or 0. The last
      // group is not, so that the row is not masked entirely.
      const uint64_t group = 2ULL << (of_row >> 4) % 4;
      const bool last = column / group == (columns - 1) / group;
      if (last || (PlainHash(choice, column / group, 0x96) & 1)) break;
      return (parameters.special & kMinusInfinityBit) ? FloatOfBits(0xff800000u) : 0.0f;
    }
    default:  // kBelowNormal
      if (parameters.special & kSubnormalBit) return subnormal;
      power = -14;
      break;
  }
  float value = usual;
  for (; power > 0; --power) value *= 2.0f;
  for (; power < 0; ++power) value *= 0.5f;
  return Clip(parameters, value);
}

// Draws one element of a floating-point kind, kSpecial included.
HONE_HD float Value(const Parameters& parameters, uint64_t slice, uint64_t position, const float* quantiles,
                    const float* exp_quantiles) {
  if (parameters.kind == kSpecial)
    return SpecialFromBits(parameters, slice, Hash(parameters.key, slice, position), position, quantiles);
  return ValueFromBits(parameters, Hash(parameters.key, slice, position), position, quantiles, exp_quantiles);
}

// Returns the start of row `position` of a CSR structure: ascending over the slice's positions, 0 at the first and
// `index_bound` at the last. Each interval between two known starts is split at its middle row, a quarter to three
// quarters to either side, down to one row. The lengths are skewed like degrees of real graphs (log-normal, sigma 1.4
// for a million rows, as each halving adds its share), and any position is computed alone, in as many steps as there
// are halvings.
HONE_HD int64_t Ascending(int64_t slice_elements, int64_t end, uint64_t slice_hash, uint64_t position) {
  uint64_t first = 0, last = static_cast<uint64_t>(slice_elements) - 1;
  uint64_t first_start = 0, last_start = end > 0 ? static_cast<uint64_t>(end) : 0;  // starts of the rows first and last
  if (position == 0) return 0;
  if (position >= last) return static_cast<int64_t>(last_start);
  while (position != first) {
    const uint64_t middle = first + (last - first) / 2;
    const uint64_t bits = HashInSlice(slice_hash, middle);
    const uint64_t split = 16384 + (bits >> 49);  // the part before the middle, of 65,536: a quarter to three quarters
    const uint64_t length = last_start - first_start;
    // The product is computed in two halves, so that it cannot overflow; the random part rounds up with the probability
    // given by the remainder.
    const uint64_t middle_start =
        first_start + (length >> 16) * split + (((length & 0xffff) * split + (bits & 0xffff)) >> 16);
    if (position < middle) {
      last = middle;
      last_start = middle_start;
    } else {
      first = middle;
      first_start = middle_start;
    }
  }
  return static_cast<int64_t>(first_start);
}

// Returns element `position` of a kOffsets tensor.
HONE_HD int64_t Offset(const Parameters& parameters, uint64_t slice_hash, uint64_t position) {
  const int64_t before_row = static_cast<int64_t>(position) > parameters.crowded_row ? parameters.crowded_elements : 0;
  return before_row + Ascending(parameters.slice_elements, parameters.index_bound - parameters.crowded_elements, slice_hash, position);
}

// Returns entry `number` of a sample from [0, bound) without replacement: a keyed permutation of the first numbers.
// `number` must be below the bound; the parser refuses tasks whose tensors would exceed it.
HONE_HD int64_t DistinctIndex(uint64_t number, uint64_t bound, uint64_t key) {
  return static_cast<int64_t>(number < bound ? Permute(number, bound, key | 1) : number % bound);
}

// Draws one index before `index_low` is added, or -1 for padding. `bits`: HashInSlice(slice_hash, position). `slice`:
// the number that slice_hash was made from.
HONE_HD int64_t IndexAboveLow(const Parameters& parameters, uint64_t slice_hash, uint64_t slice, uint64_t bits,
                              uint64_t position) {
  if (parameters.index_bound <= 0) return 0;
  if (parameters.padding > 0.0f && UniformFromBits(Mix(bits ^ 0x9e6c63d0676a9a99ULL)) < parameters.padding) return -1;
  const uint64_t bound = static_cast<uint64_t>(parameters.index_bound);
  switch (parameters.order) {
    case kDistinct:
      return DistinctIndex(slice * static_cast<uint64_t>(parameters.slice_elements) + position, bound,
                           Mix(parameters.key));
    case kDistinctRows: {
      const uint64_t row = position / static_cast<uint64_t>(parameters.row_elements);
      return DistinctIndex(position - row * static_cast<uint64_t>(parameters.row_elements), bound,
                           HashInSlice(slice_hash, ~row));
    }
    case kAscending:
      return Ascending(parameters.slice_elements, parameters.index_bound - 1, slice_hash, position);
    case kMask: {
      if (bound < 2) return 0;
      if (parameters.guaranteed_value >= 0) {
        const uint64_t stride = static_cast<uint64_t>(parameters.line_stride),
                       count = static_cast<uint64_t>(parameters.line_elements);
        const uint64_t place = position / stride % count;  // of the element in its line
        // The place of the value that a line always holds follows from the line's first position.
        if (HashInSlice(slice_hash, ~(position - place * stride)) % count == place) return parameters.guaranteed_value;
      }
      return UniformFromBits(bits) < parameters.share_of_ones ? 1 : 0;
    }
    // The bias of the modulus is under 2^-32 for bounds below 2^31.
    default:
      return static_cast<int64_t>(bits % bound);
  }
}

// Draws one index, or -1 for padding. Arguments as for IndexAboveLow.
HONE_HD int64_t IndexFromBits(const Parameters& parameters, uint64_t slice_hash, uint64_t slice, uint64_t bits,
                              uint64_t position) {
  const int64_t index = IndexAboveLow(parameters, slice_hash, slice, bits, position);
  return index < 0 ? index : index + parameters.index_low;
}

// Draws one index, or -1 for padding, from the element's place alone.
HONE_HD int64_t Index(const Parameters& parameters, uint64_t slice, uint64_t position) {
  const uint64_t slice_hash = SliceHash(parameters.key, slice);
  return IndexFromBits(parameters, slice_hash, slice, HashInSlice(slice_hash, position), position);
}

// Returns whether elements of this kind are integers.
HONE_HD bool DrawsIntegers(int kind) { return kind == kIndex || kind == kOffsets; }
// Draws one element of an integer kind. Arguments as for IndexAboveLow.
HONE_HD int64_t IntegerFromBits(const Parameters& parameters, uint64_t slice_hash, uint64_t slice, uint64_t bits,
                                uint64_t position) {
  return parameters.kind == kOffsets ? Offset(parameters, slice_hash, position)
                                     : IndexFromBits(parameters, slice_hash, slice, bits, position);
}

}  // namespace hone::draw
