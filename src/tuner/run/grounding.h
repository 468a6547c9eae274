// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How well planners mark what is to change, and how often coders that are held to it leave it (Turn::bound).
//
// First replies count as well as those after a repair turn, so that the repair hides nothing.
#pragma once

#include <cstdint>
#include <string>

#include "hone/tuner/run_view.h"

namespace hone {

struct GroundingCount {
  int64_t plans = 0;      // replies of planners whose plans bind
  int64_t misquoted = 0;  // of them, those whose regions or quotes could not be resolved
  int64_t codes = 0;      // replies of coders that were held to a plan
  int64_t outside = 0;    // of them, those refused for changing what the plan does not mark
  int64_t widened = 0;    // of them, those that took in a region by asking, and were placed
  bool any() const { return plans + codes > 0; }
};
GroundingCount CountGrounding(const RunView& view);

// "1 of 32 plans misquoted; 2 of 31 answers left their plan's spans (6.5 %), 1 asked for more"
std::string GroundingText(const GroundingCount& count);

}  // namespace hone
