// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests whether samples are uniform, and independent where they should be, by thousands of counts and their exact
// expectations.
// Each count becomes a z-score. The largest score of a test must stay below the Bonferroni bound, which the largest of
// that many standard normals exceeds once in a thousand runs. Seeds are fixed, so a test that passes goes on passing.
// If a test fails after a change, the bound says how unlikely that was by chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "gnn/sample/test_graphs.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {
namespace {

class Scores {
 public:
  void Add(double observed, double expected, double variance, const std::string& what) {
    ++count_;
    const double z = variance > 0 ? std::abs(observed - expected) / std::sqrt(variance) : (observed == expected ? 0 : 1e9);
    if (z <= worst_) return;
    worst_ = z;
    what_ = what + ": observed " + std::to_string(observed) + ", expected " + std::to_string(expected);
  }
  bool plausible() const { return count_ > 0 && worst_ < Bound(); }
  void ExpectPlausible() const { EXPECT_TRUE(plausible()) << "score " << worst_ << " of " << count_ << ", at " << what_; }

 private:
  double Bound() const {
    double low = 0, high = 10;  // solves erfc(z / sqrt 2) = 0.001 / count
    for (int i = 0; i < 60; ++i) {
      const double z = (low + high) / 2;
      (std::erfc(z / std::sqrt(2.0)) * count_ > 0.001 ? low : high) = z;
    }
    return high;
  }

