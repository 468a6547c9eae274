// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the sum of a step's shards has the same bits whichever ranks hold them.
#include "gnn/dist/shard_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/numbers/random.h"
#include "gnn/dist/test_ranks.h"

namespace hone::gnn {
namespace {

double SpreadNumber(int shard, size_t i) {
  Rng rng = Rng(static_cast<uint64_t>(shard) * 7919 + i);
  return rng.Normal() * std::exp2(static_cast<double>(rng.Below(60)) - 30);
}

// Implements the definition in the plainest form: halves that meet after the largest power of two below their size.
template <typename T>
T TreeSum(int begin, int end, size_t i) {
  if (end - begin == 1) return static_cast<T>(SpreadNumber(begin, i));
  int left_shards = 1;
  while (2 * left_shards < end - begin) left_shards *= 2;
  return TreeSum<T>(begin, begin + left_shards, i) + TreeSum<T>(begin + left_shards, end, i);
}

struct Sums {
  std::vector<float> floats;
  std::vector<double> doubles;
  bool operator==(const Sums&) const = default;
};

TEST(ShardSum, HasTheSameBitsOnAnyNumberOfRanks) {
  constexpr size_t kFloats = 1237, kDoubles = 11;
  for (const int shards : {1, 2, 6, 8, 12, 15}) {
    Sums expected;
    for (size_t i = 0; i < kFloats; ++i) expected.floats.push_back(TreeSum<float>(0, shards, i));
    for (size_t i = 0; i < kDoubles; ++i) expected.doubles.push_back(TreeSum<double>(0, shards, i));
    for (int count = 1; count <= shards; ++count) {
      if (shards % count != 0) continue;
      auto ranks = ConnectedRanks(count);
      OnEachRank(count, [&](int r) {
        ShardSum sum(*ranks[static_cast<size_t>(r)], shards, kFloats, kDoubles);
        for (int step = 0; step < 2; ++step) {  // the second step reuses the memory
          const ShardRange own_shards = ShardsOfRank(shards, r, count);
          sum.Begin();
          for (int shard = own_shards.begin; shard < own_shards.end; ++shard) {
            for (size_t i = 0; i < kFloats; ++i) sum.floats()[i] = static_cast<float>(SpreadNumber(shard, i));
            for (size_t i = 0; i < kDoubles; ++i) sum.doubles()[i] = SpreadNumber(shard, i);
            sum.EndShard();
          }
          const Status status = sum.Finish();
          ASSERT_TRUE(status.ok()) << status.message();
          const Sums computed{{sum.floats().begin(), sum.floats().end()}, {sum.doubles().begin(), sum.doubles().end()}};
          EXPECT_TRUE(computed == expected) << shards << " shards on " << count << " ranks, step " << step;
        }
      });
    }
  }
}

TEST(ShardSum, ARanksNodesCoverItsShardsAndAreFewWhereTheNumbersArePowersOfTwo) {
  for (int shards = 1; shards <= 64; ++shards) {
    for (int count = 1; count <= shards; ++count) {
      if (shards % count != 0) continue;
      for (int r = 0; r < count; ++r) {
        const ShardRange own_shards = ShardsOfRank(shards, r, count);
        const std::vector<ShardRange> nodes = TreeNodes(shards, own_shards);
        int at = own_shards.begin;
        for (const ShardRange& node : nodes) {
          EXPECT_EQ(node.begin, at);
          at = node.end;
        }
        EXPECT_EQ(at, own_shards.end);
        if (std::has_single_bit(static_cast<unsigned>(shards))) {
          EXPECT_EQ(nodes.size(), 1u);
        }
        EXPECT_LE(nodes.size(), static_cast<size_t>(2 * std::bit_width(static_cast<unsigned>(shards))));
      }
    }
  }
  EXPECT_TRUE(AreSiblings(6, {4, 5}, {5, 6}));
  EXPECT_TRUE(AreSiblings(6, {0, 4}, {4, 6}));
  EXPECT_FALSE(AreSiblings(6, {1, 2}, {2, 3}));
  EXPECT_FALSE(AreSiblings(6, {2, 4}, {4, 6}));
}

}  // namespace
}  // namespace hone::gnn
