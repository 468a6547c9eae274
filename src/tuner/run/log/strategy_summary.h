// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summarizes runs and compares strategies: the rows of `hone bench strategies` and of `hone report A B …`.
//
// Speedups are over the seed, from the final evaluation if there is one. A run that found nothing has speedup 1,
// because it leaves the user with the seed. A run that waits for its first attempt's verdict (run_standing.h) has found
// neither something nor nothing: it is shown as waiting, and means and shares leave it out. The mean is geometric,
// because a few easy tasks dominate an arithmetic one (in CuTeGen's published runs it is 1.7 to 2.1, and the geometric
// mean near 1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/tuner/strategy.h"
#include "tuner/run/log/run_totals.h"

namespace hone {

// What one run came to.
struct RunOutcome : RunTotals {
  std::string run, task, strategy, model, device;
  std::string ended;      // reason; empty for an open run
  bool over = true;       // the run has ended for good; false: its figures are those so far
  bool waiting = false;   // no attempt was judged yet: the run has no result, and `speedup` means nothing
  bool modelled = false;  // times are modelled, never measured
  bool success = false;   // at least one new version was correct
  bool faster = false;    // the 95 % interval of the best version's speedup is above 1
  bool paired = false;       // `speedup` is from the final evaluation against the seed; false: it is the product of the
                             // gains up to the best
  double speedup = 1;
  int64_t repaired = 0;        // unusable replies after which a repair was asked for
  int64_t unusable = 0;        // attempts that gave no candidate
  int64_t compile_errors = 0;  // candidates that did not compile
};
// Returns the outcome of a run, as far as it is.
RunOutcome OutcomeOf(const RunView& view);

// The runs of one strategy together.
struct StrategySummary {
  std::string strategy;
  int64_t runs = 0;                // with those that wait
  int64_t waiting = 0;             // runs without a result, which the next four figures leave out
  int64_t unfinished = 0;          // runs that are not over and have a result so far, which the next four figures count
  double geomean = 1, median = 1;  // speedup; 1 if all runs wait
  double faster_share = 0;         // share of the runs whose best version is faster than the seed
  double success_share = 0;        // share of the runs with a correct version of their own
  double cost_usd = 0, seconds = 0;  // of all runs together
  int64_t attempts = 0, tokens = 0;  // of all runs together
  int64_t unpriced = 0;  // replies of unknown cost
  StructureCount structure;
  RepairCount repairs;
  bool modelled = false;
};
// Returns one row per strategy, in the order of first appearance.
std::vector<StrategySummary> SummarizeByStrategy(const std::vector<RunOutcome>& outcomes);

std::string SummaryTable(const std::vector<StrategySummary>& rows);  // one line per strategy, for a terminal
std::string OutcomesTable(const std::vector<RunOutcome>& outcomes);  // a row per task, a column per strategy
// Returns {"strategies": […], "runs": […]}. Figures that are not known yet are null.
std::string SummaryToJson(const std::vector<StrategySummary>& rows, const std::vector<RunOutcome>& outcomes);

}  // namespace hone
