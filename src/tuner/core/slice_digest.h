// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The digest of a slice: a universal hash of its bits under secret keys, the same number on the host, in the harness
// kernels and in any order of summation.
//
// A slice is the 32-bit words of its elements' bits, dense and row-major: word w holds what lies in bytes 4 w to 4 w + 3
// of such a copy, least significant first; what is left of the last word is 0. With p = 2^61 - 1, a prime, the digest is
//
//   sum over words of key(w) * word(w)  mod p,    key(w) = L[w mod 1024] * A[a] * B[b] * C[c]  mod p,
//
// where a, b and c are the digits of w / 1024 in base 512, the lowest first, and A[0] = B[0] = C[0] = 1. All other entries
// of the four tables are drawn uniformly below p.
//
// Claim: two different slices of one shape have the same digest with a chance of 4 / p < 2^-58 at most, over the keys.
// Proof: let d(w) be the difference of their words. The digests are the same exactly where the polynomial
// sum of d(w) * L[w mod 1024] * A[a] * B[b] * C[c], in the tables' entries as unknowns, is zero at the entries drawn. Each w
// has a monomial of its own (entries that are 1 are those of digit 0, and leaving a factor out says that its digit is 0), so
// coefficients do not meet; some d(w) is not 0, and not 0 modulo p either, for |d(w)| < 2^32 < p. So the polynomial is not
// zero, and its degree is 4 at most: by the lemma of Schwartz and Zippel it is zero at uniform values of F_p with a chance of
// degree / p at most. Slices of 4 KiB and less have degree 1, and those of 2 MiB and less degree 2.
//
// The tables' entries are the outputs of SipHash under a secret (slice_digest.cc), which nobody can tell from uniform
// ones. The digests of outputs are kept on the host, and the tables are wiped off a device before a candidate runs there.
//
// Included by nvcc (harness_kernels.cu) and by the host, so plain C++17 with no standard library.
#pragma once

#include <cstdint>

#include "tuner/core/keyed_hash.h"

namespace hone::digest {

inline constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
inline constexpr int kLowBits = 10, kHighBits = 9;
inline constexpr uint64_t kLowKeys = uint64_t{1} << kLowBits, kHighKeys = uint64_t{1} << kHighBits;
inline constexpr uint64_t kKeys = kLowKeys + 3 * kHighKeys;  // L, A, B, C one after another: 20 KiB
// Longer slices would meet keys twice; 2^39 bytes are more than any device has.
inline constexpr uint64_t kMostWords = uint64_t{1} << (kLowBits + 3 * kHighBits);

// Below 2^61 + 8, and the same modulo the prime: 2^61 is 1.
HONE_HD uint64_t Fold(uint64_t x) { return (x & kPrime) + (x >> 61); }

// What of x is left below the prime.
HONE_HD uint64_t Canonical(uint64_t x) {
  x = Fold(x);
  return x >= kPrime ? x - kPrime : x;
}

__extension__ typedef unsigned __int128 Product128;  // not ISO C++, but of every compiler Hone is built with

// a * b modulo the prime, below 2^61 + 8, for a and b below 2^61 + 8.
HONE_HD uint64_t Times(uint64_t a, uint64_t b) {
  const uint64_t low = a * b;
#if defined(__CUDA_ARCH__)
  const uint64_t high = __umul64hi(a, b);
#else
  const uint64_t high = static_cast<uint64_t>((static_cast<Product128>(a) * b) >> 64);
#endif
  return Fold((low & kPrime) + ((low >> 61) | (high << 3)));
}

// key * word modulo the prime, below 2^61 + 2^33: seven of them can be added. key: below 2^61.
HONE_HD uint64_t TimesWord(uint64_t key, uint32_t word) {
  const uint64_t low = (key & 0xffffffffu) * word;
  const uint64_t high = (key >> 32) * word + (low >> 32);  // the product's bits from 32 on
  return (((high & 0x1fffffffu) << 32) | (low & 0xffffffffu)) + (high >> 29);
}

HONE_HD uint64_t ReadKey(const uint64_t* at) {
#if defined(__CUDA_ARCH__)
  return __ldg(reinterpret_cast<const unsigned long long*>(at));
#else
  return *at;
#endif
}

// `sum` of keys L times words, all of them in one run of 1024 words (number `group` of the slice), times what the run has
// in common; below 2^61 + 8. sum: below 2^64.
HONE_HD uint64_t OfGroup(uint64_t sum, uint64_t group, const uint64_t* keys) {
  sum = Fold(sum);
  const uint64_t* table = keys + kLowKeys;
  for (; group != 0; group >>= kHighBits, table += kHighKeys) {
    const uint64_t digit = group & (kHighKeys - 1);
    if (digit != 0) sum = Times(sum, ReadKey(table + digit));
  }
  return sum;
}

HONE_HD uint64_t Plus(uint64_t a, uint64_t b) { return Fold(a + b); }  // for summands below 2^63

// An element of `bytes` 1, 2, 4 or 8 at `position` in its slice, whose bits fill as much of `bits`.
HONE_HD uint64_t OfElement(uint64_t bits, uint64_t position, int bytes, const uint64_t* keys) {
  const uint64_t at = position * static_cast<uint64_t>(bytes);
  const uint64_t word = at >> 2, low = word & (kLowKeys - 1);
  uint64_t sum = TimesWord(ReadKey(keys + low), static_cast<uint32_t>(bits << (8 * (at & 3))));
  if (bytes == 8) sum += TimesWord(ReadKey(keys + low + 1), static_cast<uint32_t>(bits >> 32));
  return OfGroup(sum, word >> kLowBits, keys);
}

#if !defined(__CUDA_ARCH__)
// The tables under `secret`, kKeys numbers below the prime, as far as slices of `slice_bytes` read them; the rest is 0.
// keys: room for kKeys.
void MakeKeys(uint64_t secret, uint64_t slice_bytes, uint64_t* keys);
#endif

}  // namespace hone::digest
