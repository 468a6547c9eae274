// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/values/slice_digest.h"

#include <algorithm>

#include "hone/base/status.h"

namespace hone::digest {
namespace {

constexpr uint64_t kPurpose = 0xd16e57;  // separates these keys from others derived from the same secret

}  // namespace

void MakeKeys(uint64_t secret, uint64_t slice_bytes, uint64_t* keys) {
  const uint64_t key_words = slice_bytes / 4 + 1;
  HONE_CHECK(key_words <= kMostWords, "a slice that is larger than any device");
  const uint64_t groups = (key_words - 1) / kLowKeys + 1;
  // Returns whether a slice of this size uses the entry.
  const auto is_read = [&](uint64_t entry) {
    if (entry < kLowKeys) return entry < key_words;
    const uint64_t level = (entry - kLowKeys) / kHighKeys, digit = (entry - kLowKeys) % kHighKeys;
    return digit <= (groups - 1) >> (level * kHighBits);
  };
  for (uint64_t entry = 0; entry < kKeys; ++entry) {
    keys[entry] = 0;
    if (!is_read(entry)) continue;
    const uint64_t drawn = Keyed(secret, kPurpose, entry) >> 4;
    // Entries of L are stored as two halves of 30 bits, each in 32 bits.
    constexpr uint64_t kHalf = (uint64_t{1} << 30) - 1;
    keys[entry] = entry < kLowKeys ? (drawn >> 30 << 32) | (drawn & kHalf) : drawn;
  }
}

}  // namespace hone::digest
