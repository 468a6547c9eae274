// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests draws: the tables against erf, moments with stated errors, and properties that the judge relies on: draws
// depend only on key, slice and position, and permutations are bijections.
#include "tuner/values/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "tuner/values/draw_table.h"

namespace hone {
namespace {

ValueSpec Spec(Distribution distribution) {
  ValueSpec spec;
  spec.distribution = distribution;
  return spec;
}

std::vector<double> Draw(const ValueSpec& spec, DType dtype, int64_t slices, int64_t positions, uint64_t key = 7) {
  const draw::Parameters p = MakeParameters(spec, dtype, key, 0, positions);
  std::vector<double> values;
  for (int64_t s = 0; s < slices; ++s) {
    for (int64_t i = 0; i < positions; ++i) {
      values.push_back(
          draw::Value(p, static_cast<uint64_t>(s), static_cast<uint64_t>(i), NormalQuantiles(), ExpQuantiles()));
    }
  }
  return values;
}

double Mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double MeanSquare(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum / static_cast<double>(v.size());
}

TEST(DrawTable, QuantilesInvertTheNormalDistribution) {
  const float* z = NormalQuantiles();
  for (int i = 0; i <= draw::kQuantiles; ++i) {
    const double p = 0.5 * std::erfc(-static_cast<double>(z[i]) / std::sqrt(2.0));
    ASSERT_NEAR(p, (i + 0.5) / (draw::kQuantiles + 1), 1e-7) << i;  // float rounding of z times the density
    if (i > 0) {
      ASSERT_LT(z[i - 1], z[i]);
    }
    ASSERT_EQ(z[i], -z[draw::kQuantiles - i]);
    ASSERT_EQ(ExpQuantiles()[i], static_cast<float>(std::exp(2.0 * static_cast<double>(z[i]))));
  }
  EXPECT_EQ(z[draw::kQuantiles + 1], z[draw::kQuantiles]);
  EXPECT_NEAR(z[draw::kQuantiles], 3.67, 0.01);  // 1 - 0.5 / 4097
}

TEST(Draw, NormalHasItsMoments) {
  ValueSpec spec;
  spec.scale = 3;
  spec.offset = 10;
  std::vector<double> values = Draw(spec, DType::kFloat32, 100, 2000);
  EXPECT_NEAR(Mean(values), 10.0, 4 * 3 / std::sqrt(200000.0));
  for (double& v : values) v = (v - 10) / 3;
  // The table ends near 3.67 sigma, which lowers the variance by less than half a percent.
  EXPECT_NEAR(MeanSquare(values), 1.0, 0.005 + 4 * std::sqrt(2 / 200000.0));
}

TEST(Draw, UniformStaysInItsRangeAndFillsIt) {
  ValueSpec spec = Spec(Distribution::kUniform);
  spec.low = -2;
  spec.high = 6;
  const std::vector<double> values = Draw(spec, DType::kFloat32, 10, 10000);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -2.0);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 6.0);
  EXPECT_NEAR(Mean(values), 2.0, 4 * 8 / std::sqrt(12.0 * 100000));
}

TEST(Draw, LogUniformIsPositiveAndSpreadOverOctaves) {
  ValueSpec spec = Spec(Distribution::kLogUniform);
  spec.low = 0.0625;
  spec.high = 16;  // 8 octaves
  const std::vector<double> values = Draw(spec, DType::kFloat32, 1, 40000);
  std::vector<int> octaves(8, 0);
  for (const double v : values) {
    ASSERT_GE(v, 0.0625);
    ASSERT_LT(v, 16.0);
    ++octaves[static_cast<size_t>(std::floor(std::log2(v)) + 4)];
  }
  for (const int count : octaves) EXPECT_NEAR(count, 5000, 4 * std::sqrt(5000.0));
}

TEST(Draw, LogUniformSpansAllOctavesOfFloat) {
  ValueSpec spec = Spec(Distribution::kLogUniform);
  spec.low = 0x1p-127;
  spec.high = 0x1p126;  // 253 octaves
  std::map<int, int> octaves;
  for (const double v : Draw(spec, DType::kFloat32, 1, 253 * 400)) ++octaves[std::ilogb(v)];
  EXPECT_EQ(octaves.size(), 253u);
  EXPECT_EQ(octaves.begin()->first, -127);
  for (const auto& [octave, count] : octaves) EXPECT_NEAR(count, 400, 6 * std::sqrt(400.0)) << octave;
}

