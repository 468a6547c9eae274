// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts a run's failures and repairs: unusable replies for each problem, and incorrect versions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hone/tuner/run_view.h"

namespace hone {

struct RepairCount {
  struct Replies {
    int64_t told = 0;    // replies with this problem after which a repair was asked for
    int64_t mended = 0;  // replies among them whose repair was usable
  };
  std::map<std::string, Replies> replies;  // keyed by problem (agents/reply.h, run/read_reply.cc)
  int64_t judged = 0;                      // versions of attempts that were judged
  int64_t right = 0;                       // correct versions among them
  // Incorrect versions that were made from a correct version or from the run's start. An incorrect version that was
  // made to repair another one counts as the same failure.
  int64_t failures = 0;
  int64_t repaired = 0;  // failures from which a correct version was made, in one step or several
  // Returns the share of failures that were repaired; 0 if nothing failed.
  double repair_rate() const {
    return failures == 0 ? 0 : static_cast<double>(repaired) / static_cast<double>(failures);
  }
  RepairCount& operator+=(const RepairCount& other);
};
// Counts over the whole run.
RepairCount CountRepairs(const RunView& view);

// Formats "12 of 16 judged versions right; 3 of 4 failures repaired (75 %)"; empty if nothing was judged.
std::string RepairText(const RepairCount& count);
// Formats "anchor_not_found 2 (1 mended), repeated_idea 1"; empty: all replies were usable.
std::string RefusedText(const RepairCount& count);

}  // namespace hone
