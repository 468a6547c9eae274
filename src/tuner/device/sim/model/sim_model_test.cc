// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/model/sim_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/device/sim/worker/block_sample.h"

namespace hone::sim {
namespace {

// A copy of `bytes` bytes by blocks of 256 threads, `width` bytes per thread.
struct Copy {
  LaunchShape shape;
  LaunchCounters counters;
};
Copy CopyKernel(double bytes, double width) {
  Copy copy;
  const double threads = bytes / width, warps = threads / 32;
  copy.shape.grid_blocks = static_cast<uint64_t>(threads / 256);
  copy.shape.block_threads = 256;
  copy.shape.range_bytes = {static_cast<int64_t>(bytes), static_cast<int64_t>(bytes)};
  LaunchCounters& c = copy.counters;
  c.blocks = static_cast<double>(copy.shape.grid_blocks);
  c.warps = warps;
  c.accesses = 2 * threads;
  c.global_requests = 2 * warps;
  c.load_requests = warps;
  c.global_sectors = 2 * bytes / 32;
  c.load_sectors = c.l2_read_sectors = c.l2_write_sectors = bytes / 32;
  c.global_lines = 2 * bytes / 128;
  c.load_batches = warps;
  c.load_batch_bytes = bytes;
  c.range_read = {bytes / 32, 0};
  c.range_written = {0, bytes / 32};
  return copy;
}

double Microseconds(const Copy& copy, CacheState cache = CacheState::kCold) {
  return ModelLaunch(*FindGpuModel(""), copy.shape, copy.counters, cache).seconds * 1e6;
}

TEST(SimModel, ALargeCopyRunsAtMemorySpeed) {
  const double bytes = 1 << 28;
  const GpuModel gpu = *FindGpuModel("");
  const double floor = 2 * bytes / (gpu.facts.memory_bandwidth * gpu.reachable_dram) * 1e6;
  const double us = Microseconds(CopyKernel(bytes, 16));
  EXPECT_GT(us, floor);
  EXPECT_LT(us, 1.25 * floor);
}

TEST(SimModel, NarrowAccessesAreSlower) {
  EXPECT_GT(Microseconds(CopyKernel(1 << 28, 4)), 1.1 * Microseconds(CopyKernel(1 << 28, 16)));
}

TEST(SimModel, AWarmSmallCopyIsFasterThanACold) {
  const Copy copy = CopyKernel(1 << 23, 16);
  EXPECT_LT(Microseconds(copy, CacheState::kWarm), Microseconds(copy, CacheState::kCold));
  const Copy large = CopyKernel(1 << 28, 16);  // does not fit
  EXPECT_EQ(Microseconds(large, CacheState::kWarm), Microseconds(large, CacheState::kCold));
}

TEST(SimModel, ATinyLaunchIsLatency) {
  const double us = Microseconds(CopyKernel(8192, 16));
  EXPECT_GT(us, 1.5);
  EXPECT_LT(us, 5);
}

TEST(SimModel, NeverBelowTheDatasheet) {
  for (const std::string& name : GpuModelNames()) {
    const GpuModel gpu = *FindGpuModel(name);
    for (const double bytes : {1e9, 4e9}) {
      const Copy copy = CopyKernel(bytes, 16);
      EXPECT_GT(ModelLaunch(gpu, copy.shape, copy.counters, CacheState::kCold).seconds, 2 * bytes / gpu.facts.memory_bandwidth) << name;
      EXPECT_GT(ModelStream(gpu, bytes, bytes, CacheState::kCold), 2 * bytes / gpu.facts.memory_bandwidth) << name;
    }
  }
}

TEST(SimModel, ASampleScalesToTheWhole) {
  const Copy copy = CopyKernel(1 << 28, 16);
  LaunchCounters sample = copy.counters;
  const double part = 1.0 / 64;
  for (double* field : {&sample.blocks, &sample.warps, &sample.accesses, &sample.global_requests, &sample.load_requests,
                        &sample.global_sectors, &sample.load_sectors, &sample.l2_read_sectors, &sample.l2_write_sectors,
                        &sample.global_lines, &sample.load_batches, &sample.load_batch_bytes, &sample.range_read[0],
                        &sample.range_written[1]}) {
    *field *= part;
  }
  const LaunchCounters scaled = ScaleToLaunch(sample, copy.shape);
  EXPECT_DOUBLE_EQ(scaled.blocks, copy.counters.blocks);
  EXPECT_DOUBLE_EQ(scaled.l2_read_sectors, copy.counters.l2_read_sectors);
  EXPECT_NEAR(scaled.range_read[0], copy.counters.range_read[0], 2);
  // A weight that every block reads keeps its own size.
  sample.range_read[0] = 1000;
  LaunchShape shape = copy.shape;
  shape.range_bytes[0] = 32000;
  EXPECT_LE(ScaleToLaunch(sample, shape).range_read[0], 1001);
}

TEST(SimModel, BlocksPerSmObeysEveryLimit) {
  const DeviceFacts facts = FindGpuModel("")->facts;
  EXPECT_EQ(BlocksPerSm(facts, 1024, 0), 2);
  EXPECT_EQ(BlocksPerSm(facts, 32, 0), 32);
  EXPECT_EQ(BlocksPerSm(facts, 256, 100 * 1024), 2);
  EXPECT_EQ(BlocksPerSm(facts, 256, 227 * 1024), 1);
  EXPECT_EQ(BlocksPerSm(facts, 256, 228 * 1024), 0);
}

TEST(SimModel, ArithmeticTakesAsLongAsAtTheDatasheetsRate) {
  Copy copy = CopyKernel(1 << 24, 16);
  const double plain = Microseconds(copy);
  copy.counters.operations = 1e6;
  EXPECT_EQ(Microseconds(copy), plain) << "no more than what memory instructions bring along";
  copy.counters.operations = 66.9e12 / 2 * 1e-3;  // a millisecond
  EXPECT_NEAR(Microseconds(copy), 1000, 200);
  copy.counters.special_operations = copy.counters.operations;
  EXPECT_NEAR(Microseconds(copy), 8000, 1600);
}

// An H200 has 128 lanes for single precision in each multiprocessor, and 64 each for doubles and for integers.
TEST(SimModel, DoublesAndIntegersHaveLanesOfTheirOwn) {
  Copy copy = CopyKernel(1 << 24, 16);
  const double millisecond = 66.9e12 / 2 * 1e-3;  // operations of single precision
  copy.counters.doubles = millisecond / 2;
  EXPECT_NEAR(Microseconds(copy), 1000, 100);
  copy.counters.integers = millisecond;
  EXPECT_NEAR(Microseconds(copy), 2000, 200);
  // Everything goes through the same schedulers.
  copy.counters.doubles = copy.counters.integers = millisecond / 2;
  copy.counters.operations = millisecond;
  EXPECT_NEAR(Microseconds(copy), 2000, 200);
  EXPECT_EQ(FindGpuModel("rtx4090")->lanes_per_double, 64);
}

TEST(SimModel, LocalMemoryCostsWhatMemoryCosts) {
  Copy copy = CopyKernel(1 << 28, 16);
  const double plain = Microseconds(copy), each = 1 << 28;
  copy.counters.local_written_bytes = each / 16;  // a byte per thread: the first level holds it
  copy.counters.local_read_bytes = each / 16;
  EXPECT_LT(Microseconds(copy), 1.1 * plain);
  copy.counters.warps /= 256;  // the same work by few threads: 16 KiB each
  const double few = Microseconds(copy);
  copy.counters.local_written_bytes = copy.counters.local_read_bytes = 4 * each;
  EXPECT_GT(Microseconds(copy), 2 * few);
}

TEST(SimModel, UnknownGpusAreNotGuessed) { EXPECT_FALSE(FindGpuModel("b9000").has_value()); }

TEST(BlockSample, SmallGridsAreWhole) {
  const std::vector<uint64_t> blocks = SampleBlocks({7, 3, 2});
  ASSERT_EQ(blocks.size(), 42u);
  EXPECT_EQ(blocks.back(), 41u);
}

TEST(BlockSample, LargeGridsKeepTheirCornersAndSpreadTheRest) {
  const std::vector<uint64_t> blocks = SampleBlocks({1000, 500, 2});
  EXPECT_EQ(blocks.size(), kSampledBlocks);
  std::vector<uint64_t> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(sorted.front(), 0u);
  EXPECT_EQ(sorted.back(), 999999u);
  EXPECT_TRUE(std::binary_search(sorted.begin(), sorted.end(), 999u));  // the end of the first row
  // Every tenth of the grid is visited within the first half of the list.
  for (uint64_t tenth = 0; tenth < 10; ++tenth) {
    EXPECT_TRUE(std::any_of(blocks.begin(), blocks.begin() + 40, [&](uint64_t b) { return b / 100000 == tenth; })) << tenth;
  }
  EXPECT_EQ(SampleBlocks({1000, 500, 2}), blocks);
}

}  // namespace
}  // namespace hone::sim
