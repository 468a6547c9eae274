// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/cuda_arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

std::vector<BlockRequest> BlocksToPlace() {
  return {{1000, 16, true}, {0, 256, false}, {4096, 256, false}, {7, 2, true}, {12, 1024, false}, {3, 1, false}};
}

TEST(PlaceBlocks, EveryByteIsInOneBlockOrOneGap) {
  const std::vector<BlockRequest> blocks = BlocksToPlace();
  Result<ArenaPlan> plan = PlaceBlocks(blocks, 77);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->gaps.size(), blocks.size() + 1);
  int64_t at = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(plan->gaps[i].begin, at);
    EXPECT_EQ(plan->gaps[i].end, plan->offsets[i]);
    EXPECT_GE(plan->gaps[i].end - plan->gaps[i].begin, 256);
    at = plan->offsets[i] + blocks[i].bytes;
  }
  EXPECT_EQ(plan->gaps.back().begin, at);
  EXPECT_EQ(plan->gaps.back().end, plan->bytes);
  EXPECT_GE(plan->bytes - at, 256);
}

TEST(PlaceBlocks, AlignsAsPromisedAndNotOneBitMore) {
  for (uint64_t key = 1; key < 200; ++key) {
    const std::vector<BlockRequest> blocks = BlocksToPlace();
    Result<ArenaPlan> plan = PlaceBlocks(blocks, key);
    ASSERT_TRUE(plan.ok());
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(plan->base_align % blocks[i].align, 0);
      EXPECT_EQ(plan->offsets[i] % blocks[i].align, 0);
      if (blocks[i].exact_align) {
        EXPECT_EQ(plan->base_align % (2 * blocks[i].align), 0);
        EXPECT_EQ(plan->offsets[i] % (2 * blocks[i].align), blocks[i].align);
      }
    }
  }
}

TEST(PlaceBlocks, OffsetsDependOnTheKey) {
  EXPECT_NE(PlaceBlocks(BlocksToPlace(), 1)->offsets, PlaceBlocks(BlocksToPlace(), 2)->offsets);
  EXPECT_EQ(PlaceBlocks(BlocksToPlace(), 1)->offsets, PlaceBlocks(BlocksToPlace(), 1)->offsets);
}

TEST(PlaceBlocks, RefusesSizesNoDeviceHas) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_EQ(PlaceBlocks({{huge, 256, false}}, 1).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(PlaceBlocks({{huge, 256, false}, {huge, 256, false}, {huge, 256, false}}, 1).status().code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(PlaceBlocks({{-1, 256, false}}, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PlaceBlocks({{1, 3, false}}, 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(DescribeDamage, NamesTheNearerBlock) {
  ArenaPlan plan;
  plan.offsets = {256, 1356};
  plan.gaps = {{0, 256}, {356, 1356}, {1456, 2000}};
  plan.bytes = 2000;
  const std::vector<BlockRequest> blocks{{100, 4, false}, {100, 4, false}};
  EXPECT_THAT(DescribeDamage(plan, blocks, 1, 396, 12), HasSubstr("12 bytes written 40 bytes past block 0"));
  EXPECT_THAT(DescribeDamage(plan, blocks, 1, 1352, 4), HasSubstr("4 bytes written 4 bytes before block 1"));
  EXPECT_THAT(DescribeDamage(plan, blocks, 0, 10, 1), HasSubstr("1 byte written 246 bytes before block 0"));
  EXPECT_THAT(DescribeDamage(plan, blocks, 2, 1999, 1), HasSubstr("543 bytes past block 1"));
}

}  // namespace
}  // namespace hone
