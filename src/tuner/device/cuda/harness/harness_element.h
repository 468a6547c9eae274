// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares one element with its reference, in kernels and host tests alike.
#pragma once

#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/values/draw.h"

namespace hone::harness {

// Resolution of a dtype's numbers near a value.
struct Precision {
  int mantissa_bits;  // stored; 0 for integers
  int lowest_exponent;
  double saturated = 0;    // floats of 8 and 4 bits: the largest number, which conversions by hardware saturate to; 0:
                           // another dtype
  bool nan_only = false;   // the dtype has no infinity: a conversion without saturation turns larger values into NaN
};
inline constexpr Precision kInteger{0, 0};
inline constexpr Precision kBinary64{52, -1022};
inline constexpr Precision kBinary32{23, -126};
inline constexpr Precision kBinary16{10, -14};
inline constexpr Precision kBrain16{7, -126};
inline constexpr Precision kE4M3{3, -6, 448.0, true};
inline constexpr Precision kE5M2{2, -14, 57344.0, false};
inline constexpr Precision kE2M1{1, 0, 6.0, false};  // half of a float4_e2m1fn_x2, which has neither infinity nor NaN

HONE_HD uint64_t BitsOf(double value) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint64_t>(__double_as_longlong(value));
#else
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

HONE_HD double DoubleOf(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

HONE_HD bool IsFinite(double value) { return ((BitsOf(value) >> 52) & 0x7ff) != 0x7ff; }
HONE_HD bool IsNan(double value) { return value != value; }
HONE_HD double Magnitude(double value) { return DoubleOf(BitsOf(value) & 0x7fffffffffffffffULL); }

// Returns the distance between neighbouring numbers of the dtype at `reference`, which is finite.
HONE_HD double UlpAt(double reference, Precision precision) {
  if (precision.mantissa_bits == 0) return 1.0;
  int exponent = static_cast<int>((BitsOf(reference) >> 52) & 0x7ff) - 1023;
  if (exponent < precision.lowest_exponent) exponent = precision.lowest_exponent;
  const int power = exponent - precision.mantissa_bits;
  if (power >= -1022) return DoubleOf(static_cast<uint64_t>(power + 1023) << 52);
  return DoubleOf(1ULL << (power + 1074));  // subnormal in double: only float64 can get here
}

// Returns the smallest normal number of the dtype: below it the distance between neighbours no longer shrinks, so
// errors are compared with it, not with the value. 0 for integers.
HONE_HD double SmallestNormal(Precision precision) {
  if (precision.mantissa_bits == 0) return 0.0;
  return DoubleOf(static_cast<uint64_t>(precision.lowest_exponent + 1023) << 52);
}

// Returns the least magnitude that rounds to an infinity of the dtype: half a step beyond its largest finite number.
// Infinite for integers and for float64, the type of references.
HONE_HD double OverflowsFrom(Precision precision) {
  const double infinity = DoubleOf(0x7ff0000000000000ULL);
  if (precision.mantissa_bits == 0 || precision.mantissa_bits >= 52) return infinity;
  if (precision.saturated > 0.0) return precision.saturated + 0.5 * UlpAt(precision.saturated, precision);
  const int largest_exponent = 1 - precision.lowest_exponent;
  const double power = DoubleOf(static_cast<uint64_t>(largest_exponent + 1023) << 52);
  return power * (2.0 - DoubleOf(static_cast<uint64_t>(1022 - precision.mantissa_bits) << 52));
}

// Limits `reference` to the largest number of a float of 8 or 4 bits, as a saturating conversion does; other dtypes'
// values stay.
HONE_HD double Saturated(double reference, Precision precision) {
  if (precision.saturated == 0.0 || Magnitude(reference) <= precision.saturated) return reference;
  return reference > 0.0 ? precision.saturated : -precision.saturated;
}

// The mask and value by which Hone's signalling NaN (exponent all ones, quiet bit clear, the bit below it set) is
// recognised in a word. No computation of a kernel produces it.
struct UnwrittenPattern {
  uint64_t mask;
  uint64_t value;
};
HONE_HD UnwrittenPattern UnwrittenOf(uint64_t poison, Precision precision) {
  // Kernels can produce every integer and every float of 8 or 4 bits, so unwritten elements cannot be recognised: they are
  // compared like others.
  if (precision.mantissa_bits == 0 || precision.saturated > 0.0) return {0, 1};
  const uint64_t payload = (1ULL << (precision.mantissa_bits - 2)) - 1;
  const int bits = precision.mantissa_bits == 52 ? 64 : precision.mantissa_bits == 23 ? 32 : 16;
  const uint64_t sign = 1ULL << (bits - 1);
  const uint64_t mask = (sign - 1) & ~payload;
  return {mask, poison & mask};
}

// Turns eight random bytes into a fill: the bits in `keep` stay, those in `set` become 1, the others 0. BytesMask keeps
// the bytes; PlausibleMask makes numbers of `bytes` bytes each: floating-point ones have magnitudes from 1/8 to 2, any
// mantissa and either sign; integers are below 64.
struct FillMask {
  uint64_t keep;
  uint64_t set;
};
HONE_HD FillMask BytesMask() { return {~0ULL, 0}; }
HONE_HD FillMask PlausibleMask(Precision precision, int bytes) {
  const int bits = 8 * bytes;
  uint64_t keep = 0x3f, set = 0;
  if (precision.mantissa_bits != 0) {
    const uint64_t bias = (1ULL << (bits - 2 - precision.mantissa_bits)) - 1;
    keep = 1ULL << (bits - 1) | ((4ULL << precision.mantissa_bits) - 1);  // two bits of the exponent are random too
    set = (bias & ~3ULL) << precision.mantissa_bits;
  }
  FillMask mask{0, 0};
  for (int at = 0; at < 64; at += bits) {
    mask.keep |= keep << at;
    mask.set |= set << at;
  }
  return mask;
}

// Returns byte `offset` of a fill drawn by `key`; `mask` applies to every eight bytes from the start.
HONE_HD uint8_t MaskedByte(uint64_t key, const FillMask& mask, int64_t offset) {
  const int shift = 8 * static_cast<int>(static_cast<uint64_t>(offset) & 7);
  return static_cast<uint8_t>((GapByte(key, offset) & (mask.keep >> shift)) | (mask.set >> shift));
}

// Result for one element. `scaled`, `small` and `ulps` are 0 if the output or the reference is not finite.
struct Judged {
  bool wrong;
  bool non_finite;  // the output is NaN or infinite
  double error;     // |actual - reference|; 0 when either is not finite
  double scaled;    // error / max(|reference|, rms)
  double small;     // error / max(|reference|, small_floor * rms, the dtype's smallest normal number)
  double ulps;
};

// Judges one element.
//   rms          root mean square of the reference over the element's slice, finite values only, or the tolerance's
//                floor if that is larger
//   c_max        limit on `scaled`
//   absolute     an error of this size is right at any scale
//   c_small      limit on `small`; 0: none. A bound relative to the rms lets a kernel answer 0 for everything that is
//                1 / c_max times smaller than its neighbours; if results have relative accuracy, such a kernel has left
//                out work
//   small_floor  an element below this fraction of its slice's rms counts as this fraction for c_small
// A reference that is not finite requires the same value: NaN for NaN, an infinity for the same infinity. An 8-bit
// float may also saturate there, or be NaN where its format has no infinity. A finite reference that the dtype cannot
// hold requires the infinity of its sign, the correctly rounded value. Close to that threshold (within c_max, but
// within a sixteenth at most) both a finite value and the infinity are right: a task may allow any c_max, and without
// the sixteenth an infinity would pass for anything if c_max were large.
HONE_HD Judged Judge(double actual, double reference, double rms, double c_max, Precision precision,
                     double absolute = 0.0, double c_small = 0.0, double small_floor = 0.0) {
  Judged judged{false, !IsFinite(actual), 0.0, 0.0, 0.0, 0.0};
  if (IsNan(reference) || (!IsFinite(reference) && precision.saturated == 0.0)) {
    judged.wrong = IsNan(reference) ? !IsNan(actual) : actual != reference;
    return judged;
  }
  if (judged.non_finite) {
    const bool same_sign = actual > 0.0 ? reference > 0.0 : actual < 0.0 && reference < 0.0;
    const double nearness = c_max < 0.0625 ? c_max : 0.0625;
    const bool overflow = precision.nan_only ? IsNan(actual) : same_sign;
    judged.wrong = !overflow || Magnitude(reference) * (1.0 + nearness) < OverflowsFrom(precision);
    return judged;
  }
  reference = Saturated(reference, precision);
  judged.error = Magnitude(actual - reference);
  if (judged.error == 0.0) return judged;
  const double magnitude = Magnitude(reference);
  const double scale = magnitude > rms ? magnitude : rms;
  judged.scaled = scale > 0.0 ? judged.error / scale : DoubleOf(0x7ff0000000000000ULL);
  const double far_below = rms * small_floor;
  const double smallest_normal = SmallestNormal(precision);
  const double least = far_below > smallest_normal ? far_below : smallest_normal;
  const double own = magnitude > least ? magnitude : least;
  judged.small = own > 0.0 ? judged.error / own : DoubleOf(0x7ff0000000000000ULL);
  judged.ulps = judged.error / UlpAt(reference, precision);
  judged.wrong = (judged.scaled > c_max || (c_small > 0.0 && judged.small > c_small)) && judged.error > absolute;
  return judged;
}

}  // namespace hone::harness
