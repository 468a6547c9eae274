// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/kept_memory.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Device memory in which each allocation costs its size: `most` is the most that was ever allocated.
class Device {
 public:
  explicit Device(size_t most_kept) : kept_(most_kept) {}

  uint64_t Ask(size_t bytes) {
    if (const auto block = kept_.Take(bytes, bytes)) {
      ++reused;
      return block->address;
    }
    Free(kept_.MakeRoom(bytes));
    const uint64_t address = ++next_;
    sizes_[address] = bytes;
    allocated += bytes;
    most = std::max(most, allocated);
    kept_.NoteAllocation(address, bytes);
    return address;
  }
  void Return(uint64_t address) { Free(kept_.Keep(address)); }
  KeptMemory& kept() { return kept_; }

  size_t allocated = 0, most = 0;
  int reused = 0;

 private:
  void Free(const std::vector<uint64_t>& addresses) {
    for (const uint64_t address : addresses) {
      ASSERT_TRUE(sizes_.contains(address));
      allocated -= sizes_[address];
      sizes_.erase(address);
    }
  }
  KeptMemory kept_;
  std::map<uint64_t, size_t> sizes_;
  uint64_t next_ = 0;
};

TEST(KeptMemory, AVerdictsShapesTakeNoMoreThanWhatIsInUseAtOnce) {
  Device device(size_t{16} << 30);
  size_t odd = 3;
  for (int verdict = 0; verdict < 6; ++verdict) {
    // Shapes beyond the hidden ranges: sizes that do not return.
    for (int shape = 0; shape < 8; ++shape) {
      odd = odd * 1103515245 + 12345;
      const uint64_t in = device.Ask((40 + odd % 97) * kMiB), out = device.Ask((140 + odd % 89) * kMiB);
      device.Return(in);
      device.Return(out);
    }
    // Buffer sets of a timed shape, and the reference.
    std::vector<uint64_t> sets;
    for (int block = 0; block < 8; ++block) sets.push_back(device.Ask(130 * kMiB));
    const uint64_t reference = device.Ask(256 * kMiB);
    if (verdict > 0) EXPECT_GE(device.reused, 7) << "most blocks of the sizes of every verdict are still there";
    device.reused = 0;
    device.Return(reference);
    for (const uint64_t block : sets) device.Return(block);
  }
  EXPECT_EQ(device.most, (8 * 130 + 256) * kMiB);
}

TEST(KeptMemory, ABlockIsGivenOutAgainIfItIsNotMuchLarger) {
  KeptMemory kept_memory(1024 * kMiB);
  kept_memory.NoteAllocation(7, 100 * kMiB);
  EXPECT_TRUE(kept_memory.Keep(7).empty());
  EXPECT_FALSE(kept_memory.Take(50 * kMiB, 99 * kMiB));
  EXPECT_FALSE(kept_memory.Take(101 * kMiB, 200 * kMiB));
  const auto block = kept_memory.Take(80 * kMiB, 100 * kMiB);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->address, 7u);
  EXPECT_EQ(block->bytes, 100 * kMiB);
  EXPECT_EQ(kept_memory.kept_bytes(), 0u);
  EXPECT_EQ(kept_memory.used_bytes(), 100 * kMiB);
}

TEST(KeptMemory, SizesThatAreAskedForOftenStayLongest) {
  KeptMemory kept_memory(1024 * kMiB);
  kept_memory.NoteAllocation(1, 200 * kMiB);
  EXPECT_TRUE(kept_memory.Keep(1).empty());
  ASSERT_TRUE(kept_memory.Take(200 * kMiB, 200 * kMiB));
  EXPECT_TRUE(kept_memory.Keep(1).empty());
  kept_memory.NoteAllocation(2, 198 * kMiB);
  EXPECT_TRUE(kept_memory.Keep(2).empty());
  // 512 MiB in all are always allowed.
  EXPECT_TRUE(kept_memory.MakeRoom(114 * kMiB).empty());
  EXPECT_EQ(kept_memory.MakeRoom(300 * kMiB), std::vector<uint64_t>{2}) << "the older block's size was asked for twice";
  EXPECT_EQ(kept_memory.MakeRoom(400 * kMiB), std::vector<uint64_t>{1});
}

TEST(KeptMemory, ALimitHoldsWhateverWasInUse) {
  KeptMemory kept_memory(600 * kMiB);
  for (uint64_t block = 1; block <= 4; ++block) kept_memory.NoteAllocation(block, 300 * kMiB);
  std::vector<uint64_t> freed;
  for (uint64_t block = 1; block <= 4; ++block) {
    for (const uint64_t address : kept_memory.Keep(block)) freed.push_back(address);
  }
  EXPECT_EQ(freed.size(), 2u);
  EXPECT_EQ(kept_memory.kept_bytes(), 600 * kMiB);
  EXPECT_EQ(kept_memory.ForgetKept().size(), 2u);
  EXPECT_EQ(kept_memory.kept_bytes(), 0u);
}

TEST(KeptMemory, APeakIsForgottenAfterSomeVerdicts) {
  Device device(size_t{16} << 30);
  device.Return(device.Ask(8192 * kMiB));
  EXPECT_EQ(device.allocated, 8192 * kMiB);
  for (uint64_t i = 0; i < 2 * KeptMemory::kRequestsRemembered + 1; ++i) device.Return(device.Ask(100 * kMiB));
  EXPECT_EQ(device.allocated, 100 * kMiB);
}

}  // namespace
}  // namespace hone