TEST(Draw, SpecialSetsAreWhatTheyAreCalled) {
  for (const double v : Draw(Spec(Distribution::kZero), DType::kFloat16, 2, 10)) EXPECT_EQ(v, 0.0);

  const std::vector<double> constant = Draw(Spec(Distribution::kConstant), DType::kFloat16, 3, 10);
  EXPECT_EQ(std::set<double>(constant.begin(), constant.end()).size(), 1u);
  EXPECT_NE(Draw(Spec(Distribution::kConstant), DType::kFloat16, 1, 1, 8)[0], constant[0]);  // drawn, not fixed

  const std::vector<double> sorted = Draw(Spec(Distribution::kSorted), DType::kFloat32, 1, 1000);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_LT(sorted.front(), sorted.back());

  const std::vector<double> cancelling = Draw(Spec(Distribution::kCancelling), DType::kFloat32, 1, 10000);
  EXPECT_LT(std::fabs(Mean(cancelling)), 0.02);  // four times 0.25 / 100, and the table's error
  EXPECT_GT(std::sqrt(MeanSquare(cancelling)), 7.9);

  const std::vector<double> heavy = Draw(Spec(Distribution::kHeavyTailed), DType::kFloat32, 1, 10000);
  EXPECT_GT(*std::max_element(heavy.begin(), heavy.end()), 500.0);
  EXPECT_LT(*std::min_element(heavy.begin(), heavy.end()), -500.0);
  std::vector<double> magnitudes;
  for (const double v : heavy) magnitudes.push_back(std::fabs(v));
  std::nth_element(magnitudes.begin(), magnitudes.begin() + 5000, magnitudes.end());
  EXPECT_NEAR(magnitudes[5000], 1.0, 0.12);  // median exp(0); its standard error is about 0.025
}

TEST(Draw, HeavyTailsStayInsideTheDtype) {
  ValueSpec spec = Spec(Distribution::kHeavyTailed);
  spec.scale = 1e6;
  for (const auto& [dtype, most] :
       {std::pair{DType::kFloat16, 65504.0}, {DType::kInt8, 127.0}, {DType::kInt16, 32767.0}, {DType::kUInt8, 255.0},
        {DType::kFloat8E4M3, 448.0}, {DType::kFloat8E5M2, 57344.0}, {DType::kFloat4Pair, 6.0},
        {DType::kInt4Pair, 7.0}}) {
    double largest_magnitude = 0;
    for (const double v : Draw(spec, dtype, 1, 1000)) largest_magnitude = std::max(largest_magnitude, std::fabs(v));
    EXPECT_EQ(largest_magnitude, most);
  }
}

TEST(Draw, AnElementDependsOnKeySliceAndPositionOnly) {
  const draw::Parameters p = MakeParameters(ValueSpec{}, DType::kFloat32, 5, 0, 100);
  const draw::Parameters q = MakeParameters(ValueSpec{}, DType::kFloat32, 6, 0, 100);
  const float* n = NormalQuantiles();
  const float* e = ExpQuantiles();
  EXPECT_EQ(draw::Value(p, 3, 4, n, e), draw::Value(p, 3, 4, n, e));
  EXPECT_NE(draw::Value(p, 3, 4, n, e), draw::Value(q, 3, 4, n, e));
  EXPECT_NE(draw::Value(p, 3, 4, n, e), draw::Value(p, 4, 3, n, e));
  EXPECT_EQ(draw::Hash(5, 3, 4), draw::HashInSlice(draw::SliceHash(5, 3), 4));
}

TEST(Draw, IndicesStayBelowTheirBoundAndReachAllOfIt) {
  draw::Parameters p = MakeParameters(Spec(Distribution::kIndex), DType::kInt32, 5, 10, 100);
  std::vector<int> counts(10, 0);
  for (uint64_t i = 0; i < 10000; ++i) {
    const int64_t index = draw::Index(p, 0, i);
    ASSERT_TRUE(index >= 0 && index < 10);
    ++counts[static_cast<size_t>(index)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 4 * std::sqrt(900.0));
  p.index_bound = 0;
  EXPECT_EQ(draw::Index(p, 0, 1), 0);
}

TEST(Draw, IndicesMayBeginAboveZero) {
  ValueSpec spec = Spec(Distribution::kIndex);
  spec.low = 7;
  std::set<int64_t> drawn_values;
  const draw::Parameters p = MakeParameters(spec, DType::kInt32, 5, 10, 100);
  for (uint64_t i = 0; i < 200; ++i) drawn_values.insert(draw::Index(p, 0, i));
  EXPECT_EQ(drawn_values, (std::set<int64_t>{7, 8, 9}));
  spec.padding = 0.5;
  spec.index_order = IndexOrder::kDistinct;
  const draw::Parameters padded = MakeParameters(spec, DType::kInt32, 5, 107, 100);
  drawn_values.clear();
  int padding = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const int64_t index = draw::Index(padded, 0, i);
    padding += index < 0;
    if (index < 0) continue;
    EXPECT_TRUE(index >= 7 && index < 107 && drawn_values.insert(index).second) << index;
  }
  EXPECT_NEAR(padding, 50, 20);
}

