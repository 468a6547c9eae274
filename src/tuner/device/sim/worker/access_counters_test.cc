// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/worker/access_counters.h"

#include <gtest/gtest.h>

#include <functional>

namespace hone::sim {
namespace {

constexpr uint64_t kText = 0x1000;

class AccessCountersTest : public testing::Test {
 protected:
  AccessCountersTest() : sectors({{0, 1 << 20}, {1 << 20, 2 << 20}}) {
    counters.BeginLaunch(&sectors, 2, kText, 16 * 1024);
    counters.UseCache(nullptr, 0);
  }
  // Logs one access of every lane. `offset` returns a lane's offset, or a negative number for a lane without an access.
  void Warp(uint64_t pc, uint8_t bytes, const std::function<int64_t(int)>& offset, bool shared = false, bool writes = false,
            bool atomic = false) {
    Site& site = *counters.Find(pc);
    site.bytes = bytes;
    site.writes = writes;
    site.atomic = atomic;
    if (!shared) site.range = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const int64_t o = offset(lane);
      if (o < 0) continue;
      ++site.total;
      uint64_t* cursor = log.cursor(lane);
      *cursor++ = AccessLog::Entry(counters.Code(site), static_cast<uint64_t>(o) | (shared ? AccessLog::kSharedBit : 0));
      log.set_cursor(lane, cursor);
      log.MarkDirty();
    }
  }
  Site Drained(uint64_t pc) {
    counters.Drain(log, 0);
    counters.EndRound();
    return *counters.Find(pc);
  }
  SectorMap sectors;
  AccessCounters counters;
  AccessLog log;
};

TEST_F(AccessCountersTest, ACoalescedFloatIsFourSectors) {
  Warp(kText + 40, 4, [](int lane) { return 4 * lane; });
  const Site site = Drained(kText + 40);
  EXPECT_EQ(site.groups, 1u);
  EXPECT_EQ(site.sectors, 4u);
  EXPECT_EQ(site.lines, 1u);
}

TEST_F(AccessCountersTest, AFloat4IsSixteenSectors) {
  Warp(kText + 40, 16, [](int lane) { return 16 * lane; });
  EXPECT_EQ(Drained(kText + 40).sectors, 16u);
}

TEST_F(AccessCountersTest, AStrideTouchesOneSectorALane) {
  Warp(kText + 40, 4, [](int lane) { return 128 * lane; });
  const Site site = Drained(kText + 40);
  EXPECT_EQ(site.sectors, 32u);
  EXPECT_EQ(site.lines, 32u);
}

TEST_F(AccessCountersTest, ABroadcastIsOneSector) {
  Warp(kText + 40, 4, [](int) { return 64; });
  EXPECT_EQ(Drained(kText + 40).sectors, 1u);
}

TEST_F(AccessCountersTest, DescendingAddressesCountLikeAscendingOnes) {
  Warp(kText + 40, 4, [](int lane) { return 4 * (31 - lane); });
  EXPECT_EQ(Drained(kText + 40).sectors, 4u);
}

TEST_F(AccessCountersTest, AMisalignedRowNeedsAFifthSector) {
  Warp(kText + 40, 4, [](int lane) { return 4 * lane + 16; });
  EXPECT_EQ(Drained(kText + 40).sectors, 5u);
}

TEST_F(AccessCountersTest, TheSecondLoadOfALineHits) {
  Warp(kText + 40, 4, [](int lane) { return 4 * lane; });
  Warp(kText + 80, 4, [](int lane) { return 4 * lane; });
  EXPECT_EQ(Drained(kText + 40).missed, 4u);
  EXPECT_EQ(Drained(kText + 80).missed, 0u);
  counters.UseCache(nullptr, 1);  // another block has a cache of its own
  Warp(kText + 80, 4, [](int lane) { return 4 * lane; });
  EXPECT_EQ(Drained(kText + 80).missed, 4u);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.range_read[0], 4);  // first uses, over all blocks
  EXPECT_EQ(launch_counters.l2_read_sectors, 8);
}

