// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What went wrong in a run, and what of it was mended: replies that could not be used, by problem, and versions that
// were judged and not right.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hone/tuner/run_view.h"

namespace hone {

struct RepairCount {
  struct Replies {
    int64_t told = 0;    // replies that were refused for this problem, and told so once
    int64_t mended = 0;  // of them, those whose repair could be used
  };
  std::map<std::string, Replies> replies;  // by problem (agents/reply.h, run/read_reply.cc)
  int64_t judged = 0;                      // versions of attempts that were judged
  int64_t right = 0;                       // of them
  // Failures: judged versions that are not right and were made from a right one, or from what the run began with; a
  // failed repair belongs to the failure that it was to mend.
  int64_t failures = 0;
  int64_t repaired = 0;  // of them, those from which a right version was made, in one step or several
  double repair_rate() const {
    return failures == 0 ? 0 : static_cast<double>(repaired) / static_cast<double>(failures);
  }
  RepairCount& operator+=(const RepairCount& other);
};
RepairCount CountRepairs(const RunView& view);

// "12 of 16 judged versions right; 3 of 4 failures repaired (75 %)"; empty where nothing was judged.
std::string RepairText(const RepairCount& count);
// "anchor_not_found 2 (1 mended), repeated_idea 1"; empty: all replies could be used.
std::string RefusedText(const RepairCount& count);

}  // namespace hone
