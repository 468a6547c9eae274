// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a change made a kernel slower, at a false-alarm rate that holds for a whole gate.
//
// A gate compares many cases (kernels times shapes), and an honest 95 % interval excludes the truth in one of twenty: a
// gate that failed on any such interval would fail on most changes. Here, a case fails only when `hits` of at most
// `rounds` evaluations, each with inputs, order and buffers of its own, put the *whole* interval of the speedup beyond
// the limit.
//
// Where the truth lies at the limit or is better, one evaluation does so with a probability of 2.5 % at most (one side
// of a 95 % interval) as long as quads are exchangeable; 2.0 to 2.8 % were measured on four simulated noises, and 10.7
// % on the fifth, where one kernel's time fluctuates slowly (decision_test.cc; docs/measurement.md, "The intervals").
// The rule reckons with 11 %, always. `hits` is the smallest number for which a binomial tail, times the number of
// comparisons (Bonferroni: cases may depend on one another in any way), is at most the rate.
//
// The rounds are rounds and not one longer timing, because what differs from sitting to sitting (where buffers lie,
// clocks) is in no interval of a single one. Ending early, when no number of further hits would suffice or none is
// missing, and ending after a first round whose median lies within the limit, only ever take alarms away.
//
// Pure arithmetic. Error rate and power are measured in decision_test.cc on simulated noise.
#pragma once

#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// The probability with which a round of a case that is not beyond the limit is taken to be a hit.
inline constexpr double kFalseHit = 0.11;
inline constexpr double kSmallestRate = 1e-6;

struct GateRule {
  double slower = 0.02;  // the limit: times may grow by this share
  double rate = 0.01;    // rate of false alarms, for all comparisons together
  int hits = 0, rounds = 0;
};

// Returns the rule for `comparisons` cases (at least 1); `slower` is from 0 to 10, `rate` from kSmallestRate to 0.5.
GateRule MakeGateRule(double slower, double rate, int comparisons);

// P(at least `hits` of `rounds`), each with probability `p`.
double BinomialUpperTail(int rounds, int hits, double p);

enum class GateDecision {
  kMore,    // another round is needed
  kWithin,  // not surely beyond the limit
  kSlower,  // surely beyond the limit, at the rate
};
std::string_view GateDecisionName(GateDecision decision);  // "more", "within", "slower"

// One case through its rounds.
class CaseDecision {
 public:
  explicit CaseDecision(const GateRule& rule) : rule_(rule) {}
  // The speedup (base's time over head's) of one round.
  GateDecision Add(const Interval& speedup);
  // A modelled speedup, which has no noise: decides at once.
  GateDecision AddModelled(double speedup);
  GateDecision decision() const { return decision_; }
  int rounds() const { return rounds_; }
  int hits() const { return hits_; }

 private:
  GateRule rule_;
  int rounds_ = 0, hits_ = 0;
  GateDecision decision_ = GateDecision::kMore;
};

}  // namespace hone
