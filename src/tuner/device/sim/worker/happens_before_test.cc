// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/worker/happens_before.h"

#include <gtest/gtest.h>

namespace hone::sim {
namespace {

constexpr uint32_t kAll = ~0u;

TEST(HappensBefore, ThreadsAreUnorderedUntilTheyMeet) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  EXPECT_FALSE(order.Ordered(0, write, 1));
  EXPECT_TRUE(order.Ordered(0, write, 0));
  order.BlockBarrier();
  EXPECT_TRUE(order.Ordered(0, write, 1));
  EXPECT_TRUE(order.Ordered(0, write, 63));
  EXPECT_FALSE(order.Ordered(0, order.now(), 1));  // after the barrier, again
}

TEST(HappensBefore, AWarpBarrierOrdersItsLanesOnly) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  order.WarpBarrier(0, kAll, kAll);
  EXPECT_TRUE(order.Ordered(3, write, 31));
  EXPECT_FALSE(order.Ordered(3, write, 32));
}

TEST(HappensBefore, AWarpBarrierOverHalfOfTheLanesLeavesTheOtherHalf) {
  HappensBefore order;
  order.BeginBlock(32);
  const Stamp write = order.now();
  order.WarpBarrier(0, 0xffff, kAll);
  EXPECT_TRUE(order.Ordered(0, write, 15));
  EXPECT_FALSE(order.Ordered(0, write, 16));
  EXPECT_FALSE(order.Ordered(20, write, 3));
}

TEST(HappensBefore, LanesPassOnWhatTheyKnow) {
  // 0 meets 1, then 1 meets 2: earlier writes of 0 are ordered before 2.
  HappensBefore order;
  order.BeginBlock(32);
  const Stamp write = order.now();
  order.WarpBarrier(0, 0b011, kAll);
  const Stamp later = order.now();
  order.WarpBarrier(0, 0b110, kAll);
  EXPECT_TRUE(order.Ordered(0, write, 2));
  EXPECT_FALSE(order.Ordered(0, later, 2));
}

TEST(HappensBefore, ABarrierOfTheLivingLanesIsEnough) {
  HappensBefore order;
  order.BeginBlock(32);
  const Stamp write = order.now();
  order.WarpBarrier(0, 0xff, 0xff);  // the others have exited
  EXPECT_TRUE(order.Ordered(0, write, 7));
}

TEST(HappensBefore, NamedBarriersOrderTheirThreads) {
  HappensBefore order;
  order.BeginBlock(96);
  const Stamp write = order.now();
  std::vector<int> two_warps;
  for (int t = 0; t < 64; ++t) two_warps.push_back(t);
  order.PartialBarrier(two_warps);
  EXPECT_TRUE(order.Ordered(0, write, 63));
  EXPECT_FALSE(order.Ordered(0, write, 64));
  // The third warp learns of it from the second, through a barrier of these two.
  std::vector<int> others;
  for (int t = 32; t < 96; ++t) others.push_back(t);
  order.PartialBarrier(others);
  EXPECT_TRUE(order.Ordered(0, write, 95));
}

TEST(HappensBefore, AFlagBetweenFencesPublishes) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  order.Fence(0);
  order.AtomicAccess(/*self=*/0, 0x1000, /*reads=*/false, /*writes=*/true, /*acquire=*/false, /*release=*/false);
  order.AtomicAccess(/*self=*/40, 0x1000, /*reads=*/true, /*writes=*/false, /*acquire=*/false, /*release=*/false);
  EXPECT_FALSE(order.Ordered(0, write, 40));  // no fence on the reader's side yet
  order.Fence(40);
  EXPECT_TRUE(order.Ordered(0, write, 40));
  EXPECT_FALSE(order.Ordered(0, write, 41));
}

TEST(HappensBefore, AFlagWithoutTheWritersFenceDoesNot) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  order.AtomicAccess(/*self=*/0, 0x1000, /*reads=*/false, /*writes=*/true, /*acquire=*/false, /*release=*/false);
  order.AtomicAccess(/*self=*/40, 0x1000, /*reads=*/true, /*writes=*/false, /*acquire=*/false, /*release=*/false);
  order.Fence(40);
  EXPECT_FALSE(order.Ordered(0, write, 40));
}

TEST(HappensBefore, ReleaseAndAcquireNeedNoFence) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  order.AtomicAccess(/*self=*/0, 0x1000, /*reads=*/false, /*writes=*/true, /*acquire=*/false, /*release=*/true);
  order.AtomicAccess(/*self=*/40, 0x1000, /*reads=*/true, /*writes=*/false, /*acquire=*/true, /*release=*/false);
  EXPECT_TRUE(order.Ordered(0, write, 40));
}

TEST(HappensBefore, ANewBlockForgetsFlagsAndOrdersWhatWasBefore) {
  HappensBefore order;
  order.BeginBlock(64);
  const Stamp write = order.now();
  order.AtomicAccess(/*self=*/0, 0x1000, /*reads=*/false, /*writes=*/true, /*acquire=*/false, /*release=*/true);
  order.BeginBlock(64);
  EXPECT_TRUE(order.Ordered(0, write, 40));
  const Stamp fresh = order.now();
  order.AtomicAccess(/*self=*/40, 0x1000, /*reads=*/true, /*writes=*/false, /*acquire=*/true, /*release=*/false);
  EXPECT_FALSE(order.Ordered(0, fresh, 40));
}

TEST(HappensBefore, RunsOutOfStampsAndRestarts) {
  HappensBefore order;
  order.BeginBlock(32);
  while (!order.exhausted()) order.BlockBarrier();
  order.Restart();
  EXPECT_FALSE(order.exhausted());
  EXPECT_TRUE(order.Ordered(0, HappensBefore::kRestartStamp, 1));
  const Stamp write = order.now();
  EXPECT_FALSE(order.Ordered(0, write, 1));
}

}  // namespace
}  // namespace hone::sim