TEST(Draw, OffsetsAscendFromZeroToTheirBoundWhateverTheSizes) {
  for (const int64_t rows : {1, 2, 3, 7, 64, 1000}) {
    for (const int64_t bound : {0, 1, 5, 4000, int{1} << 30}) {
      const draw::Parameters p = MakeParameters(Spec(Distribution::kOffsets), DType::kInt64, 5, bound, rows + 1);
      int64_t before = 0;
      for (int64_t i = 0; i <= rows; ++i) {
        const int64_t at = draw::Offset(p, draw::SliceHash(p.key, 0), static_cast<uint64_t>(i));
        ASSERT_GE(at, before) << rows << " rows, bound " << bound << ", row " << i;
        if (i == 0) {
          ASSERT_EQ(at, 0);
        }
        before = at;
      }
      ASSERT_EQ(before, bound);
    }
  }
  const draw::Parameters none = MakeParameters(Spec(Distribution::kOffsets), DType::kInt64, 5, 0, 1);
  EXPECT_EQ(draw::Offset(none, draw::SliceHash(5, 0), 0), 0);
}

TEST(Draw, ACrowdedRowHasItsElementsBesideItsShareOfTheOthers) {
  constexpr int64_t kRows = 7, kBound = 1000;
  const uint64_t hash = draw::SliceHash(5, 0);
  for (const int64_t crowd : {int64_t{400}, kBound}) {
    for (const int64_t row : {int64_t{0}, int64_t{3}, kRows - 1}) {
      ValueSpec spec = Spec(Distribution::kOffsets);
      spec.crowded_row = row;
      spec.crowded_elements = crowd;
      const draw::Parameters p = MakeParameters(spec, DType::kInt32, 5, kBound, kRows + 1);
      EXPECT_EQ(draw::Offset(p, hash, 0), 0);
      EXPECT_EQ(draw::Offset(p, hash, kRows), kBound);
      for (int64_t i = 0; i < kRows; ++i) {
        const int64_t length = draw::Offset(p, hash, static_cast<uint64_t>(i) + 1) - draw::Offset(p, hash, static_cast<uint64_t>(i));
        if (i == row) {
          EXPECT_GE(length, crowd);
        } else {
          EXPECT_GE(length, 0);
          EXPECT_LE(length, kBound - crowd);
        }
      }
    }
  }
}

TEST(Draw, LengthsBetweenOffsetsAreSkewedAsDegreesAre) {
  constexpr int64_t kRows = 1 << 16;
  const draw::Parameters p = MakeParameters(Spec(Distribution::kOffsets), DType::kInt64, 5, 1000 * kRows, kRows + 1);
  std::vector<double> logs;
  for (int64_t i = 0; i < kRows; ++i) {
    const uint64_t hash = draw::SliceHash(p.key, 0);
    const int64_t length = draw::Offset(p, hash, static_cast<uint64_t>(i) + 1) - draw::Offset(p, hash, static_cast<uint64_t>(i));
    logs.push_back(std::log(std::max(1.0, static_cast<double>(length))));
  }
  // Sixteen halvings; the logarithm of a share that is uniform in [1/4, 3/4) has variance 0.0948 (integrated by hand).
  // Rows share their first halvings, which is why the sample's variance is not that of independent draws.
  const double mean = Mean(logs);
  EXPECT_NEAR(MeanSquare(logs) - mean * mean, 16 * 0.0948, 0.3);
  EXPECT_NE(draw::Offset(p, draw::SliceHash(6, 0), 100), draw::Offset(p, draw::SliceHash(5, 0), 100));
}

