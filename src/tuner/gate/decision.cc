// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/decision.h"

#include <cmath>

namespace hone {
namespace {

// Number of rounds that a slow kernel may have without a hit, because another process's burst may widen an interval or
// two.
constexpr int kMisses = 2;

}  // namespace

double BinomialUpperTail(int rounds, int hits, double p) {
  double tail = 0;
  for (int k = hits; k <= rounds; ++k) {
    const double ways = std::exp(std::lgamma(rounds + 1.0) - std::lgamma(k + 1.0) - std::lgamma(rounds - k + 1.0));
    tail += ways * std::pow(p, k) * std::pow(1 - p, rounds - k);
  }
  return tail;
}

GateRule MakeGateRule(double slower, double rate, int comparisons) {
  HONE_CHECK(comparisons >= 1 && rate >= kSmallestRate, "a gate compares something, at a rate that can be reached");
  GateRule rule{.slower = slower, .rate = rate};
  do {
    ++rule.hits;
    rule.rounds = rule.hits + kMisses;
  } while (BinomialUpperTail(rule.rounds, rule.hits, kFalseHit) * comparisons > rate);
  return rule;
}

std::string_view GateDecisionName(GateDecision decision) {
  switch (decision) {
    case GateDecision::kMore:
      return "more";
    case GateDecision::kWithin:
      return "within";
    case GateDecision::kSlower:
      return "slower";
  }
  return "";
}

GateDecision CaseDecision::Add(const Interval& speedup) {
  HONE_CHECK(decision_ == GateDecision::kMore, "a case that is decided takes no further round");
  const double limit = 1 / (1 + rule_.slower);
  ++rounds_;
  hits_ += speedup.high < limit;
  const int rounds_left = rule_.rounds - rounds_;
  if (hits_ >= rule_.hits) {
    decision_ = GateDecision::kSlower;
  } else if (hits_ + rounds_left < rule_.hits || (rounds_ == 1 && speedup.median >= limit)) {
    decision_ = GateDecision::kWithin;
  }
  return decision_;
}

GateDecision CaseDecision::AddModelled(double speedup) {
  ++rounds_;
  hits_ = speedup < 1 / (1 + rule_.slower);
  decision_ = hits_ > 0 ? GateDecision::kSlower : GateDecision::kWithin;
  return decision_;
}

}  // namespace hone
