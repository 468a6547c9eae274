// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares products with three plain loops, over shapes around the block sizes.
#include "gnn/ops/linear.h"

#include <limits>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  int64_t rows, in, out;
};
const Shape kShapes[] = {{1, 1, 1}, {7, 5, 3}, {256, 16, 8}, {257, 33, 130}, {4501, 9, 11}, {300, 20, 300}};

TEST(Linear, AgreesWithPlainLoops) {
  for (const Shape& s : kShapes) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.in) + " x " + std::to_string(s.out));
    std::vector<double> x = RandomValues<double>(s.rows * s.in, 1), w = RandomValues<double>(s.out * s.in, 2);
    std::vector<double> b = RandomValues<double>(s.out, 3), g = RandomValues<double>(s.rows * s.out, 4);
    std::vector<double> y(static_cast<size_t>(s.rows * s.out)), gx(x.size()), gw(w.size()), gb(b.size());
    std::vector<double> y0 = y, gx0 = gx, gw0 = gw, gb0 = gb;
    for (int64_t i = 0; i < s.rows; ++i) {
      for (int64_t o = 0; o < s.out; ++o) {
        const double gi = g[static_cast<size_t>(i * s.out + o)];
        double& yi = y0[static_cast<size_t>(i * s.out + o)];
        yi = b[static_cast<size_t>(o)];
        gb0[static_cast<size_t>(o)] += gi;
        for (int64_t k = 0; k < s.in; ++k) {
          const auto wi = static_cast<size_t>(o * s.in + k), xi = static_cast<size_t>(i * s.in + k);
          yi += x[xi] * w[wi];
          gx0[xi] += gi * w[wi];
          gw0[wi] += gi * x[xi];
        }
      }
    }
    Buffer<double> partials;
    LinearForward<double>(View(x, s.in), View(w, s.in), b.data(), false, View(y, s.out), 2);
    LinearBackwardInput<double>(View(g, s.out), View(w, s.in), false, View(gx, s.in), 2);
    LinearBackwardWeight<double>(View(g, s.out), View(x, s.in), View(gw, s.in), partials, 2);
    AddColumnSums<double>(View(g, s.out), gb.data(), 2);
    // A sum of k products of values of order 1 has an error of k * 2^-53 relative to sqrt(k) in double; 1e-12 k covers
    // it.
    const auto near = [](const std::vector<double>& a, const std::vector<double>& e, int64_t k) {
      for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], e[i], 1e-12 * static_cast<double>(k)) << i;
    };
    near(y, y0, s.in + 1);
    near(gx, gx0, s.out);
    near(gw, gw0, s.rows);
    near(gb, gb0, s.rows);
  }
}

TEST(Linear, OverwritesNansAndAddsWhereAsked) {
  std::vector<float> x = {1, 2, 3, 4}, w = {1, 1, 0, 2}, y(4, kNan), gx(4, kNan);
  LinearForward<float>(View(x, 2), View(w, 2), nullptr, false, View(y, 2), 1);
  EXPECT_EQ(y, (std::vector<float>{3, 4, 7, 8}));
  LinearForward<float>(View(x, 2), View(w, 2), nullptr, true, View(y, 2), 1);
  EXPECT_EQ(y, (std::vector<float>{6, 8, 14, 16}));
  std::vector<float> bias = {10, 20};
  LinearForward<float>(View(x, 2), View(w, 2), bias.data(), true, View(y, 2), 1);
  EXPECT_EQ(y, (std::vector<float>{19, 32, 31, 44}));
  LinearBackwardInput<float>(View(x, 2), View(w, 2), false, View(gx, 2), 1);
  EXPECT_EQ(gx, (std::vector<float>{1, 5, 3, 11}));
}

TEST(Linear, WorksOnColumnsOfWiderMatricesAndNeverReadsTheRest) {
  // x is columns 1-2 of a matrix with 4, and the weight columns 1-2 of one with 3; everything else is NaN.
  std::vector<float> x = {kNan, 1, 2, kNan, kNan, 3, 4, kNan}, w = {kNan, 1, 1}, y(6, 9.0f);
  LinearForward<float>({x.data() + 1, 2, 2, 4}, {w.data() + 1, 1, 2, 3}, nullptr, false, {y.data() + 1, 2, 1, 3}, 1);
  EXPECT_EQ(y, (std::vector<float>{9, 3, 9, 9, 7, 9}));
}

TEST(Linear, NoRowsChangeNothing) {
  std::vector<float> gw = {1, 2};
  Buffer<float> partials;
  LinearBackwardWeight<float>({nullptr, 0, 1, 1}, {nullptr, 0, 2, 2}, View(gw, 2), partials, 2);
  EXPECT_EQ(gw, (std::vector<float>{1, 2}));
}

TEST(Linear, GivesTheSameBitsOnAnyThreadCount) {
  constexpr int64_t kRows = 9001, kIn = 37, kOut = 150;
  std::vector<float> x = RandomValues<float>(kRows * kIn, 1), w = RandomValues<float>(kOut * kIn, 2);
  std::vector<float> g = RandomValues<float>(kRows * kOut, 3);
  ExpectSameBits("linear", [&](int threads) {
    std::vector<float> all(kRows * kOut), gx(kRows * kIn), gw(kOut * kIn), gb(kOut);
    Buffer<float> partials;
    LinearForward<float>(View(x, kIn), View(w, kIn), nullptr, false, View(all, kOut), threads);
    LinearBackwardInput<float>(View(g, kOut), View(w, kIn), false, View(gx, kIn), threads);
    LinearBackwardWeight<float>(View(g, kOut), View(x, kIn), View(gw, kIn), partials, threads);
    AddColumnSums<float>(View(g, kOut), gb.data(), threads);
    for (const auto* more : {&gx, &gw, &gb}) all.insert(all.end(), more->begin(), more->end());
    return all;
  });
}

// An OpenBLAS whose buffers are not guarded against concurrent use fails this test within a few rounds.
TEST(Linear, ManyThreadsAtOnceDoNotDisturbEachOther) {
  constexpr int64_t kRows = 64 * 256, kWidth = 24;
  std::vector<float> x = RandomValues<float>(kRows * kWidth, 1), w = RandomValues<float>(kWidth * kWidth, 2);
  std::vector<float> expected(kRows * kWidth), out(kRows * kWidth);
  LinearForward<float>(View(x, kWidth), View(w, kWidth), nullptr, false, View(expected, kWidth), 1);
  int wrong = 0;
  for (int round = 0; round < 100; ++round) {
    LinearForward<float>(View(x, kWidth), View(w, kWidth), nullptr, false, View(out, kWidth), 7);
    wrong += out != expected ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hone::gnn