TEST_F(AccessCountersTest, StoresOfPartsOfSectorsAreTold) {
  Warp(kText + 40, 4, [](int lane) { return 128 * lane; }, false, true);
  EXPECT_EQ(Drained(kText + 40).partial, 28u);  // 32 sectors for 4 sectors' worth of bytes
  Warp(kText + 80, 4, [](int lane) { return 4 * lane; }, false, true);
  EXPECT_EQ(Drained(kText + 80).partial, 0u);
}

TEST_F(AccessCountersTest, DivergentLanesMeetAgainAtTheLaterInstruction) {
  // Half of the lanes run an instruction that the others skip; then all run the next one.
  Warp(kText + 40, 4, [](int lane) { return lane < 16 ? 4 * lane : -1; });
  Warp(kText + 80, 4, [](int lane) { return 4 * lane; });
  EXPECT_EQ(Drained(kText + 40).groups, 1u);
  EXPECT_EQ(Drained(kText + 80).groups, 1u);
  EXPECT_EQ(Drained(kText + 80).sectors, 4u);
}

TEST_F(AccessCountersTest, LoopsOfDifferentLengthsAlign) {
  for (int i = 0; i < 4; ++i) {
    Warp(kText + 40, 4, [i](int lane) { return i <= lane / 8 ? 4 * lane + 128 * i : -1; });
  }
  Warp(kText + 80, 4, [](int lane) { return 4 * lane; });
  EXPECT_EQ(Drained(kText + 40).groups, 4u);
  EXPECT_EQ(Drained(kText + 80).groups, 1u);
}

TEST_F(AccessCountersTest, BanksWithoutConflict) {
  Warp(kText + 40, 4, [](int lane) { return 4 * lane; }, true);
  const Site site = Drained(kText + 40);
  EXPECT_EQ(site.cycles, 1u);
  EXPECT_EQ(site.ideal_cycles, 1u);
}

TEST_F(AccessCountersTest, AColumnOfA32WideTileTakes32Passes) {
  Warp(kText + 40, 4, [](int lane) { return 128 * lane; }, true);
  EXPECT_EQ(Drained(kText + 40).cycles, 32u);
}

TEST_F(AccessCountersTest, PaddingByOneWordRemovesTheConflict) {
  Warp(kText + 40, 4, [](int lane) { return 132 * lane; }, true);
  EXPECT_EQ(Drained(kText + 40).cycles, 1u);
}

TEST_F(AccessCountersTest, OneWordForAllLanesIsABroadcast) {
  Warp(kText + 40, 4, [](int) { return 12; }, true);
  EXPECT_EQ(Drained(kText + 40).cycles, 1u);
}

TEST_F(AccessCountersTest, AFloat4OfEachLaneTakesFourPassesAndNoConflict) {
  Warp(kText + 40, 16, [](int lane) { return 16 * lane; }, true);
  const Site site = Drained(kText + 40);
  EXPECT_EQ(site.cycles, 4u);
  EXPECT_EQ(site.ideal_cycles, 4u);
}

TEST_F(AccessCountersTest, AtomicsAtOneAddressQueue) {
  Warp(kText + 40, 4, [](int) { return 0; }, false, true, true);
  Drained(kText + 40);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.l2_atomics, 32);
  EXPECT_EQ(launch_counters.atomic_sectors, 1);
}

TEST_F(AccessCountersTest, WhatTheLogLeftOutIsScaledIn) {
  Warp(kText + 40, 4, [](int lane) { return 4 * lane; });
  Site& site = *counters.Find(kText + 40);
  site.total += 96;  // three more groups, not logged
  Drained(kText + 40);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.accesses, 128);
  EXPECT_EQ(launch_counters.global_requests, 4);
  EXPECT_EQ(launch_counters.global_sectors, 16);
}

TEST_F(AccessCountersTest, LoadsOfAnUnrolledLoopAreUnderWayTogether) {
  for (int i = 0; i < 8; ++i) Warp(kText + 40, 4, [i](int lane) { return 4 * lane + 4096 * i; });
  Drained(kText + 40);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.load_batches, 2);  // four at a time
  EXPECT_EQ(launch_counters.load_batch_bytes, 8 * 128);
}

