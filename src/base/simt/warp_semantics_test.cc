// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests cases worked out by hand from CUDA's documents.
#include "base/simt/warp_semantics.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone::simt {
namespace {

void ExpectSource(ShuffleKind kind, uint32_t lane, uint32_t argument, uint32_t width, uint32_t source, bool in_range) {
  const ShuffleSource found = SourceOfShuffle(kind, lane, argument, width);
  EXPECT_EQ(found.lane, source) << "lane " << lane << ", argument " << argument << ", width " << width;
  EXPECT_EQ(found.in_range, in_range) << "lane " << lane << ", argument " << argument << ", width " << width;
}

TEST(WarpSemantics, AShuffleByIndexReadsALaneOfItsOwnSegment) {
  ExpectSource(ShuffleKind::kIndex, 5, 9, 32, 9, true);
  ExpectSource(ShuffleKind::kIndex, 5, 33, 32, 1, true);   // modulo the width
  ExpectSource(ShuffleKind::kIndex, 13, 2, 8, 10, true);   // lanes 8 to 15
  ExpectSource(ShuffleKind::kIndex, 13, 10, 8, 10, true);
}

TEST(WarpSemantics, AShuffleUpStopsAtTheStartOfTheSegment) {
  ExpectSource(ShuffleKind::kUp, 5, 2, 32, 3, true);
  ExpectSource(ShuffleKind::kUp, 1, 2, 32, 1, false);
  ExpectSource(ShuffleKind::kUp, 9, 1, 8, 8, true);
  ExpectSource(ShuffleKind::kUp, 9, 2, 8, 9, false);  // lane 7 belongs to the previous segment
  ExpectSource(ShuffleKind::kUp, 9, ~0u, 8, 9, false);
}

TEST(WarpSemantics, AShuffleDownStopsAtTheEndOfTheSegment) {
  ExpectSource(ShuffleKind::kDown, 5, 2, 32, 7, true);
  ExpectSource(ShuffleKind::kDown, 31, 1, 32, 31, false);
  ExpectSource(ShuffleKind::kDown, 14, 1, 8, 15, true);
  ExpectSource(ShuffleKind::kDown, 14, 2, 8, 14, false);
  ExpectSource(ShuffleKind::kDown, 31, ~0u, 32, 31, false);  // the sum does not wrap
}

TEST(WarpSemantics, AShuffleByXorReachesIntoEarlierSegmentsOnly) {
  ExpectSource(ShuffleKind::kXor, 5, 16, 32, 21, true);
  ExpectSource(ShuffleKind::kXor, 9, 1, 8, 8, true);
  ExpectSource(ShuffleKind::kXor, 9, 8, 8, 1, true);
  ExpectSource(ShuffleKind::kXor, 1, 8, 8, 1, false);
  ExpectSource(ShuffleKind::kXor, 1, 64, 32, 1, false);
}

TEST(WarpSemantics, VotesCountOnlyTheLanesThatTakePart) {
  LaneValues predicates{};
  predicates[1] = 7;
  predicates[3] = 1;
  predicates[20] = 1;
  EXPECT_EQ(Ballot(predicates, 0b1111), 0b1010u);
  EXPECT_EQ(VoteResult(VoteKind::kBallot, 0b1010, 0b1111), 0b1010u);
  EXPECT_EQ(VoteResult(VoteKind::kAll, 0b1010, 0b1111), 0u);
  EXPECT_EQ(VoteResult(VoteKind::kAll, 0b1010, 0b1010), 1u);
  EXPECT_EQ(VoteResult(VoteKind::kAny, 0b1010, 0b1111), 1u);
  EXPECT_EQ(VoteResult(VoteKind::kAny, 0, 0b1111), 0u);
  EXPECT_EQ(VoteResult(VoteKind::kUniform, 0b1010, 0b1111), 0u);
  EXPECT_EQ(VoteResult(VoteKind::kUniform, 0, 0b1111), 1u);
  EXPECT_EQ(VoteResult(VoteKind::kUniform, 0b1111, 0b1111), 1u);
}

TEST(WarpSemantics, MatchingLanesAreThoseWithAllBitsTheSame) {
  LaneValues values{};
  values[0] = values[2] = uint64_t{5} << 40;
  values[1] = 5;
  values[31] = uint64_t{5} << 40;
  EXPECT_EQ(LanesWith(uint64_t{5} << 40, values, 0b111), 0b101u);
  EXPECT_EQ(LanesWith(uint64_t{5} << 40, values, ~0u), 0b101u | 1u << 31);
  EXPECT_EQ(LanesWith(5, values, 0b101), 0u);
}

TEST(WarpSemantics, ReductionsTakeSignsAsAsked) {
  LaneValues values{};
  values[4] = 0xffffffff;  // -1
  values[7] = 6;
  values[8] = 3;
  values[9] = 1000;  // takes no part
  const uint32_t lanes = 1u << 4 | 1u << 7 | 1u << 8;
  const std::vector<std::pair<ReduceKind, uint32_t>> expected{
      {ReduceKind::kAdd, 8},          {ReduceKind::kMinS32, 0xffffffff}, {ReduceKind::kMaxS32, 6},
      {ReduceKind::kMinU32, 3},       {ReduceKind::kMaxU32, 0xffffffff}, {ReduceKind::kAnd, 2},
      {ReduceKind::kOr, 0xffffffff},  {ReduceKind::kXor, 0xfffffffa}};
  for (const auto& [kind, result] : expected) EXPECT_EQ(Reduce(kind, values, lanes), result) << static_cast<int>(kind);
  EXPECT_EQ(Reduce(ReduceKind::kMinU32, values, 1u << 7), 6u);  // one lane alone
}

}  // namespace
}  // namespace hone::simt
