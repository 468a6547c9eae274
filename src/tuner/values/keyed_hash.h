// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Derives secrets from one secret by SipHash-2-4 (Aumasson and Bernstein 2012), a keyed function for which no attack is
// known that beats trying all keys. A derived secret that a candidate sees reveals neither its origin nor its siblings:
// a guard pattern does not reveal the key of the inputs, nor one row's values the next row's.
//
// All functions are pure, with the same bits on the host and in the harness kernels. nvcc includes this file, so it is
// plain C++17 with no standard library.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HONE_HD __host__ __device__ __forceinline__
#else
#define HONE_HD inline
#endif

namespace hone {

namespace siphash {

struct State {
  uint64_t v0, v1, v2, v3;
};

HONE_HD uint64_t RotateLeft(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

// Mixes the state: one SipRound.
HONE_HD void Round(State& s) {
  s.v0 += s.v1;
  s.v1 = RotateLeft(s.v1, 13) ^ s.v0;
  s.v0 = RotateLeft(s.v0, 32);
  s.v2 += s.v3;
  s.v3 = RotateLeft(s.v3, 16) ^ s.v2;
  s.v0 += s.v3;
  s.v3 = RotateLeft(s.v3, 21) ^ s.v0;
  s.v2 += s.v1;
  s.v1 = RotateLeft(s.v1, 17) ^ s.v2;
  s.v2 = RotateLeft(s.v2, 32);
}

// Makes the state before the first word. The constants are SipHash's.
HONE_HD State Start(uint64_t key0, uint64_t key1) {
  return {key0 ^ 0x736f6d6570736575ULL, key1 ^ 0x646f72616e646f6dULL, key0 ^ 0x6c7967656e657261ULL,
          key1 ^ 0x7465646279746573ULL};
}

// Takes in one word of the message, with two rounds.
HONE_HD void Take(State& s, uint64_t word) {
  s.v3 ^= word;
  Round(s);
  Round(s);
  s.v0 ^= word;
}

// Finishes a message of `bytes` bytes, a multiple of eight, all of which have been taken.
HONE_HD uint64_t End(State& s, uint64_t bytes) {
  Take(s, bytes << 56);
  s.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) Round(s);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

// Computes SipHash-2-4 of a message of two words, least significant byte first, under a key of 128 bits.
HONE_HD uint64_t OfTwo(uint64_t key0, uint64_t key1, uint64_t first, uint64_t second) {
  State s = Start(key0, key1);
  Take(s, first);
  Take(s, second);
  return End(s, 16);
}

// Computes SipHash-2-4 of a message of one word.
HONE_HD uint64_t OfOne(uint64_t key0, uint64_t key1, uint64_t word) {
  State s = Start(key0, key1);
  Take(s, word);
  return End(s, 8);
}

}  // namespace siphash

// Derives a secret from another: `what` names the use, `number` counts within it. Keys of 64 bits fill the first half
// of SipHash's; the second is a constant.
inline constexpr uint64_t kKeyedSecondHalf = 0x9e3779b97f4a7c15ULL;
HONE_HD uint64_t Keyed(uint64_t secret, uint64_t what) { return siphash::OfOne(secret, kKeyedSecondHalf, what); }
HONE_HD uint64_t Keyed(uint64_t secret, uint64_t what, uint64_t number) {
  return siphash::OfTwo(secret, kKeyedSecondHalf, what, number);
}

// Derives numbers from one secret, in order. Knowing any of them reveals nothing about the others. Not thread-safe.
class SecretNumbers {
 public:
  explicit SecretNumbers(uint64_t secret) : secret_(secret) {}
  uint64_t Next() { return Keyed(secret_, ++count_); }
  uint64_t NextOdd() { return Next() | 1; }  // a key that is never 0

 private:
  uint64_t secret_;
  uint64_t count_ = 0;
};

}  // namespace hone
