// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/worker/shared_shadow.h"

#include <gtest/gtest.h>

namespace hone::sim {
namespace {

class SharedShadowTest : public testing::Test {
 protected:
  void SetUp() override { order.BeginBlock(128); }
  bool Write(int thread, uint32_t offset, uint32_t bytes = 4, uint16_t site = 1, Ordering o = Ordering::kPlain) {
    return shadow.RecordAccess<true, false>(offset, bytes, thread, o, site, order);
  }
  bool Read(int thread, uint32_t offset, uint32_t bytes = 4, uint16_t site = 2, Ordering o = Ordering::kPlain) {
    return shadow.RecordAccess<false, true>(offset, bytes, thread, o, site, order);
  }
  bool Update(int thread, uint32_t offset, Ordering o = Ordering::kAtomic) {
    return shadow.RecordAccess<true, true>(offset, 4, thread, o, 3, order);
  }
  HappensBefore order;
  SharedShadow shadow{1024};
};

TEST_F(SharedShadowTest, WriteThenReadByAnotherThreadRaces) {
  EXPECT_FALSE(Write(0, 8, 4, 7));
  EXPECT_FALSE(Read(0, 8));
  EXPECT_TRUE(Read(1, 8));
  EXPECT_TRUE(shadow.conflict().race);
  EXPECT_TRUE(shadow.conflict().other_wrote);
  EXPECT_EQ(shadow.conflict().other_thread, 0);
  EXPECT_EQ(shadow.conflict().other_site, 7);
  EXPECT_EQ(shadow.conflict().word, 8u);
}

TEST_F(SharedShadowTest, ABarrierBetweenMakesItClean) {
  EXPECT_FALSE(Write(0, 8));
  order.BlockBarrier();
  EXPECT_FALSE(Read(1, 8));
  EXPECT_FALSE(Read(99, 8));
}

TEST_F(SharedShadowTest, ReadersRaceWithALaterWriter) {
  EXPECT_FALSE(Write(0, 8));
  order.BlockBarrier();
  for (int t = 0; t < 128; ++t) EXPECT_FALSE(Read(t, 8));
  EXPECT_TRUE(Write(5, 8));  // others have read it since the barrier
  EXPECT_TRUE(shadow.conflict().race);
  EXPECT_FALSE(shadow.conflict().other_wrote);
}

TEST_F(SharedShadowTest, AReaderMayWriteWhatOnlyItHasRead) {
  EXPECT_FALSE(Write(0, 8));
  order.BlockBarrier();
  EXPECT_FALSE(Read(5, 8));
  EXPECT_FALSE(Write(5, 8));
}

TEST_F(SharedShadowTest, ReadsOfAnotherWarpAreNotForgottenWhenOnesOwnWarpReads) {
  EXPECT_FALSE(Write(0, 8));
  order.BlockBarrier();
  EXPECT_FALSE(Read(64, 8));
  for (int t = 0; t < 32; ++t) EXPECT_FALSE(Read(t, 8));
  order.WarpBarrier(0, ~0u, ~0u);
  EXPECT_TRUE(Write(0, 8));  // thread 64 of the third warp has read it
  EXPECT_EQ(shadow.conflict().other_thread, 64);
}

TEST_F(SharedShadowTest, WhatNobodyWroteIsUnwrittenInEveryBlock) {
  EXPECT_TRUE(Read(0, 16));
  EXPECT_TRUE(shadow.conflict().unwritten);
  EXPECT_FALSE(Write(0, 16));
  EXPECT_FALSE(Read(0, 16));
  order.BeginBlock(128);
  EXPECT_TRUE(Read(0, 16));
  EXPECT_TRUE(shadow.conflict().unwritten);
}

TEST_F(SharedShadowTest, PartsOfAWordAreSeparate) {
  EXPECT_FALSE(Write(0, 0, 2));
  EXPECT_FALSE(Write(1, 2, 2));
  EXPECT_FALSE(Read(0, 0, 2));
  EXPECT_TRUE(Read(0, 0, 4));  // thread 1 wrote the upper half
  EXPECT_TRUE(shadow.conflict().race);
  order.BlockBarrier();
  EXPECT_FALSE(Read(2, 0, 4));
  EXPECT_FALSE(Write(4, 4, 1));
  EXPECT_TRUE(Read(4, 4, 4));  // three bytes of the word were never written
  EXPECT_TRUE(shadow.conflict().unwritten);
}

TEST_F(SharedShadowTest, AWholeWriteJoinsTheParts) {
  for (int t = 0; t < 4; ++t) EXPECT_FALSE(Write(t, static_cast<uint32_t>(t), 1));
  order.BlockBarrier();
  EXPECT_FALSE(Write(9, 0, 4));
  EXPECT_FALSE(Read(9, 0, 4));
  EXPECT_TRUE(Read(8, 2, 1));
  EXPECT_EQ(shadow.conflict().other_thread, 9);
}

TEST_F(SharedShadowTest, AVectorTouchesAllItsWords) {
  EXPECT_FALSE(Write(0, 32, 16));
  EXPECT_TRUE(Read(1, 44, 4));
  EXPECT_EQ(shadow.conflict().word, 44u);
  EXPECT_TRUE(Read(1, 40, 16));  // 48 to 55 were never written, 40 to 47 race
}

TEST_F(SharedShadowTest, AtomicsDoNotRaceWithEachOtherButWithTheRest) {
  EXPECT_FALSE(Write(0, 8));
  order.BlockBarrier();
  for (int t = 0; t < 128; ++t) EXPECT_FALSE(Update(t, 8));
  EXPECT_TRUE(Read(1, 8));  // a plain read of a word that others add to
  order.BlockBarrier();
  EXPECT_FALSE(Read(1, 8));
}

TEST_F(SharedShadowTest, OnesOwnAtomicDoesNotHideOnesPlainWrite) {
  EXPECT_FALSE(Write(0, 8));
  EXPECT_FALSE(Update(0, 8));
  EXPECT_TRUE(Update(1, 8));
  EXPECT_EQ(shadow.conflict().other_site, 1);
}

TEST_F(SharedShadowTest, VolatileFlagsWorkBetweenWarpsAndNotWithinOne) {
  EXPECT_FALSE(Write(0, 8, 4, 1, Ordering::kVolatile));
  EXPECT_FALSE(Read(40, 8, 4, 2, Ordering::kVolatile));
  EXPECT_TRUE(Read(3, 8, 4, 2, Ordering::kVolatile));  // old warp-synchronous code
}

TEST_F(SharedShadowTest, SurvivesTheEndOfStamps) {
  EXPECT_FALSE(Write(0, 8));
  while (!order.exhausted()) order.BlockBarrier();
  shadow.Restart();
  order.Restart();
  EXPECT_FALSE(Read(1, 8));
  EXPECT_FALSE(Read(1, 12));  // unwritten state is forgotten: a missed finding, never a false one
  EXPECT_FALSE(Write(2, 16));
  EXPECT_TRUE(Read(3, 16));
}

}  // namespace
}  // namespace hone::sim