TEST(Permute, IsABijectionForEverySize) {
  for (uint64_t n = 1; n <= 300; ++n) {
    std::vector<bool> hit(n, false);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t to = draw::Permute(i, n, 12345 + n);
      ASSERT_LT(to, n);
      ASSERT_FALSE(hit[to]) << "size " << n;
      hit[to] = true;
    }
  }
}

TEST(Permute, MovesMostAndKeyZeroNone) {
  int fixed = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(draw::Permute(i, 1000, 0), i);
    fixed += draw::Permute(i, 1000, 99) == i;
  }
  EXPECT_LT(fixed, 8);  // a random permutation has one fixed point on average
}

draw::Parameters IndexParameters(IndexOrder order, int64_t bound, int64_t slice_elements, int64_t row_elements,
                                 double padding = 0) {
  ValueSpec spec = Spec(Distribution::kIndex);
  spec.index_order = order;
  spec.padding = padding;
  return MakeParameters(spec, DType::kInt32, 77, bound, slice_elements, row_elements);
}

TEST(Index, DistinctValuesAreASampleWithoutReplacementOverAllSlices) {
  for (const int64_t bound : {60, 61, 1000}) {
    const draw::Parameters p = IndexParameters(IndexOrder::kDistinct, bound, 12, 12);
    std::set<int64_t> drawn_values;
    for (uint64_t slice = 0; slice < 5; ++slice) {
      for (uint64_t i = 0; i < 12; ++i) {
        const int64_t index = draw::Index(p, slice, i);
        EXPECT_TRUE(index >= 0 && index < bound);
        drawn_values.insert(index);
      }
    }
    EXPECT_EQ(drawn_values.size(), 60u) << "with bound " << bound;
  }
}

TEST(Index, RowsAreDistinctEachAndDifferFromOneAnother) {
  const draw::Parameters p = IndexParameters(IndexOrder::kDistinctRows, 8, 4 * 8, 8);
  std::set<std::vector<int64_t>> rows;
  for (uint64_t slice = 0; slice < 3; ++slice) {
    for (uint64_t row = 0; row < 4; ++row) {
      std::vector<int64_t> values;
      for (uint64_t i = 0; i < 8; ++i) values.push_back(draw::Index(p, slice, row * 8 + i));
      EXPECT_EQ(std::set<int64_t>(values.begin(), values.end()).size(), 8u);
      rows.insert(values);
    }
  }
  EXPECT_GT(rows.size(), 10u) << "twelve permutations of eight are hardly ever the same";
}

TEST(Index, PaddingTakesItsShareAndLeavesTheRestDistinct) {
  const draw::Parameters p = IndexParameters(IndexOrder::kDistinct, 10000, 10000, 1, 0.2);
  int64_t padded = 0;
  std::set<int64_t> drawn_values;
  for (uint64_t i = 0; i < 10000; ++i) {
    const int64_t index = draw::Index(p, 0, i);
    if (index == -1) {
      ++padded;
    } else {
      drawn_values.insert(index);
    }
  }
  EXPECT_NEAR(static_cast<double>(padded), 2000, 5 * std::sqrt(10000 * 0.2 * 0.8));
  EXPECT_EQ(static_cast<int64_t>(drawn_values.size()), 10000 - padded);
}

TEST(Index, AMaskHasItsShareOfOnesAndNoLineWithoutTheValueThatItAlwaysHolds) {
  ValueSpec spec = Spec(Distribution::kIndex);
  spec.index_order = IndexOrder::kMask;
  spec.share_of_ones = 0.1;
  const std::vector<int64_t> shape = {3, 20, 8};  // with three slices of twenty by eight
  const auto ones_of = [&](int some, int along, int* empty_lines) {
    spec.guaranteed_value = some;
    spec.line_axis = along;
    draw::Parameters p = MakeParameters(spec, DType::kUInt8, 77, 2, 160, 8);
    SetMaskLines(spec, shape, 0, &p);
    int ones = 0;
    *empty_lines = 0;
    for (uint64_t slice = 0; slice < 3; ++slice) {
      std::map<uint64_t, std::set<int64_t>> lines;
      for (uint64_t i = 0; i < 160; ++i) {
        const int64_t value = draw::Index(p, slice, i);
        EXPECT_TRUE(value == 0 || value == 1);
        ones += value == 1;
        lines[along == 1 ? i % 8 : i / 8].insert(value);
      }
      for (const auto& [line, values] : lines) *empty_lines += values.count(some < 0 ? 1 : some) == 0;
    }
    return ones;
  };
  int empty_lines = 0;
  EXPECT_NEAR(ones_of(-1, -1, &empty_lines), 48, 30);
  EXPECT_GT(empty_lines, 0) << "of sixty rows of eight a quarter holds no one";
  ones_of(1, 2, &empty_lines);
  EXPECT_EQ(empty_lines, 0);
  ones_of(1, 1, &empty_lines);
  EXPECT_EQ(empty_lines, 0);
  spec.share_of_ones = 0.95;
  ones_of(0, 2, &empty_lines);
  EXPECT_EQ(empty_lines, 0);
}

