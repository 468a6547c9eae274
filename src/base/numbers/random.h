// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides random numbers: secret seeds from the system, and generators that are pure functions of a seed, so that runs
// can be replayed.
#pragma once

#include <cstdint>
#include <limits>

namespace hone {

// Returns 64 unpredictable bits from the kernel (getrandom). Never fails on a working Linux; any thread.
uint64_t SystemSeed();

// SplitMix64 (Steele, Lea and Flood 2014): small, fast, equal on every machine. Not for secrets: an adversary who sees
// outputs can predict the rest. Meets UniformRandomBitGenerator. Not thread-safe: one per thread.
class Rng {
 public:
  using result_type = uint64_t;
  explicit Rng(uint64_t seed) : state_(seed) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }
  uint64_t operator()() { return Next(); }

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Returns a uniform number in [0, n) without bias (Lemire 2019); n >= 1.
  uint64_t Below(uint64_t n);
  // Returns a uniform number in [0, 1) with 53 random bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Returns a standard normal number (Box and Muller's method, of whose two results one is used).
  double Normal();
  // Returns an independent generator: the same parent state and `stream` give the same child.
  Rng Split(uint64_t stream) const;

 private:
  uint64_t state_;
};

}  // namespace hone
