// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/lot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone {
namespace {

std::vector<std::string> Names(int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back(fmt::format("t{:02}", i));
  return names;
}

TEST(Lot, FollowsFromItsSeedAndNotFromTheOrderOfTheNames) {
  std::vector<std::string> names = Names(15);
  const std::vector<std::string> drawn = Draw({.take = 4, .seed = 7}, names);
  EXPECT_EQ(drawn.size(), 4u);
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  std::reverse(names.begin(), names.end());
  names.push_back(names.front());
  EXPECT_EQ(Draw({.take = 4, .seed = 7}, names), drawn);
  EXPECT_NE(Draw({.take = 4, .seed = 8}, names), drawn);
  EXPECT_EQ(Draw({}, names), Names(15)) << "without a lot everything is taken";
  EXPECT_EQ(Draw({.take = 99, .seed = 7}, names), Names(15));
  EXPECT_THAT(Draw({.take = 4, .skip = 15, .seed = 7}, names), testing::IsEmpty());
}

TEST(Lot, DrawsThatSkipEachOtherHaveNothingInCommonAndEveryNameIsDrawnAsOften) {
  std::map<std::string, int> times;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::set<std::string> drawn_names;
    for (int64_t skip = 0; skip < 15; skip += 5) {
      for (const std::string& name : Draw({.take = 5, .skip = skip, .seed = seed}, Names(15))) {
        EXPECT_TRUE(drawn_names.insert(name).second) << seed;
        times[name] += skip == 0;
      }
    }
    EXPECT_EQ(drawn_names.size(), 15u);
  }
  // 3000 draws of 5 among 15: 1000 each; the standard deviation is sqrt(3000 * 1/3 * 2/3) = 25.8.
  for (const auto& [name, count] : times) EXPECT_NEAR(count, 1000, 5 * 25.8) << name;
}

TEST(Lot, IsSaid) {
  EXPECT_EQ(LotText({.take = 2, .seed = 7}, 15, {"relu", "softmax"}, "tasks"),
            "Drawn by lot (seed 7, the first 2 of 15 tasks): relu, softmax.");
  EXPECT_EQ(LotText({.take = 1, .skip = 10, .seed = 0}, 15, {"relu"}, "tasks"),
            "Drawn by lot (seed 0, 1 after the first 10 of 15 tasks): relu.");
}

}  // namespace
}  // namespace hone