TEST(Index, SortedValuesAscendBelowTheirBound) {
  const draw::Parameters p = IndexParameters(IndexOrder::kAscending, 50, 200, 200);
  int64_t before = 0;
  std::set<int64_t> drawn_values;
  for (uint64_t i = 0; i < 200; ++i) {
    const int64_t index = draw::Index(p, 0, i);
    EXPECT_GE(index, before);
    EXPECT_LT(index, 50);
    before = index;
    drawn_values.insert(index);
  }
  EXPECT_GT(drawn_values.size(), 15u);
}

TEST(Vary, MultipliesScaleAndOffsetByFactorsOfTheirOwnForEachKey) {
  ValueSpec spec = Spec(Distribution::kNormal);
  spec.scale = 2;
  spec.offset = 1;
  spec.vary = 4;
  double least = 1e9, most = 0;
  for (uint64_t key = 1; key <= 200; ++key) {
    const draw::Parameters p = MakeParameters(spec, DType::kFloat32, key, 0, 1);
    EXPECT_TRUE(p.scale >= 0.5f && p.scale <= 8.0f && p.offset >= 0.25f && p.offset <= 4.0f) << key;
    least = std::min(least, static_cast<double>(p.scale / p.offset));
    most = std::max(most, static_cast<double>(p.scale / p.offset));
  }
  EXPECT_LT(least, 0.5);
  EXPECT_GT(most, 8);
}

// Finds one row of each kind among some hundred.
std::vector<double> SpecialRow(unsigned special, uint64_t row, uint64_t pattern_key, int64_t columns = 64, uint64_t key = 7) {
  ValueSpec spec = Spec(Distribution::kSpecial);
  spec.scale = 2.0;
  spec.offset = 1.0;
  spec.special = special;
  draw::Parameters p = MakeParameters(spec, DType::kFloat32, key, 0, columns);
  p.pattern_key = pattern_key;
  p.sliced = true;
  std::vector<double> values;
  for (int64_t i = 0; i < columns; ++i) {
    values.push_back(static_cast<double>(draw::Value(p, row, static_cast<uint64_t>(i), NormalQuantiles(), ExpQuantiles())));
  }
  return values;
}

TEST(SpecialDraws, HoldEveryKindOfRow) {
  bool tiny = false, large = false, far = false, equal = false, zeros = false, masked = false, part = false, subnormal = false,
       infinite = false, nan = false, negative_zero = false;
  for (uint64_t row = 0; row < 500; ++row) {
    const std::vector<double> v = SpecialRow(kUsualSpecials | kSpecialNan, row, 3);
    const auto all_values = [&](const auto& is) { return std::all_of(v.begin(), v.end(), is); };
    const auto any = [&](const auto& is) { return std::any_of(v.begin(), v.end(), is); };
    const double mean = Mean(v);
    tiny |= all_values([](double x) { return std::fabs(x) < 0.1 && std::fabs(x) > 1e-30; });
    large |= std::isfinite(mean) && MeanSquare(v) > 1e4;
    far |= all_values([&](double x) { return x > 4; });
    equal |= v[0] != 0 && all_values([&](double x) { return x == v[0]; });
    zeros |= all_values([](double x) { return x == 0; });
    negative_zero |= any([](double x) { return x == 0 && std::signbit(x); });
    masked |= all_values([](double x) { return x == -INFINITY; });
    part |= v[0] != -INFINITY && any([](double x) { return x == -INFINITY; });
    subnormal |= all_values([](double x) { return std::fabs(x) < 0x1p-126; }) && any([](double x) { return x != 0; });
    infinite |= any([](double x) { return x == INFINITY; });
    nan |= any([](double x) { return std::isnan(x); });
  }
  EXPECT_TRUE(tiny && large && far && equal && zeros && masked && part && subnormal && infinite && nan && negative_zero)
      << tiny << large << far << equal << zeros << masked << part << subnormal << infinite << nan << negative_zero;
}

