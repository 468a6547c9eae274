// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests batch normalisation: PyTorch's own figures, large means, and gradients.
#include "gnn/ops/batch_norm.h"

#include <limits>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

TEST(BatchNorm, AgreesWithPyTorch) {
  // The expected values are those of torch.nn.BatchNorm1d(2) after one training step in double.
  std::vector<double> x = {1, 2, 3, -1, 0.5, 4}, weight = {2, 0.5}, bias = {0.1, -0.2}, out(6);
  std::vector<double> running_mean = {0, 0}, running_variance = {1, 1};
  ColumnStatistics statistics;
  ComputeColumnStatistics<double>(View(x, 2), statistics, 1);
  UpdateRunningStatistics<double>(statistics, running_mean.data(), running_variance.data());
  BatchNormForward<double>(View(x, 2), statistics, weight.data(), bias.data(), View(out, 2), 1);
  const std::vector<double> expected = {-0.8258161319976312, -0.11888938548660533, 2.877448395992893,
                                        -0.8488849161071572, -1.7516322639952622,  0.36777430159376256};
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-13);
  EXPECT_NEAR(running_mean[0], 0.15, 1e-15);
  EXPECT_NEAR(running_mean[1], 1.0 / 6, 1e-15);
  EXPECT_NEAR(running_variance[0], 1.075, 1e-15);
  EXPECT_NEAR(running_variance[1], 1.5333333333333334, 1e-15);
}

TEST(BatchNorm, LargeMeansCostNoDigits) {
  std::vector<double> x;
  for (int i = 0; i < 100000; ++i) x.push_back(1e9 + (i % 2 == 0 ? 1 : -1));
  ColumnStatistics statistics;
  ComputeColumnStatistics<double>(View(x, 1), statistics, 2);
  EXPECT_NEAR(statistics.mean[0], 1e9, 1e-6);
  EXPECT_NEAR(statistics.variance[0], 1.0, 1e-9);  // the formula E[x^2] - E[x]^2 would give 0 or worse
}

// The column 0, 1, …, n - 1 has the variance (n^2 - 1) / 12. It is summed in several pieces with very different means.
TEST(BatchNorm, TheVarianceIsAlsoThatBetweenPieces) {
  constexpr int64_t n = 200000;
  std::vector<double> x(n);
  for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = static_cast<double>(i);
  for (const int threads : {1, 3}) {
    ColumnStatistics statistics;
    ComputeColumnStatistics<double>(View(x, 1), statistics, threads);
    EXPECT_NEAR(statistics.mean[0], 0.5 * (n - 1), 1e-6);
    const double variance = (static_cast<double>(n) * n - 1) / 12;
    EXPECT_NEAR(statistics.variance[0], variance, 1e-9 * variance);
  }
}

TEST(BatchNorm, OneRowBecomesTheBiasAndUpdatesNothing) {
  std::vector<float> x = {3, -8}, weight = {2, 2}, bias = {0.5f, 1}, out(2), mean = {4, 4}, variance = {9, 9};
  ColumnStatistics statistics;
  ComputeColumnStatistics<float>(View(x, 2), statistics, 1);
  UpdateRunningStatistics<float>(statistics, mean.data(), variance.data());
  BatchNormForward<float>(View(x, 2), statistics, weight.data(), bias.data(), View(out, 2), 1);
  EXPECT_EQ(out, bias);
  EXPECT_EQ(mean[0], 4);
  EXPECT_EQ(variance[0], 9);
}

TEST(BatchNorm, GradientsAgreeWithFiniteDifferences) {
  std::vector<double> x = RandomValues<double>(11 * 4, 1), weight = RandomValues<double>(4, 2);
  std::vector<double> bias = RandomValues<double>(4, 3), out(x.size());
  const std::vector<double> objective = RandomValues<double>(11 * 4, 4);
  ColumnStatistics statistics;
  for (const bool training : {true, false}) {
    statistics.mean.assign(4, 0.25);
    statistics.variance.assign(4, 2.0);
    const auto forward = [&] {
      if (training) ComputeColumnStatistics<double>(View(x, 4), statistics, 1);
      BatchNormForward<double>(View(x, 4), statistics, weight.data(), bias.data(), View(out, 4), 1);
      return Product(out, objective);
    };
    forward();
    std::vector<double> grad = objective, grad_weight(4), grad_bias(4);
    BatchNormBackward<double>(View(x, 4), statistics, training, weight.data(), View(grad, 4), grad_weight.data(),
                              grad_bias.data(), 1);
    ExpectGradient("x", x, grad, forward);
    ExpectGradient("weight", weight, grad_weight, forward);
    ExpectGradient("bias", bias, grad_bias, forward);
  }
}

TEST(BatchNorm, GivesTheSameBitsOnAnyThreadCountAndInstructionSet) {
  constexpr int64_t kRows = 5003, kCols = 21;
  std::vector<float> x = RandomValues<float>(kRows * kCols, 1), g = RandomValues<float>(kRows * kCols, 2);
  std::vector<float> weight = RandomValues<float>(kCols, 3), bias = RandomValues<float>(kCols, 4);
  ExpectSameBits("batch norm", [&](int threads) {
    ColumnStatistics statistics;
    std::vector<float> out(x.size()), grad = g, grad_weight(kCols), grad_bias(kCols);
    ComputeColumnStatistics<float>(View(x, kCols), statistics, threads);
    BatchNormForward<float>(View(x, kCols), statistics, weight.data(), bias.data(), View(out, kCols), threads);
    BatchNormBackward<float>(View(x, kCols), statistics, true, weight.data(), View(grad, kCols), grad_weight.data(),
                             grad_bias.data(), threads);
    for (const auto* more : {&grad, &grad_weight, &grad_bias}) out.insert(out.end(), more->begin(), more->end());
    return out;
  });
}

}  // namespace
}  // namespace hone::gnn