TEST_F(AccessCountersTest, TwoLoadsOfAnUnrolledLoopAreUnderWayTogetherFourTimesEach) {
  for (int i = 0; i < 8; ++i) {
    Warp(kText + 40, 4, [i](int lane) { return 4 * lane + 4096 * i; });
    Warp(kText + 80, 4, [i](int lane) { return 4 * lane + 4096 * i + 2048; });
  }
  Drained(kText + 40);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.load_batches, 2);
  EXPECT_EQ(launch_counters.load_batch_bytes, 16 * 128);
}

TEST_F(AccessCountersTest, ABatchGoesOnFromLogToLogUntilTheWarpWaits) {
  for (int i = 0; i < 3; ++i) {
    Warp(kText + 40, 4, [i](int lane) { return 4 * lane + 4096 * i; });
    counters.Drain(log, 0);  // as at a shuffle
  }
  counters.EndBatch();
  Warp(kText + 80, 4, [](int lane) { return 4 * lane + 65536; });
  Drained(kText + 80);
  const LaunchCounters launch_counters = counters.Finish();
  EXPECT_EQ(launch_counters.load_batches, 2);
  EXPECT_EQ(launch_counters.load_batch_bytes, 4 * 128);
}

// Each of eight warps reads a row of 4 KiB twice. The cache has 16 KiB: four such rows.
TEST_F(AccessCountersTest, WhatAWarpReadsTwiceHitsOnlyWhereTheRowsOfAllWarpsFit) {
  for (const int warps : {4, 8}) {
    counters.BeginLaunch(&sectors, 2, kText, 16 * 1024);
    for (int warp = 0; warp < warps; ++warp) {
      for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < 32; ++i) {
          Warp(kText + (pass == 0 ? 40 : 80), 4, [&](int lane) { return warp * 4096 + i * 128 + 4 * lane; });
        }
      }
      counters.Drain(log, warp);
      counters.EndBatch();
    }
    counters.EndRound();
    EXPECT_EQ(counters.Find(kText + 40)->missed, static_cast<uint64_t>(warps) * 128);
    EXPECT_EQ(counters.Find(kText + 80)->missed, warps == 4 ? 0u : 8u * 128);
  }
}

// The cache has 16 KiB: eight rows are read, `written` are stored elsewhere, and the eight are read again.
TEST_F(AccessCountersTest, StoresTakeRoomInTheCache) {
  for (const int written : {4, 12}) {
    counters.BeginLaunch(&sectors, 2, kText, 16 * 1024);
    for (int i = 0; i < 64; ++i) Warp(kText + 40, 4, [&](int lane) { return i * 128 + 4 * lane; });
    for (int i = 0; i < written * 8; ++i)
      Warp(
          kText + 60, 4, [&](int lane) { return 65536 + i * 128 + 4 * lane; }, false, true);
    for (int i = 0; i < 64; ++i) Warp(kText + 80, 4, [&](int lane) { return i * 128 + 4 * lane; });
    EXPECT_EQ(Drained(kText + 80).missed, written == 4 ? 0u : 64u * 4) << written;
    // Every store goes on to the second level: 8 warps of 4 sectors for each `written`.
    EXPECT_EQ(counters.Find(kText + 60)->missed, static_cast<uint64_t>(written) * 32);
  }
}

// The row is the same for all warps: the first to come loads it.
TEST_F(AccessCountersTest, WarpsSideBySideFindWhatTheOthersLoaded) {
  for (int warp = 0; warp < 8; ++warp) {
    for (int i = 0; i < 256; ++i) Warp(kText + 40, 4, [&](int lane) { return i * 128 + 4 * lane; });  // 32 KiB
    counters.Drain(log, warp);
    counters.EndBatch();
  }
  counters.EndRound();
  EXPECT_EQ(counters.Find(kText + 40)->missed, 256u * 4);
}

}  // namespace
}  // namespace hone::sim
