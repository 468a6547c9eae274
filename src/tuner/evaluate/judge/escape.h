// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file computes how likely it is that a wrong output of a timed launch escapes, as docs/precision.md states it
// ("How a wrong output could escape"). It is arithmetic on the numbers of judge_policy.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {

// Returns the chance that no wrong slice is among the slices that are judged, in one launch. All `slices` of its output
// differ in bits from the verified ones, and `wrong_slices` of them are wrong. If fewer slices differ, the chance is
// smaller; a slice whose bits do not differ is right.
inline double EscapesOneLaunch(int64_t slices, int64_t wrong_slices) {
  double escapes = 1;
  for (int64_t judged = 0; judged < policy::kDifferingSlicesJudged && judged < slices; ++judged) {
    escapes *= std::fmax(0.0, 1 - static_cast<double>(wrong_slices) / static_cast<double>(slices - judged));
  }
  return escapes;
}

// Returns the number of a candidate's launches that are checked before the first decision can fall: it comes after a
// fifth of `max_quads`, each quad has two samples of the candidate, and a sample has `sets` launches.
inline int64_t LaunchesBeforeADecision(int max_quads, int sets) { return int64_t{2} * (max_quads / 5) * sets; }

// Returns the chance that a kernel reaches a decision although a `share` of its slices is wrong in every timed launch.
inline double EscapesAVerdict(int64_t slices, double share, int max_quads, int sets) {
  const auto wrong_slices = static_cast<int64_t>(std::ceil(share * static_cast<double>(slices)));
  return std::pow(EscapesOneLaunch(slices, wrong_slices),
                  static_cast<double>(LaunchesBeforeADecision(max_quads, sets)));
}

}  // namespace hone
