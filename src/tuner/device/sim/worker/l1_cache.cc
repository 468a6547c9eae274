// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the cache as a hash table with chains over an array of lines, and a list of the lines in order of use.
#include "tuner/device/sim/worker/l1_cache.h"

#include <algorithm>
#include <bit>

namespace hone::sim {

void L1Cache::Reset(uint64_t bytes) {
  const uint64_t count = std::max<uint64_t>(1, bytes / kLineBytes);
  lines_.assign(count, Line());
  const uint64_t buckets = std::bit_ceil(2 * count);
  buckets_.assign(buckets, kNone);
  bucket_shift_ = 64 - std::countr_zero(buckets);
  used_ = 0;
  newest_ = oldest_ = kNone;
}

uint32_t& L1Cache::Bucket(uint64_t line) {
  return buckets_[(line * 0x9e3779b97f4a7c15ULL) >> bucket_shift_];  // Fibonacci hashing: at least two buckets
}

void L1Cache::MakeNewest(uint32_t index) {
  Line& line = lines_[index];
  line.newer = kNone;
  line.older = newest_;
  if (newest_ != kNone) lines_[newest_].newer = index;
  newest_ = index;
  if (oldest_ == kNone) oldest_ = index;
}

void L1Cache::Unlink(uint32_t index) {
  const Line& line = lines_[index];
  (line.newer != kNone ? lines_[line.newer].older : newest_) = line.older;
  (line.older != kNone ? lines_[line.older].newer : oldest_) = line.newer;
}

int L1Cache::CountMissedSectors(uint64_t name, uint8_t sectors) {
  for (uint32_t index = Bucket(name); index != kNone; index = lines_[index].chained) {
    Line& line = lines_[index];
    if (line.name != name) continue;
    const int missed = std::popcount(static_cast<unsigned>(sectors & ~line.sectors));
    line.sectors |= sectors;
    if (index != newest_) {
      Unlink(index);
      MakeNewest(index);
    }
    return missed;
  }
  uint32_t index = used_;
  if (used_ < lines_.size()) {
    ++used_;
  } else {
    index = oldest_;
    Unlink(index);
    uint32_t* link = &Bucket(lines_[index].name);
    while (*link != index) link = &lines_[*link].chained;
    *link = lines_[index].chained;
  }
  Line& line = lines_[index];
  line.name = name;
  line.sectors = sectors;
  uint32_t& bucket = Bucket(name);
  line.chained = bucket;
  bucket = index;
  MakeNewest(index);
  return std::popcount(static_cast<unsigned>(sectors));
}

}  // namespace hone::sim
