// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements Philox4x32 (Salmon, Moraes, Dror and Shaw 2011): keyed rounds, ten by default, turn a counter into 128
// random bits. Its authors found that seven or more rounds pass every test of BigCrush; ten leave a margin.
//
// Philox is a pure function without state, so any thread can make any draw, in any order, on the CPU or a GPU, with the
// same result. The rounds are written so that compilers vectorise a loop over counters.
#pragma once

#include <array>
#include <cstdint>

namespace hone {

using PhiloxWords = std::array<uint32_t, 4>;

// Returns the 128 random bits for a counter. `key`: its low half is key word 0. `counter`: word 0 comes first.
template <int kRounds = 10>
constexpr PhiloxWords Philox4x32(uint64_t key, PhiloxWords counter) {
  static_assert(kRounds >= 7, "fewer rounds fail statistical tests");
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

}  // namespace hone
