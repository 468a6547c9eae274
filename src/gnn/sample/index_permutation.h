// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a keyed permutation of [0, count) without a table. Any position can be computed at any time, with the same
// result on every device.
//
// The permutation is an alternating Feistel network on ceil(log2(count)) bits, whose two parts differ by at most one
// bit. A result at or past count is put through the network again (cycle walking, Black and Rogaway 2002), which takes
// fewer than two passes per position on average. For fewer than 2^kMinBits positions the network would have too few
// distinct permutations; it then runs on kMinBits bits and walks longer. Not for secrets: the round function is a
// mixer, not a cipher. All functions are constexpr and can be called from any thread, on the host or a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gnn/sample/draw.h"
#include "base/numbers/philox.h"

namespace hone::gnn {

class IndexPermutation {
 public:
  static constexpr int kRounds = 8;  // even, so that the parts end where they began
  static constexpr int kMinBits = 8;

  // Makes the permutation for `count` in [0, 2^62]. The round keys are eight Philox words of (seed, epoch).
  constexpr IndexPermutation(uint64_t seed, uint32_t epoch, int64_t count) : count_(count) {
    int bits = kMinBits;
    while (bits < 62 && (int64_t{1} << bits) < count) ++bits;
    low_bits_ = bits / 2;
    high_bits_ = bits - low_bits_;
    for (uint32_t block = 0; block < kRounds / 4; ++block) {
      const PhiloxWords random_words = Philox4x32(seed, {block, 0, epoch, kSeedOrderHop});
      for (int i = 0; i < 4; ++i)
        round_key_[block * 4 + static_cast<uint32_t>(i)] = random_words[static_cast<size_t>(i)];
    }
  }

  // Returns the index at position i. Requires i in [0, count).
  constexpr int64_t operator()(int64_t i) const {
    do {
      i = PermuteOnce(i);
    } while (i >= count_);
    return i;
  }

 private:
  // The round function: 32 bits mixed with a key.
  static constexpr uint32_t Mix(uint32_t x, uint32_t key) {
    x = (x ^ key) * 0x9E3779B1u;
    x = (x ^ (x >> 15)) * 0x85EBCA77u;
    x = (x ^ (x >> 13)) * 0xC2B2AE3Du;
    return x ^ (x >> 16);
  }
  // Puts an index through the network once.
  constexpr int64_t PermuteOnce(int64_t i) const {
    uint32_t low = static_cast<uint32_t>(i & ((int64_t{1} << low_bits_) - 1));
    uint32_t high = static_cast<uint32_t>(i >> low_bits_);
    const uint32_t low_mask = static_cast<uint32_t>((uint64_t{1} << low_bits_) - 1);
    const uint32_t high_mask = static_cast<uint32_t>((uint64_t{1} << high_bits_) - 1);
    for (int round = 0; round < kRounds; round += 2) {
      high = (high ^ Mix(low, round_key_[round])) & high_mask;
      low = (low ^ Mix(high, round_key_[round + 1])) & low_mask;
    }
    return static_cast<int64_t>(high) << low_bits_ | low;
  }

  int64_t count_;
  int low_bits_ = 0;
  int high_bits_ = 0;
  uint32_t round_key_[kRounds] = {};
};

}  // namespace hone::gnn
