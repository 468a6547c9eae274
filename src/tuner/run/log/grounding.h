// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts how often planners fail to mark the spans of a file that are to change, and how often coders that are bound to
// these spans (Turn::bound) change something else.
//
// A reply that was repaired counts in addition to its repair.
#pragma once

#include <cstdint>
#include <string>

#include "hone/tuner/run_view.h"

namespace hone {

struct GroundingCount {
  int64_t plans = 0;      // replies of planners whose plans are binding
  int64_t misquoted = 0;  // plans among them whose regions or quotes could not be resolved
  int64_t codes = 0;      // replies of coders bound to a plan
  int64_t outside = 0;    // replies among them refused for changing what the plan does not mark
  int64_t widened = 0;    // replies among them accepted after requesting another region
  // Returns whether any turn of the run was bound.
  bool any() const { return plans + codes > 0; }
};
// Counts over all replies of the run.
GroundingCount CountGrounding(const RunView& view);

// Returns "1 of 32 plans misquoted; 2 of 31 answers left their plan's spans (6.5 %), 1 asked for more".
std::string GroundingText(const GroundingCount& count);

}  // namespace hone