TEST(SpecialDraws, EachTenRowsHoldEveryKindAndTheTurnSaysWhichRowZeroHas) {
  for (uint64_t turn = 0; turn < 10; ++turn) {
    const uint64_t key = draw::PatternKey(0x123456789abcdef0, turn);
    EXPECT_EQ(draw::KindOfRow(key, 0), static_cast<int>(turn));
    for (uint64_t block = 0; block < 5; ++block) {
      std::set<int> kinds;
      for (uint64_t row = 10 * block; row < 10 * block + 10; ++row) kinds.insert(draw::KindOfRow(key, row));
      EXPECT_EQ(kinds.size(), 10u) << block;
    }
  }
  // Later rows begin anew, so that no kind stands ten rows apart throughout.
  std::set<int> of_every_tenth;
  for (uint64_t row = 0; row < 500; row += 10) of_every_tenth.insert(draw::KindOfRow(draw::PatternKey(0x77, 3), row));
  EXPECT_GT(of_every_tenth.size(), 5u);
}

// A thread that reads four elements at once meets four equal infinities, and no row of this kind is masked whole.
TEST(SpecialDraws, AlignedGroupsAreMinusInfinityInSomeRows) {
  const uint64_t key = draw::PatternKey(0xabcdef00, draw::kGroupedRow);
  std::set<size_t> sizes;
  for (uint64_t secret = 1; secret < 60; ++secret) {
    const std::vector<double> v = SpecialRow(kUsualSpecials, 0, draw::PatternKey(secret << 8, draw::kGroupedRow));
    size_t group = 16;
    const auto alike = [&](size_t width) {
      for (size_t i = 0; i < v.size(); ++i) {
        if (std::isinf(v[i]) != std::isinf(v[i / width * width])) return false;
      }
      return true;
    };
    while (group > 1 && !alike(group)) group /= 2;
    sizes.insert(group);
    EXPECT_TRUE(std::isfinite(v.back()));
    EXPECT_TRUE(std::any_of(v.begin(), v.end() - 1, [](double x) { return x == -INFINITY; }) || group == 16);
  }
  EXPECT_EQ(sizes, (std::set<size_t>{2, 4, 8, 16}));
  // A task without infinities has groups of zeros there.
  const std::vector<double> zeros = SpecialRow(0, 0, key);
  EXPECT_GT(std::count(zeros.begin(), zeros.end(), 0.0), 3);
}

// One thread of a loop with a stride of a power of two meets every large number of such a row.
TEST(SpecialDraws, LargeNumbersStandAPowerOfTwoApartInSomeRows) {
  int strided = 0, positive = 0;
  for (uint64_t row = 0; row < 500; ++row) {
    const std::vector<double> v = SpecialRow(0, row, 3, 1024);
    for (size_t place = 0; place < 32; ++place) {
      double there = 0, elsewhere = 0, least = INFINITY;
      for (size_t i = 0; i < v.size(); ++i) {
        (i % 32 == place ? there : elsewhere) += v[i] * v[i];
        if (i % 32 == place && std::fabs(v[i]) > 20) least = std::min(least, v[i]);
      }
      if (there * 31 <= 8 * elsewhere) continue;
      ++strided;
      positive += least > 0;
    }
  }
  EXPECT_GT(strided, 25);
  EXPECT_LT(strided, 110);
  EXPECT_GT(positive, strided / 5);
}

TEST(SpecialDraws, HoldOnlyWhatTheTaskCovers) {
  for (uint64_t row = 0; row < 500; ++row) {
    for (const double x : SpecialRow(0, row, 3)) {
      EXPECT_TRUE(std::isfinite(x));
      EXPECT_TRUE(x == 0 || std::fabs(x) >= 0x1p-126);
    }
  }
}

TEST(SpecialDraws, TensorsOfOneInputSetMeetTheSameKindInTheSameRow) {
  int tiny = 0, alike = 0;
  for (uint64_t row = 0; row < 400; ++row) {
    const auto small = [](const std::vector<double>& v) {
      return std::all_of(v.begin(), v.end(), [](double x) { return std::fabs(x) < 0.02; });
    };
    const bool a = small(SpecialRow(0, row, 3, 64, 7)), b = small(SpecialRow(0, row, 3, 64, 8));
    tiny += a;
    alike += a == b;
  }
  EXPECT_GT(tiny, 20);
  EXPECT_GT(alike, 390);
}

}  // namespace
}  // namespace hone