  int count_ = 0;
  double worst_ = -1;
  std::string what_;
};

// Returns `hubs` nodes of the same degree over the same leaves: hub h is node h, and its slot s is node hubs + s.
TestCsr HubGraph(int hubs, int degree) {
  TestCsr csr;
  csr.row_offsets.push_back(0);
  for (int h = 0; h < hubs; ++h) {
    for (int s = 0; s < degree; ++s) csr.columns.push_back(hubs + s);
    csr.row_offsets.push_back(static_cast<int64_t>(csr.columns.size()));
  }
  for (int s = 0; s < degree; ++s) csr.row_offsets.push_back(csr.row_offsets.back());
  return csr;
}

// Returns the slots that each hub drew: [hubs][take].
std::vector<std::vector<int>> SlotsOfHubs(const NeighborSample& sample, int layer, int hubs) {
  const BlockView block = sample.Block(layer);
  std::vector<std::vector<int>> slots(static_cast<size_t>(hubs));
  for (size_t h = 0; h < static_cast<size_t>(hubs); ++h) {
    for (int32_t e = block.row_offsets[h]; e < block.row_offsets[h + 1]; ++e) {
      slots[h].push_back(sample.nodes[static_cast<size_t>(block.columns[static_cast<size_t>(e)])] - hubs);
    }
  }
  return slots;
}

std::vector<NodeId> AllHubs(int hubs) {
  std::vector<NodeId> seeds(static_cast<size_t>(hubs));
  std::iota(seeds.begin(), seeds.end(), 0);
  return seeds;
}

TEST(SamplingStatistics, SlotsAndPairsOfSlotsAreEquallyLikely) {
  Scores scores;
  constexpr int kHubs = 32;
  for (const auto& [degree, k] : std::vector<std::pair<int, int>>{
           {1, 1}, {2, 1}, {3, 1}, {3, 2}, {5, 4}, {6, 3}, {16, 15}, {17, 5}, {30, 15}, {33, 32}, {34, 33}, {48, 40}, {110, 100}}) {
    const TestCsr csr = HubGraph(kHubs, degree);
    const auto sampler = std::move(MakeNeighborSampler(csr.view(), {.fanouts = {k}})).value();
    constexpr int kSteps = 1500;
    const auto d = static_cast<size_t>(degree);
    std::vector<int> single(d), pair(d * d);
    NeighborSample sample;
    for (int step = 0; step < kSteps; ++step) {
      ASSERT_TRUE(sampler->Sample(AllHubs(kHubs), {.seed = 21, .step = static_cast<uint32_t>(step)}, sample).ok());
      for (const std::vector<int>& slots : SlotsOfHubs(sample, 0, kHubs)) {
        ASSERT_EQ(slots.size(), static_cast<size_t>(std::min(k, degree)));
        for (const int a : slots) {
          ++single[static_cast<size_t>(a)];
          for (const int b : slots) pair[static_cast<size_t>(a) * d + static_cast<size_t>(b)] += a < b;
        }
      }
    }
    const double trials = kSteps * kHubs;
    const double p = static_cast<double>(k) / degree;
    const double pp = degree > 1 ? p * (k - 1) / (degree - 1) : 0;
    const std::string name = "degree " + std::to_string(degree) + ", fanout " + std::to_string(k);
    for (size_t a = 0; a < d; ++a) {
      scores.Add(single[a], trials * p, trials * p * (1 - p), name + ", slot " + std::to_string(a));
      for (size_t b = a + 1; b < d; ++b) {
        scores.Add(pair[a * d + b], trials * pp, trials * pp * (1 - pp), name + ", a pair");
      }
    }
  }
  scores.ExpectPlausible();
}

TEST(SamplingStatistics, LongRowsAreCoveredEvenly) {
  // Slots of a long row are counted in 20 bins. The count of a bin in one draw is hypergeometric.
  Scores scores;
  constexpr int kHubs = 4, kBins = 20;
  for (const auto& [degree, k] : std::vector<std::pair<int, int>>{{1000, 5}, {1000, 100}, {10000, 15}, {100000, 1}, {100000, 100}}) {
    const TestCsr csr = HubGraph(kHubs, degree);
    const auto sampler = std::move(MakeNeighborSampler(csr.view(), {.fanouts = {k}})).value();
    constexpr int kSteps = 1500;
    std::vector<int> bins(kBins);
    NeighborSample sample;
    for (int step = 0; step < kSteps; ++step) {
      ASSERT_TRUE(sampler->Sample(AllHubs(kHubs), {.seed = 22, .step = static_cast<uint32_t>(step)}, sample).ok());
      for (const std::vector<int>& slots : SlotsOfHubs(sample, 0, kHubs)) {
        for (const int slot : slots) ++bins[static_cast<size_t>(int64_t{slot} * kBins / degree)];
      }
    }
    const double p = 1.0 / kBins;
    const double variance = k * p * (1 - p) * (degree - k) / (degree - 1.0);
    for (int bin = 0; bin < kBins; ++bin) {
      scores.Add(bins[static_cast<size_t>(bin)], kSteps * kHubs * k * p, kSteps * kHubs * variance,
                 "degree " + std::to_string(degree) + ", fanout " + std::to_string(k) + ", bin " + std::to_string(bin));
    }
  }
  scores.ExpectPlausible();
}

// The overlap of two independent k-subsets of d slots is hypergeometric with mean k^2 / d.
TEST(SamplingStatistics, HopsEpochsStepsSeedsAndNodesDrawIndependently) {
  Scores scores;
  constexpr int kHubs = 16, kSteps = 1500;
  for (const auto& [degree, k] : std::vector<std::pair<int, int>>{{2, 1}, {6, 3}, {30, 15}, {100, 10}, {200, 100}}) {
    const TestCsr csr = HubGraph(kHubs, degree);
    const auto sampler = std::move(MakeNeighborSampler(csr.view(), {.fanouts = {k, k}})).value();
    const auto draw = [&](uint64_t seed, uint32_t epoch, uint32_t step, int hop) {
      NeighborSample sample;
      EXPECT_TRUE(sampler->Sample(AllHubs(kHubs), {.seed = seed, .epoch = epoch, .step = step}, sample).ok());
      return SlotsOfHubs(sample, 1 - hop, kHubs);
    };
    std::vector<char> marks(static_cast<size_t>(degree));
    const auto overlap = [&](const std::vector<int>& a, const std::vector<int>& b) {
      for (const int slot : a) marks[static_cast<size_t>(slot)] = 1;
      int drew_both = 0;
      for (const int slot : b) drew_both += marks[static_cast<size_t>(slot)];
      for (const int slot : a) marks[static_cast<size_t>(slot)] = 0;
      return drew_both;
    };
    double hops = 0, epochs = 0, steps = 0, seeds = 0, nodes = 0;
    for (uint32_t step = 0; step < kSteps; ++step) {
      const auto base = draw(31, 0, step, 0);
      const auto other_hop = draw(31, 0, step, 1);
      const auto other_epoch = draw(31, 1, step, 0);
      const auto other_step = draw(31, 0, step + kSteps, 0);
      const auto other_seed = draw(32, 0, step, 0);
      for (size_t h = 0; h < kHubs; ++h) {
        hops += overlap(base[h], other_hop[h]);
        epochs += overlap(base[h], other_epoch[h]);
        steps += overlap(base[h], other_step[h]);
        seeds += overlap(base[h], other_seed[h]);
        if (h % 2 == 0) nodes += overlap(base[h], base[h + 1]);
      }
    }
    const double p = static_cast<double>(k) / degree;
    const double variance = k * p * (1 - p) * (degree - k) / (degree - 1.0);
    const double n = kSteps * kHubs;
    const std::string name = "degree " + std::to_string(degree) + ", fanout " + std::to_string(k);
    scores.Add(hops, n * k * p, n * variance, name + ", between hops");
    scores.Add(epochs, n * k * p, n * variance, name + ", between epochs");
    scores.Add(steps, n * k * p, n * variance, name + ", between steps");
    scores.Add(seeds, n * k * p, n * variance, name + ", between seeds");
    scores.Add(nodes, n / 2 * k * p, n / 2 * variance, name + ", between nodes");
  }
  scores.ExpectPlausible();
}

TEST(SamplingStatistics, ParallelEdgesWeighTwice) {
  // Node 0 lists node 1 twice, and nodes 2 and 3 once each: a draw of one neighbor takes node 1 half of the time.
  const TestCsr csr = CsrOfRows({{1, 2, 1, 3}, {}, {}, {}});
  const auto sampler = std::move(MakeNeighborSampler(csr.view(), {.fanouts = {1}})).value();
  constexpr int kSteps = 20000;
  int twice = 0;
  NeighborSample sample;
  for (uint32_t step = 0; step < kSteps; ++step) {
    ASSERT_TRUE(sampler->Sample(std::vector<NodeId>{0}, {.seed = 41, .step = step}, sample).ok());
    twice += sample.nodes[1] == 1;
  }
  Scores scores;
  scores.Add(twice, kSteps / 2.0, kSteps / 4.0, "the doubled neighbor");
  scores.ExpectPlausible();
}

// Shows that the test can fail. A Floyd draw that stops one short (the well-known mistake: below `last` instead of
// below `last + 1`) is caught with the same number of draws.
TEST(SamplingStatistics, ASamplerOffByOneIsCaught) {
  constexpr int kDegree = 30, kFanout = 15, kTrials = 1500 * 32;
  Rng rng(51);
  std::vector<int> single(kDegree);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<bool> is_taken(kDegree);
    for (size_t last = kDegree - kFanout; last < kDegree; ++last) {
      size_t slot = rng.Below(last);
      if (is_taken[slot]) slot = last;
      is_taken[slot] = true;
      ++single[slot];
    }
  }
  Scores scores;
  for (const int count : single) scores.Add(count, kTrials / 2.0, kTrials / 4.0, "a slot");
  EXPECT_FALSE(scores.plausible());
}

}  // namespace
}  // namespace hone::gnn
