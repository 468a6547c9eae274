// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file computes how likely it is that a wrong output of a timed launch escapes, as docs/measurement.md states it
// ("How a wrong output could escape"). It is arithmetic on the policy's own numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {

// Returns the chance that none of the slices that are judged is wrong, in one launch all of whose `slices` differ in
// bits from the verified ones and of which `wrong` are wrong. Where bits do not differ, nothing is wrong; where fewer
// differ, the chance is smaller.
inline double EscapesOneLaunch(int64_t slices, int64_t wrong) {
  double escapes = 1;
  for (int64_t judged = 0; judged < policy::kDifferingSlicesJudged && judged < slices; ++judged) {
    escapes *= std::fmax(0.0, 1 - static_cast<double>(wrong) / static_cast<double>(slices - judged));
  }
  return escapes;
}

// Returns the number of launches of a candidate that are checked in this way before any decision: two samples of each
// quad up to the first of five looks, `sets` executions each.
inline int64_t LaunchesBeforeADecision(int max_quads, int sets) { return int64_t{2} * (max_quads / 5) * sets; }

// Returns the chance that a kernel gets a decision although it is wrong in `share` of its slices in every timed launch.
inline double EscapesAVerdict(int64_t slices, double share, int max_quads, int sets) {
  const auto wrong = static_cast<int64_t>(std::ceil(share * static_cast<double>(slices)));
  return std::pow(EscapesOneLaunch(slices, wrong), static_cast<double>(LaunchesBeforeADecision(max_quads, sets)));
}

}  // namespace hone
