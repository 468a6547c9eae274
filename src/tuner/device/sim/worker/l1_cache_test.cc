// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/worker/l1_cache.h"

#include <gtest/gtest.h>

#include <list>

namespace hone::sim {
namespace {

TEST(L1Cache, AFirstUseMissesAndASecondHits) {
  L1Cache cache;
  cache.Reset(4 * 128);
  EXPECT_EQ(cache.CountMissedSectors(7, 0b1111), 4);
  EXPECT_EQ(cache.CountMissedSectors(7, 0b1111), 0);
}

TEST(L1Cache, SectorsOfALineComeOneByOne) {
  L1Cache cache;
  cache.Reset(4 * 128);
  EXPECT_EQ(cache.CountMissedSectors(7, 0b0001), 1);
  EXPECT_EQ(cache.CountMissedSectors(7, 0b0011), 1);
  EXPECT_EQ(cache.CountMissedSectors(7, 0b0011), 0);
}

TEST(L1Cache, TheLineUnusedForLongestGoes) {
  L1Cache cache;
  cache.Reset(2 * 128);
  EXPECT_EQ(cache.CountMissedSectors(1, 1), 1);
  EXPECT_EQ(cache.CountMissedSectors(2, 1), 1);
  EXPECT_EQ(cache.CountMissedSectors(1, 1), 0);  // 2 is now the older
  EXPECT_EQ(cache.CountMissedSectors(3, 1), 1);  // and is evicted
  EXPECT_EQ(cache.CountMissedSectors(1, 1), 0);
  EXPECT_EQ(cache.CountMissedSectors(2, 1), 1);
}

TEST(L1Cache, AWorkingSetThatFitsHitsWhateverItsStride) {
  for (const uint64_t stride : {uint64_t{1}, uint64_t{8192}, uint64_t{1} << 20, uint64_t{12345}}) {
    L1Cache cache;
    cache.Reset(64 * 128);
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(cache.CountMissedSectors(i * stride, 15), 4);
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(cache.CountMissedSectors(i * stride, 15), 0) << stride;
  }
}

TEST(L1Cache, WalkingOverMoreThanItHoldsNeverHits) {
  L1Cache cache;
  cache.Reset(64 * 128);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 65; ++i) EXPECT_EQ(cache.CountMissedSectors(i, 15), 4);
  }
}

TEST(L1Cache, AgreesWithAPlainListOfLines) {
  struct Plain {
    uint64_t name;
    uint8_t sectors;
  };
  std::list<Plain> plain;  // the newest first
  L1Cache cache;
  cache.Reset(13 * 128);
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const uint64_t name = (state >> 40) % 24 << (state >> 60);
    const uint8_t sectors = static_cast<uint8_t>((state >> 33 & 15) | 1);
    int missed = 0;
    uint8_t had = 0;
    for (auto at = plain.begin(); at != plain.end(); ++at) {
      if (at->name != name) continue;
      had = at->sectors;
      plain.erase(at);
      break;
    }
    for (int bit = 0; bit < 4; ++bit) missed += (sectors >> bit & 1) != 0 && (had >> bit & 1) == 0;
    plain.push_front({name, static_cast<uint8_t>(had | sectors)});
    if (plain.size() > 13) plain.pop_back();
    ASSERT_EQ(cache.CountMissedSectors(name, sectors), missed) << i;
  }
}

TEST(L1Cache, ResetForgetsEverything) {
  L1Cache cache;
  EXPECT_FALSE(cache.ready());
  cache.Reset(0);  // one line at least
  EXPECT_TRUE(cache.ready());
  EXPECT_EQ(cache.CountMissedSectors(5, 1), 1);
  EXPECT_EQ(cache.CountMissedSectors(5, 1), 0);
  cache.Reset(128);
  EXPECT_EQ(cache.CountMissedSectors(5, 1), 1);
}

}  // namespace
}  // namespace hone::sim
