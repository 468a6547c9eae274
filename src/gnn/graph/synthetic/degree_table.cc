// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See degree_table.h. Compiled with -ffp-contract=off, because fused multiply-adds on some machines would round
// differently.
#include "gnn/graph/synthetic/degree_table.h"

#include <cmath>  // frexp and ldexp only: both exact

namespace hone::gnn {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

// Computes e^x with x = k ln 2 + r, |r| <= ln 2 / 2, and Taylor's series to r^20.
double Exp(double x) {
  if (x < -700) return 0;
  if (x > 700) x = 700;
  const double k = static_cast<double>(static_cast<int>(x / kLn2 + (x < 0 ? -0.5 : 0.5)));
  const double r = x - k * kLn2;
  double sum = 1;
  for (int i = 20; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

// Computes ln x for x > 0, with m in [0.5, 1) and the series of 2 artanh((m - 1) / (m + 1)).
double Log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  // Below the square root of 1/2, 2 m is nearer to 1, where the series converges fast.
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);
  double sum = 0;
  for (int i = 39; i >= 1; i -= 2) sum = sum * t * t + 1.0 / i;
  return exponent * kLn2 + 2 * t * sum;
}

// Returns the standard normal distribution function by its series about 0 (Marsaglia 2004): absolute error near 1e-15.
double NormalCdf(double z) {
  if (z < -8) return 0;
  if (z > 8) return 1;
  double term = z, sum = z;
  for (int i = 3; term > 1e-18 || term < -1e-18; i += 2) {
    term *= z * z / i;
    sum += term;
  }
  return 0.5 + sum * 0.39894228040143267794 /* 1 / sqrt(2 pi) */ * Exp(-0.5 * z * z);
}

// Returns the upper bounds of the buckets: every degree up to 256, then steps of 1/64.
std::vector<uint32_t> BucketBounds(uint32_t max_degree) {
  std::vector<uint32_t> upper;
  for (uint32_t d = 1; d < max_degree;) {
    upper.push_back(d);
    d += d < 256 ? 1 : d / 64;
  }
  upper.push_back(max_degree);
  return upper;
}

// Makes the table of log-normal degrees with these parameters of the logarithm.
DegreeTable TableFor(const std::vector<uint32_t>& bounds, double mu, double sigma) {
  DegreeTable table;
  for (const uint32_t d : bounds) {
    const bool is_last = d == bounds.back();
    // A degree stands for [d - 1/2, d + 1/2) of the continuous variable.
    const double p = is_last ? 1.0 : NormalCdf((Log(d + 0.5) - mu) / sigma);
    const uint64_t threshold = is_last ? uint64_t{1} << 32 : static_cast<uint64_t>(p * 0x1p32);
    // A bucket into which no 32-bit word falls would cause a division by zero. It is merged into the next bucket.
    if (threshold == (table.threshold.empty() ? 0 : table.threshold.back())) {
      if (table.upper.empty()) continue;
      table.upper.back() = d;
      continue;
    }
    table.upper.push_back(d);
    table.threshold.push_back(threshold);
  }
  return table;
}

}  // namespace

double DegreeTable::Mean() const {
  double sum = 0, previous_threshold = 0, previous_degree = 0;
  for (size_t k = 0; k < upper.size(); ++k) {
    const double bucket_threshold = static_cast<double>(threshold[k]), bucket_degree = upper[k];
    sum += (bucket_threshold - previous_threshold) * (previous_degree + 1 + bucket_degree) / 2;
    previous_threshold = bucket_threshold;
    previous_degree = bucket_degree;
  }
  return sum * 0x1p-32;
}

DegreeTable MakeDegreeTable(double mean, double sigma, uint32_t max_degree) {
  const std::vector<uint32_t> bounds = BucketBounds(max_degree);
  // Bisects for mu, with which the mean grows. 60 halvings of [-20, 20] reach the precision of a double.
  double mu_below = -20, mu_above = 20;
  for (int i = 0; i < 60; ++i) {
    const double mu = (mu_below + mu_above) / 2;
    (TableFor(bounds, mu, sigma).Mean() < mean ? mu_below : mu_above) = mu;
  }
  return TableFor(bounds, mu_above, sigma);
}

}  // namespace hone::gnn
