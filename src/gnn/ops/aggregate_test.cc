// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests aggregation on graphs small enough to check by hand, and properties that hold on any graph.
#include "gnn/ops/aggregate.h"

#include <limits>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

std::vector<double> Aggregate(Aggregation kind, const OwnedBlock& block, std::vector<double> x, int64_t dim) {
  std::vector<double> out(block.view().num_dst * static_cast<size_t>(dim), -1.0);
  std::vector<int32_t> winners(out.size());
  AggregateForward<double>(kind, block.view(), View(x, dim), View(out, dim), winners.data(), 1);
  return out;
}

TEST(Aggregate, MeanOnASixCycleIsTheMeanOfBothNeighbors) {
  const OwnedBlock cycle({{5, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}}, 6);
  EXPECT_EQ(Aggregate(Aggregation::kMean, cycle, {0, 1, 2, 3, 4, 5}, 1), (std::vector<double>{3, 1, 2, 3, 4, 2}));
}

TEST(Aggregate, SumOnAStarGathersEveryLeafAndLeavesEmptyRowsZero) {
  const OwnedBlock star({{1, 2, 3, 4, 5}, {}, {}}, 6);
  EXPECT_EQ(Aggregate(Aggregation::kSum, star, {100, 1, 2, 3, 4, 5}, 1), (std::vector<double>{15, 0, 0}));
  EXPECT_EQ(Aggregate(Aggregation::kMean, star, {100, 1, 2, 3, 4, 5}, 1), (std::vector<double>{3, 0, 0}));
  EXPECT_EQ(Aggregate(Aggregation::kMax, star, {100, 1, 2, 3, 4, 5}, 1), (std::vector<double>{5, 0, 0}));
}

TEST(Aggregate, SelfLoopsAndParallelEdgesCountAsOftenAsTheyAppear) {
  const OwnedBlock block({{0, 1, 1}, {1}}, 2);
  EXPECT_EQ(Aggregate(Aggregation::kMean, block, {3, 6, 9, 12}, 2), (std::vector<double>{7, 10, 9, 12}));
}

TEST(Aggregate, MaxBackwardGivesEachElementToItsFirstWinnerOnce) {
  // Destination 0 has source 1 twice, and sources 1 and 2 are equal in column 0.
  const OwnedBlock block({{1, 1, 2}, {0, 2}}, 3);
  std::vector<double> x = {5, 0, 7, 1, 7, 9};
  std::vector<double> out(4), grad = {10, 20, 30, 40}, grad_x(6);
  std::vector<int32_t> winners(4);
  AggregateForward<double>(Aggregation::kMax, block.view(), View(x, 2), View(out, 2), winners.data(), 1);
  EXPECT_EQ(out, (std::vector<double>{7, 9, 7, 9}));
  SourceMajorBlock by_source;
  BySource(block.view(), by_source);
  MaxBackward<double>(block.view(), by_source, winners.data(), View(grad, 2), View(grad_x, 2), 1);
  EXPECT_EQ(grad_x, (std::vector<double>{0, 0, 10, 0, 30, 60}));
}

TEST(Aggregate, BySourceListsEveryEdgeOnceInOrder) {
  const OwnedBlock block({{2, 0, 2}, {}, {0}}, 4);
  SourceMajorBlock by_source;
  BySource(block.view(), by_source);
  EXPECT_EQ(by_source.row_offsets, (std::vector<int32_t>{0, 2, 2, 4, 4}));
  EXPECT_EQ(by_source.destinations, (std::vector<int32_t>{0, 2, 0, 0}));
  EXPECT_EQ(by_source.edges, (std::vector<int32_t>{1, 3, 0, 2}));
}

TEST(Aggregate, GradientsAgreeWithFiniteDifferences) {
  const OwnedBlock block = AwkwardBlock(9, 14, 1);
  constexpr int64_t kDim = 5;
  std::vector<double> x = RandomValues<double>(14 * kDim, 2);
  const std::vector<double> weights = RandomValues<double>(9 * kDim, 3);
  SourceMajorBlock by_source;
  BySource(block.view(), by_source);
  for (const Aggregation kind : {Aggregation::kMean, Aggregation::kSum, Aggregation::kMax}) {
    std::vector<double> out(weights.size()), grad = weights, grad_x(x.size(), 77.0);
    std::vector<int32_t> winners(out.size());
    const auto forward = [&] {
      AggregateForward<double>(kind, block.view(), View(x, kDim), View(out, kDim), winners.data(), 1);
      return Product(out, weights);
    };
    forward();
    if (kind == Aggregation::kMax) {
      MaxBackward<double>(block.view(), by_source, winners.data(), View(grad, kDim), View(grad_x, kDim), 1);
    } else {
      AggregateBackward<double>(kind, block.view(), by_source, View(grad, kDim), View(grad_x, kDim), 1);
    }
    ExpectGradient("aggregation " + std::to_string(static_cast<int>(kind)), x, grad_x, forward);
  }
}

TEST(Aggregate, NeverReadsRowsBeyondTheSourcesNorWritesBeyondTheDestinations) {
  const OwnedBlock block = AwkwardBlock(20, 30, 4);
  constexpr int64_t kDim = 19;
  std::vector<float> x = RandomValues<float>(40 * kDim, 5);
  std::fill(x.begin() + 30 * kDim, x.end(), std::numeric_limits<float>::quiet_NaN());
  for (const Aggregation kind : {Aggregation::kMean, Aggregation::kSum, Aggregation::kMax}) {
    std::vector<float> out(25 * kDim, 42.0f);
    std::vector<int32_t> winners(out.size());
    AggregateForward<float>(kind, block.view(), View(x, kDim), View(out, kDim), winners.data(), 2);
    for (int64_t i = 0; i < 20 * kDim; ++i) ASSERT_FALSE(std::isnan(out[static_cast<size_t>(i)])) << i;
    for (int64_t i = 20 * kDim; i < 25 * kDim; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], 42.0f) << i;
  }
}

TEST(Aggregate, GivesTheSameBitsOnAnyThreadCountAndInstructionSet) {
  const OwnedBlock block = AwkwardBlock(700, 900, 6);
  constexpr int64_t kDim = 67;
  std::vector<float> x = RandomValues<float>(900 * kDim, 7);
  std::vector<float> grad = RandomValues<float>(700 * kDim, 8);
  SourceMajorBlock by_source;
  BySource(block.view(), by_source);
  for (const Aggregation kind : {Aggregation::kMean, Aggregation::kSum, Aggregation::kMax}) {
    ExpectSameBits("aggregation", [&](int threads) {
      std::vector<float> out(700 * kDim), grad_x(900 * kDim);
      std::vector<int32_t> winners(out.size());
      AggregateForward<float>(kind, block.view(), View(x, kDim), View(out, kDim), winners.data(), threads);
      if (kind == Aggregation::kMax) {
        MaxBackward<float>(block.view(), by_source, winners.data(), View(grad, kDim), View(grad_x, kDim), threads);
      } else {
        AggregateBackward<float>(kind, block.view(), by_source, View(grad, kDim), View(grad_x, kDim), threads);
      }
      out.insert(out.end(), grad_x.begin(), grad_x.end());
      return out;
    });
  }
}

}  // namespace
}  // namespace hone::gnn
