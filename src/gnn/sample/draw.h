// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines how the slots of one row are drawn, word by word. Every sampler, on the CPU or a GPU, must reproduce it.
//
// Slot s of a row takes word s of the stream whose key is the run's seed and whose counter is
//   (node, step, epoch, hop | block << 8 | retry << 24),    word s = lane s % 4 of block s / 4.
// Lemire's multiplication (2019) turns the word into an integer below n. The result is exactly uniform, because a word
// that falls into the short interval is rejected, and the slot takes the word of the next retry. No draw depends on
// another row's. hop is below kMaxHops; the byte 255 in its place belongs to the seed order (index_permutation.h). All
// functions are constexpr and can be called from any thread, on the host or a device (nvcc:
// --expt-relaxed-constexpr).
#pragma once

#include <cstdint>

#include "base/numbers/philox.h"

namespace hone::gnn {

inline constexpr uint32_t kSeedOrderHop = 255;
inline constexpr uint32_t kMaxRetry = 255;

// The key of a draw: together with the node, it decides which neighbors are drawn.
struct DrawKey {
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t epoch = 0;
  uint32_t hop = 0;
};

constexpr PhiloxWords DrawBlock(const DrawKey& key, uint32_t node, uint32_t block, uint32_t retry) {
  return Philox4x32(key.seed, {node, key.step, key.epoch, key.hop | block << 8 | retry << 24});
}

// Returns the random word of a slot.
constexpr uint32_t DrawWord(const DrawKey& key, uint32_t node, uint32_t slot, uint32_t retry) {
  return DrawBlock(key, node, slot / 4, retry)[slot % 4];
}

// Returns the bound below which the low half of a product means that its word is rejected; n >= 1.
constexpr uint32_t RejectBelow(uint32_t n) { return (0u - n) % n; }

// Returns a uniform integer in [0, n), given the first word of the slot. The retries end after kMaxRetry; that many in
// a row have a probability below 2^-255.
constexpr uint32_t BoundedDraw(const DrawKey& key, uint32_t node, uint32_t slot, uint32_t first_word, uint32_t n) {
  uint64_t product = static_cast<uint64_t>(first_word) * n;
  if (static_cast<uint32_t>(product) < n) {
    const uint32_t reject = RejectBelow(n);
    for (uint32_t retry = 1; static_cast<uint32_t>(product) < reject && retry <= kMaxRetry; ++retry) {
      product = static_cast<uint64_t>(DrawWord(key, node, slot, retry)) * n;
    }
  }
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace hone::gnn
