// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the digest of a slice: a universal hash of its bits under secret keys, the same number on the host, in the
// harness kernels and in any order of summation.
//
// A slice is the 32-bit words of its elements' bits, dense and row-major: word w holds bytes 4 w to 4 w + 3 of such a
// copy, least significant first; the rest of the last word is 0. With p = 2^61 - 1, a prime, the digest is
//
//   sum over words of key(w) * word(w)  mod p,   key(w) = L[w mod 1024] * A[a] * B[b] * C[c]  mod p,
//
// where a, b and c are the digits of w / 1024 in base 512, the lowest first, and A[0] = B[0] = C[0] = 1. All other
// entries of the four tables are drawn uniformly below 2^60.
//
// Claim: two different slices of one shape have the same digest with a chance of 2^-58 at most, over the keys.
// Proof: let d(w) be the difference of their words. The digests are the same exactly if the polynomial
// sum of d(w) * L[w mod 1024] * A[a] * B[b] * C[c], in the tables' entries as unknowns, is zero at the entries drawn.
// Each w has a monomial of its own (the entries that are 1 are those of digit 0, so an absent factor means digit 0), so
// coefficients are not added; some d(w) is not 0, and not 0 modulo p either, for |d(w)| < 2^32 < p. So the polynomial
// is not zero, and its degree is 4 at most: by the lemma of Schwartz and Zippel it is zero at values drawn from 2^60
// elements of the field with a chance of 4 / 2^60 at most. Slices of 4 KiB and less have degree 1, and those of 2 MiB
// and less degree 2.
//
// The tables' entries are the outputs of SipHash under a secret (slice_digest.cc), indistinguishable from uniform ones.
// The digests of outputs are kept on the host, and the tables are erased from a device before a candidate runs there.
//
// Entries of L are stored as two halves of 30 bits, each in 32: four products of a half and a word can be added in 64
// bits, which makes the digest as fast as memory.
//
// nvcc (harness_kernels.cu) and the host include this file, so it is plain C++17 with no standard library.
#pragma once

#include <cstdint>

#include "tuner/values/keyed_hash.h"

namespace hone::digest {

inline constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
inline constexpr int kLowBits = 10, kHighBits = 9;
inline constexpr uint64_t kLowKeys = uint64_t{1} << kLowBits, kHighKeys = uint64_t{1} << kHighBits;
inline constexpr uint64_t kKeys = kLowKeys + 3 * kHighKeys;  // L, A, B, C one after another: 20 KiB
// Longer slices would use keys twice; 2^39 bytes are more than any device has.
inline constexpr uint64_t kMostWords = uint64_t{1} << (kLowBits + 3 * kHighBits);

// Returns a number below 2^61 + 8 that equals x modulo the prime: 2^61 is 1.
HONE_HD uint64_t Fold(uint64_t x) { return (x & kPrime) + (x >> 61); }

// Returns x modulo the prime.
HONE_HD uint64_t Canonical(uint64_t x) {
  x = Fold(x);
  return x >= kPrime ? x - kPrime : x;
}

__extension__ typedef unsigned __int128 Product128;  // not ISO C++, but known to every compiler that builds Hone

// Returns a * b modulo the prime, below 2^61 + 8, for a and b below 2^61 + 8.
HONE_HD uint64_t Times(uint64_t a, uint64_t b) {
  const uint64_t low = a * b;
#if defined(__CUDA_ARCH__)
  const uint64_t high = __umul64hi(a, b);
#else
  const uint64_t high = static_cast<uint64_t>((static_cast<Product128>(a) * b) >> 64);
#endif
  return Fold((low & kPrime) + ((low >> 61) | (high << 3)));
}

HONE_HD uint64_t ReadKey(const uint64_t* at) {
#if defined(__CUDA_ARCH__)
  return __ldg(reinterpret_cast<const unsigned long long*>(at));
#else
  return *at;
#endif
}

// Reads four neighboring keys, starting at one whose number is a multiple of four.
HONE_HD void ReadFourKeys(const uint64_t* at, uint64_t keys[4]) {
#if defined(__CUDA_ARCH__)
  const ulonglong2* const pairs = reinterpret_cast<const ulonglong2*>(at);
  const ulonglong2 first = __ldg(pairs), second = __ldg(pairs + 1);
  keys[0] = first.x;
  keys[1] = first.y;
  keys[2] = second.x;
  keys[3] = second.y;
#else
  for (int i = 0; i < 4; ++i) keys[i] = at[i];
#endif
}

// Sums of at most four products of words with the two halves of their keys.
struct Halves {
  uint64_t low, high;
};
HONE_HD void AddWord(Halves& sums, uint64_t key, uint32_t word) {
  sums.low += (key & 0xffffffffu) * word;
  sums.high += (key >> 32) * word;
}
// Returns low + 2^30 * high modulo the prime, below 2^63.
HONE_HD uint64_t JoinHalves(const Halves& sums) {
  return Fold(sums.low) + ((sums.high & 0x7fffffffu) << 30) + (sums.high >> 31);
}

// Returns `sum` times the common factor A[a] * B[b] * C[c] of a run of 1024 words; below 2^61 + 8. `group`: the run's
// number in the slice. `sum`: of the run's words times their keys L, below 2^64.
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

// Sums the words of a slice in any order; consecutive words cost the least. Total() is below 2^61 + 8 and equals the
// digest modulo the prime.
class Sum {
 public:
  HONE_HD explicit Sum(const uint64_t* keys) : keys_(keys) {}

  // Adds words first to first + 3, `first` a multiple of four.
  HONE_HD void AddFour(uint64_t first, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    Enter(first >> kLowBits);
    uint64_t keys[4];
    ReadFourKeys(keys_ + (first & (kLowKeys - 1)), keys);
    Halves sums{0, 0};
    AddWord(sums, keys[0], a);
    AddWord(sums, keys[1], b);
    AddWord(sums, keys[2], c);
    AddWord(sums, keys[3], d);
    of_group_ = Plus(of_group_, JoinHalves(sums));
  }
  // Adds the element at `position` of the slice, whose bits fill the low `bytes` bytes of `bits`. bytes: 1, 2, 4 or 8.
  HONE_HD void AddElement(uint64_t bits, uint64_t position, int bytes) {
    const uint64_t at = position * static_cast<uint64_t>(bytes);
    const uint64_t word = at >> 2, low = word & (kLowKeys - 1);
    Enter(word >> kLowBits);
    Halves sums{0, 0};
    AddWord(sums, ReadKey(keys_ + low), static_cast<uint32_t>(bits << (8 * (at & 3))));
    if (bytes == 8) AddWord(sums, ReadKey(keys_ + low + 1), static_cast<uint32_t>(bits >> 32));
    of_group_ = Plus(of_group_, JoinHalves(sums));
  }
  HONE_HD uint64_t Total() const { return Plus(total_, OfGroup(of_group_, group_, keys_)); }

 private:
  HONE_HD void Enter(uint64_t group) {
    if (group == group_) return;
    total_ = Total();
    of_group_ = 0;
    group_ = group;
  }

  const uint64_t* keys_;
  uint64_t total_ = 0, of_group_ = 0, group_ = 0;  // of_group_: sum of the words added since group_ was entered
};

#if !defined(__CUDA_ARCH__)
// Makes the tables of `secret` in `keys`, which has space for kKeys numbers and is aligned to 16 bytes for
// ReadFourKeys. Entries that slices of `slice_bytes` do not read are 0.
void MakeKeys(uint64_t secret, uint64_t slice_bytes, uint64_t* keys);
#endif

}  // namespace hone::digest
