// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SequentialTest decides, while a timing is under way, whether candidate and incumbent differ.
//
// A timer that looks at its data several times and stops when they look good reports false differences: each look is
// another chance for noise to be called a difference. This is a group-sequential test with O'Brien-Fleming boundaries:
// the probability that *any* of its looks calls a difference between two equal kernels is alpha. The boundaries are
// computed by integrating the joint distribution of the looks, not copied from a table.
//
// One observation is a quad: two runs of each kernel, in the order ABBA or BAAB by a secret coin, giving
//   log ratio = mean of the two log incumbent times - mean of the two log candidate times,
// so that a positive value favours the candidate and a drift that is linear over a quad cancels.
//
// Two corrections keep the error rate at alpha for few samples with irregular noise:
//   * The standard error is the long-run one: the mean square of the first B cosine projections of the
//     series (Lazarus, Lewis, Stock and Watson 2018, "HAR Inference"). It includes slow fluctuations. The textbook
//     formula takes successive quads for independent, and its error is several times too small.
//   * Boundaries are carried to Student's t with B degrees of freedom at equal tail probability.
//
// The class is pure arithmetic: no clock, no device, no randomness. It is not thread-safe. sequential_test_test.cc
// measures error rates, coverage and power; docs/timing.md, "When to stop", gives the reasons.
#pragma once

#include <string_view>
#include <vector>

namespace hone {

// A Decision is the result of a look. The first four end a timing.
enum class Decision {
  kFaster,     // the candidate's speedup exceeds 1 + delta, at the stated error rate
  kSlower,     // the incumbent's advantage exceeds 1 + delta
  kSame,       // the whole interval lies within a factor 1 + delta of 1
  kUndecided,  // none of the above at the last look, or earlier if further looks would almost surely not help
  kContinue,   // keep measuring
};
std::string_view DecisionName(Decision decision);  // "faster", …; kContinue, a test cut short, is "undecided"

struct SequentialOptions {
  int looks = 5;         // evenly spaced; at least 1
  int max_quads = 100;   // the last look comes after this many; at least 2 * looks
  double alpha = 0.05;   // two-sided error rate over all looks together
  double delta = 0.005;  // the smallest difference worth a claim, as a ratio minus 1
  bool stop_when_futile = true;  // end as kUndecided once a claim has become very unlikely
};

// A LookReport holds the figures of the last look, for reports and tests: logs of speedups (incumbent / candidate).
struct LookReport {
  int quads = 0;              // number of quads so far, discarded ones included
  int discarded = 0;          // number of outliers left out, see KeptQuads
  double mean = 0;            // mean log ratio; this and the fields below are of the kept quads
  double standard_error = 0;  // long-run standard error of `mean`
  int freedom = 0;            // degrees of freedom: B
  double boundary = 0;        // boundary of |mean| / standard_error at this look
  double low = 0, high = 0;   // mean -/+ boundary * standard_error: an interval that is valid over all looks together
  bool difference = false;    // equality is rejected at alpha: low > 0 or high < 0
};

class SequentialTest {
 public:
  explicit SequentialTest(const SequentialOptions& options);

  void Add(double log_ratio);  // finite
  int quads() const { return static_cast<int>(log_ratios_.size()); }
  // Returns whether a look is planned after the number of quads so far. A look at another time is possible (a budget
  // ran out) and keeps the error rate as long as its reason has nothing to do with the data.
  bool AtLook() const;
  // Judges all quads so far; there must be at least 4. At the last look, it does not return kContinue.
  Decision Look();

  const LookReport& report() const { return report_; }
  const std::vector<int>& planned() const { return planned_; }        // quads at each look
  const std::vector<double>& boundaries() const { return normal_boundaries_; }  // at each look, on the normal scale

 private:
  SequentialOptions options_;
  std::vector<int> planned_;
  std::vector<double> normal_boundaries_;
  std::vector<double> log_ratios_;
  LookReport report_;
};

// Returns O'Brien-Fleming boundaries on the normal scale for looks at `information` (increasing, positive; any unit):
// boundary k is C * sqrt(information.back() / information[k]), with C such that the chance of crossing any of them
// without a difference is `alpha`.
std::vector<double> OBrienFlemingBoundaries(const std::vector<double>& information, double alpha);

// Returns P(|Z_k| >= boundaries[k] for some k) for standardised sums Z_k of independent normal increments with mean
// `drift` per unit of information and variance 1 per unit. It integrates numerically step by step (Armitage, McPherson
// and Rowe 1969); the absolute error is below 1e-6.
double CrossingProbability(const std::vector<double>& information, const std::vector<double>& boundaries,
                           double drift = 0.0);

// Returns for each quad whether a look uses it. A quad is an outlier, and is left out, when its log ratio lies more
// than 6 robust standard deviations (1.4826 times the median absolute deviation) from the median, because of an
// interrupt, a page migration or another process's burst. The rule depends on the ratio alone and is the same for both
// kernels; single samples are never dropped. If more than a fifth of the quads would be left out, all are used.
std::vector<bool> KeptQuads(const std::vector<double>& log_ratios);

// A LongRunError is the standard error of the mean of a serially correlated series, and the number of projections
// behind it.
struct LongRunError {
  double standard_error = 0;
  int freedom = 1;
};
LongRunError LongRunStandardError(const std::vector<double>& series);  // at least 2 values

}  // namespace hone
