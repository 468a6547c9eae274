// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a second dimension of independence is proven and never assumed, and that parts of a long problem lie where
// a sample of blocks has written.
#include "tuner/evaluate/judge/problem_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/judge/judge_fixture.h"
#include "tests/judge/row_kernels.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {
namespace {

std::string DimensionOf(JudgeBench& bench) {
  std::string dimension_found = "nothing was asked";
  bench.WithJudgement([&](Judgement& judgement) {
    Result<std::string> dimension = IndependentDimension(judgement);
    ASSERT_TRUE(dimension.ok()) << dimension.status().message();
    dimension_found = *dimension;
    EXPECT_EQ(*IndependentDimension(judgement), dimension_found) << "the answer is kept";
  });
  return dimension_found;
}

TEST(IndependentDimension, IsFoundWhereEveryElementStandsForItself) {
  JudgeBench bench;
  EXPECT_EQ(DimensionOf(bench), "cols");
}

TEST(IndependentDimension, IsNoneWhereARowIsNeededWhole) {
  RowBench bench = RmsNormBench();
  EXPECT_EQ(DimensionOf(bench), "");
}

// The result depends on a column's number, which changes if only some of the columns are computed.
TEST(IndependentDimension, IsNoneWhereAPlaceCounts) {
  JudgeBench bench;
  bench.oracle().run = [](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t i = 0; i < launch.Elements("x"); ++i)
      launch.Write("ref:out", i, launch.Read("x", i) * static_cast<double>(1 + i % cols));
  };
  EXPECT_EQ(DimensionOf(bench), "");
}

constexpr std::string_view kWide = "[[case]]\nrole = \"check\"\ndims = { rows = 64, cols = 200000 }\n[[hidden]]";

TEST(DrawParts, LongSlicesAreComparedInManySmallParts) {
  std::string toml(kScaleTask);
  toml.replace(toml.find("[[hidden]]"), 10, kWide);
  JudgeBench bench(toml);
  bench.device.facts.memory_bytes = int64_t{1} << 30;
  bench.WithJudgement([&](Judgement& judgement) {
    const Dims dims{{"rows", 64}, {"cols", 200000}};
    Result<std::unique_ptr<CaseBuffers>> buffers = judgement.MakeBuffers(dims, {}, 1, false);
    ASSERT_TRUE(buffers.ok()) << buffers.status().message();
    std::vector<int64_t> written(64);
    for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<int64_t>(i);
    Result<std::vector<ProblemPart>> parts = DrawParts(judgement, **buffers, written, 1);
    ASSERT_TRUE(parts.ok()) << parts.status().message();
    EXPECT_GE(parts->size(), 8u);
    std::set<int64_t> slices, columns;
    for (const ProblemPart& part : *parts) {
      EXPECT_EQ(part.dimension, "cols");
      EXPECT_LE(part.slices.size(), 8u);
      EXPECT_LE(part.indices.size(), 16u);
      EXPECT_TRUE(std::is_sorted(part.indices.begin(), part.indices.end()));
      slices.insert(part.slices.begin(), part.slices.end());
      columns.insert(part.indices.begin(), part.indices.end());
    }
    EXPECT_GE(slices.size(), 32u);
    EXPECT_GE(columns.size(), 100u);
    // With the gate switched off, only a few slices are compared, each as a whole.
    const_cast<JudgeRequest&>(judgement.request).gates.parts_when_modelled = false;
    parts = DrawParts(judgement, **buffers, written, 1);
    ASSERT_EQ(parts->size(), 1u);
    EXPECT_EQ(parts->front().dimension, "");
    EXPECT_LE(parts->front().slices.size(), 5u);
  });
}

TEST(DrawParts, ShortSlicesAreComparedWhole) {
  JudgeBench bench;
  bench.WithJudgement([&](Judgement& judgement) {
    Result<std::unique_ptr<CaseBuffers>> buffers = judgement.MakeBuffers({{"rows", 96}, {"cols", 16}}, {}, 1, false);
    ASSERT_TRUE(buffers.ok()) << buffers.status().message();
    Result<std::vector<ProblemPart>> parts = DrawParts(judgement, **buffers, {3, 4, 5, 90}, 1);
    ASSERT_TRUE(parts.ok()) << parts.status().message();
    ASSERT_EQ(parts->size(), 1u);
    EXPECT_EQ(parts->front().slices, (std::vector<int64_t>{3, 4, 5, 90}));
    EXPECT_EQ(parts->front().dimension, "");
  });
}

}  // namespace
}  // namespace hone
