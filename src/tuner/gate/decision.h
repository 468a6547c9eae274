// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rule of the gate decides whether a change made a kernel slower, at a false-alarm rate that holds for a whole
// gate.
//
// A gate compares many cases (kernels times shapes), and an honest 95 % interval excludes the true value in one of
// twenty cases: a gate that failed on any such interval would fail on most changes. So each case is evaluated up to
// `rounds` times, each time with other inputs, order and buffers. A round is a hit if the *whole* interval of the
// speedup lies beyond the limit. A case fails if `hits` rounds are hits.
//
// If the true speedup is at the limit or better, a round is a hit with a probability of at most 2.5 % (one side of a 95
// % interval), as long as quads are exchangeable. 2.0 to 2.8 % were measured for four kinds of simulated noise, and
// 10.7 % for the fifth, where one kernel's time fluctuates slowly (decision_test.cc; docs/timing.md, "The
// intervals"). The rule always assumes 11 %. `hits` is the smallest number for which the binomial tail, times the
// number of comparisons (Bonferroni, because cases may depend on one another in any way), is at most the rate.
//
// Several rounds are needed, and not one longer timing, because the interval of one timing does not include what
// differs between timings (where buffers lie, clocks). A case ends early when its result is certain, or after a first
// round whose median lies within the limit; the latter can only remove alarms.
//
// This file is pure arithmetic. decision_test.cc measures error rate and power on simulated noise.
#pragma once

#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// The assumed probability that a round is a hit although the case is not beyond the limit.
inline constexpr double kFalseHit = 0.11;
inline constexpr double kSmallestRate = 1e-6;  // least `rate` of MakeGateRule

struct GateRule {
  double slower = 0.02;  // the limit: times may grow by this share
  double rate = 0.01;    // rate of false alarms, for all comparisons together
  int hits = 0;          // number of hits that a case needs to fail
  int rounds = 0;        // most rounds of a case
};

// Returns the rule for `comparisons` cases (at least 1); `slower` is from 0 to 10, `rate` from kSmallestRate to 0.5.
GateRule MakeGateRule(double slower, double rate, int comparisons);

// Returns the probability of at least `hits` hits in `rounds` independent rounds, each a hit with probability `p`.
double BinomialUpperTail(int rounds, int hits, double p);

enum class GateDecision {
  kMore,    // another round is needed
  kWithin,  // the case passes: not shown to be beyond the limit
  kSlower,  // the case fails: beyond the limit, at the rule's rate of false alarms
};
std::string_view GateDecisionName(GateDecision decision);  // "more", "within", "slower"

// A CaseDecision takes one case through its rounds.
class CaseDecision {
 public:
  explicit CaseDecision(const GateRule& rule) : rule_(rule) {}
  // Adds a round with this speedup (base's time over head's), and returns the decision so far.
  GateDecision Add(const Interval& speedup);
  // Decides by a modelled speedup, which has no noise, in one round.
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
