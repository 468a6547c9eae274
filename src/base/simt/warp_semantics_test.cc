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
  const ShuffleSource shuffle_source = SourceOfShuffle(kind, lane, argument, width);
  EXPECT_EQ(shuffle_source.lane, source) << "lane " << lane << ", argument " << argument << ", width " << width;
  EXPECT_EQ(shuffle_source.in_range, in_range) << "lane " << lane << ", argument " << argument << ", width " << width;
}

TEST(WarpSemantics, AShuffleByIndexReadsALaneOfItsOwnSegment) {
  ExpectSource(ShuffleKind::kIndex, /*lane=*/5, /*argument=*/9, /*width=*/32, /*source=*/9, /*in_range=*/true);
  ExpectSource(ShuffleKind::kIndex, /*lane=*/5, /*argument=*/33, /*width=*/32, /*source=*/1,
               /*in_range=*/true);  // modulo the width
  ExpectSource(ShuffleKind::kIndex, /*lane=*/13, /*argument=*/2, /*width=*/8, /*source=*/10,
               /*in_range=*/true);  // lanes 8 to 15
  ExpectSource(ShuffleKind::kIndex, /*lane=*/13, /*argument=*/10, /*width=*/8, /*source=*/10, /*in_range=*/true);
}

TEST(WarpSemantics, AShuffleUpStopsAtTheStartOfTheSegment) {
  ExpectSource(ShuffleKind::kUp, /*lane=*/5, /*argument=*/2, /*width=*/32, /*source=*/3, /*in_range=*/true);
  ExpectSource(ShuffleKind::kUp, /*lane=*/1, /*argument=*/2, /*width=*/32, /*source=*/1, /*in_range=*/false);
  ExpectSource(ShuffleKind::kUp, /*lane=*/9, /*argument=*/1, /*width=*/8, /*source=*/8, /*in_range=*/true);
  ExpectSource(ShuffleKind::kUp, /*lane=*/9, /*argument=*/2, /*width=*/8, /*source=*/9,
               /*in_range=*/false);  // lane 7 belongs to the previous segment
  ExpectSource(ShuffleKind::kUp, /*lane=*/9, ~0u, /*width=*/8, /*source=*/9, /*in_range=*/false);
}

TEST(WarpSemantics, AShuffleDownStopsAtTheEndOfTheSegment) {
  ExpectSource(ShuffleKind::kDown, /*lane=*/5, /*argument=*/2, /*width=*/32, /*source=*/7, /*in_range=*/true);
  ExpectSource(ShuffleKind::kDown, /*lane=*/31, /*argument=*/1, /*width=*/32, /*source=*/31, /*in_range=*/false);
  ExpectSource(ShuffleKind::kDown, /*lane=*/14, /*argument=*/1, /*width=*/8, /*source=*/15, /*in_range=*/true);
  ExpectSource(ShuffleKind::kDown, /*lane=*/14, /*argument=*/2, /*width=*/8, /*source=*/14, /*in_range=*/false);
  ExpectSource(ShuffleKind::kDown, /*lane=*/31, ~0u, /*width=*/32, /*source=*/31,
               /*in_range=*/false);  // the sum does not wrap
}

TEST(WarpSemantics, AShuffleByXorReachesIntoEarlierSegmentsOnly) {
  ExpectSource(ShuffleKind::kXor, /*lane=*/5, /*argument=*/16, /*width=*/32, /*source=*/21, /*in_range=*/true);
  ExpectSource(ShuffleKind::kXor, /*lane=*/9, /*argument=*/1, /*width=*/8, /*source=*/8, /*in_range=*/true);
  ExpectSource(ShuffleKind::kXor, /*lane=*/9, /*argument=*/8, /*width=*/8, /*source=*/1, /*in_range=*/true);
  ExpectSource(ShuffleKind::kXor, /*lane=*/1, /*argument=*/8, /*width=*/8, /*source=*/1, /*in_range=*/false);
  ExpectSource(ShuffleKind::kXor, /*lane=*/1, /*argument=*/64, /*width=*/32, /*source=*/1, /*in_range=*/false);
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
