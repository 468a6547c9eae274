// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that blocks are aligned as requested and no better, and that every stray byte is detected, reported and
// repaired.
#include "tuner/device/arena_layout.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr uint64_t kKey = 0x5eed5eed5eedULL;

TEST(ArenaLayout, BlocksKeepTheirDistanceAndAlignment) {
  const ArenaLayout layout = PlanArena({{100, 16, true}, {0, 256, false}, {7, 2, true}, {4096, 256, false}});
  ASSERT_EQ(layout.blocks.size(), 4u);
  ASSERT_EQ(layout.gaps.size(), 5u);
  EXPECT_EQ(layout.blocks[0].begin % 32, 16);
  EXPECT_EQ(layout.blocks[1].begin % 256, 0);
  EXPECT_EQ(layout.blocks[2].begin % 4, 2);
  int64_t at = 0;
  for (size_t i = 0; i < layout.gaps.size(); ++i) {
    EXPECT_EQ(layout.gaps[i].begin, at);
    EXPECT_GE(layout.gaps[i].end - layout.gaps[i].begin, 256);
    if (i < layout.blocks.size()) {
      EXPECT_EQ(layout.blocks[i].begin, layout.gaps[i].end);
      at = layout.blocks[i].end;
    }
  }
  EXPECT_EQ(layout.gaps.back().end, layout.bytes);
}

TEST(ArenaLayout, NoBlocksIsOneGap) {
  const ArenaLayout layout = PlanArena({});
  EXPECT_TRUE(layout.blocks.empty());
  ASSERT_EQ(layout.gaps.size(), 1u);
}

class Gaps : public testing::Test {
 protected:
  ArenaLayout layout_ = PlanArena({{64, 16, true}, {32, 16, true}});
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(static_cast<size_t>(layout_.bytes), 0);
  void SetUp() override { FillGaps(memory_.data(), layout_, kKey); }
  std::optional<std::string> Check() { return CheckAndRepairGaps(memory_.data(), layout_, kKey); }
};

TEST_F(Gaps, AreIntactAfterFillingAndWhateverTheBlocksHold) {
  EXPECT_FALSE(Check());
  for (int64_t at = layout_.blocks[0].begin; at < layout_.blocks[0].end; ++at) memory_[static_cast<size_t>(at)] ^= 0xff;
  EXPECT_FALSE(Check());
}

TEST_F(Gaps, EverySingleByteIsWatched) {
  int64_t watched = 0;
  for (const auto& gap : layout_.gaps) {
    for (int64_t at = gap.begin; at < gap.end; ++at, ++watched) {
      memory_[static_cast<size_t>(at)] ^= 1;
      ASSERT_TRUE(Check()) << at;
      ASSERT_FALSE(Check()) << "not repaired at " << at;
    }
  }
  EXPECT_EQ(watched, layout_.bytes - 64 - 32);
}

TEST_F(Gaps, DamageIsNamedByTheNearerBlock) {
  for (int i = 0; i < 4; ++i) memory_[static_cast<size_t>(layout_.blocks[0].end + 8 + i)] ^= 0x5a;
  EXPECT_EQ(*Check(), "4 bytes were written at offset 8 past the end of block 0");
  memory_[static_cast<size_t>(layout_.blocks[1].begin - 2)] ^= 0x5a;
  EXPECT_EQ(*Check(), "1 byte was written at offset -2 before block 1");
  memory_[0] ^= 1;
  EXPECT_NE(Check()->find("before block 0"), std::string::npos);
}

}  // namespace
}  // namespace hone
