// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/shard_statistics.h"

#include <gtest/gtest.h>

#include "hone/gnn/model.h"

namespace hone::gnn {
namespace {

// Three shards each move a running mean of 10 by a different amount; a weight does not change.
TEST(ShardStatistics, EachShardBeginsWhereTheStepBeganAndTheStepEndsAtTheirMean) {
  Parameter<float> weight{.name = "weight", .shape = {1}, .value = {5}, .gradient = {0}};
  Parameter<float> mean{.name = "running_mean", .shape = {2}, .value = {10, 20}};
  ASSERT_TRUE(weight.trainable());
  ASSERT_FALSE(mean.trainable());
  ShardStatistics statistics({&weight, &mean});
  ASSERT_EQ(statistics.size(), 2u);
  statistics.BeginStep();
  double sums[2] = {0, 0};
  for (const float moved : {1.0f, 2.0f, 6.0f}) {
    EXPECT_EQ(mean.value, (std::vector<float>{10, 20}));
    mean.value[0] += moved;
    mean.value[1] -= moved;
    double values[2];
    statistics.EndShard(values);
    for (int i = 0; i < 2; ++i) sums[i] += values[i];
  }
  statistics.EndStep(sums, 3);
  EXPECT_EQ(mean.value, (std::vector<float>{13, 17}));
  EXPECT_EQ(weight.value, std::vector<float>{5});
}

}  // namespace
}  // namespace hone::gnn
