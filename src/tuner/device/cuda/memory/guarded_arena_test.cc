// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/guarded_arena.h"

#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

constexpr int64_t kGranule = 2 << 20;

TEST(PlaceApart, KeepsAlignmentAndStaysInside) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{100}, kGranule - 256, kGranule - 255, kGranule, 5 * kGranule + 12}) {
    for (const int64_t align : {1, 2, 16, 256, 4096}) {
      for (const bool exact : {false, true}) {
        for (uint64_t key = 1; key < 40; ++key) {
          const ApartPlace place = PlaceApart({.bytes = bytes, .align = align, .exact_align = exact}, kGranule, key);
          EXPECT_EQ(place.memory % kGranule, 0);
          EXPECT_GE(place.offset, 0);
          EXPECT_LE(place.offset + bytes, place.memory);
          EXPECT_GE(place.memory - bytes, 256);
          EXPECT_LE(place.memory - bytes, kGranule + 8192);
          EXPECT_EQ(place.offset % align, 0);
          if (exact) {
            EXPECT_EQ(place.offset % (2 * align), align);
          }
        }
      }
    }
  }
}

TEST(PlaceApart, EndsWhereTheMemoryEndsInAboutHalfOfAllPlaces) {
  std::set<int64_t> offsets;
  int at_the_end = 0;
  for (uint64_t key = 0; key < 1000; ++key) {
    const ApartPlace place = PlaceApart({.bytes = 4096, .align = 16}, kGranule, key);
    at_the_end += place.offset + 4096 == place.memory;
    offsets.insert(place.offset);
  }
  EXPECT_GT(at_the_end, 420);
  EXPECT_LT(at_the_end, 580);
  EXPECT_TRUE(offsets.contains(0)) << "some begin where the memory begins";
  EXPECT_GT(offsets.size(), 180u) << "the others are anywhere";
}

TEST(PlaceApart, NeighborsArePagesOfGap) {
  for (uint64_t key = 0; key < 100; ++key) {
    const ApartPlace place =
        PlaceApart({.bytes = 4096, .align = 16, .mapped_neighbors = true}, kGranule, key);
    EXPECT_GE(place.offset, kGranule);
    EXPECT_LE(place.offset + 4096, place.memory - kGranule);
  }
}

}  // namespace
}  // namespace hone
