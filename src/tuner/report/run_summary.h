// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Summarizes a run in a few figures, and compares runs: the output of `hone runs` and `hone report A B …`.
//
// The comparison has the columns of published tables: success (a correct candidate was found), the share of tasks made
// faster, geometric mean and median of the speedups over the seed, cost. A run whose best is still the seed has a
// speedup of exactly 1; a run whose seed is not correct has none and counts as a failure. A run that waits for its
// first verdict (run_standing.h) has no speedup, and counts as neither success nor failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/run/log/run_totals.h"

namespace hone {

struct RunSummary : RunTotals {  // `structure` and `repairs` are not filled by SummarizeRuns
  RunInfo info;
  bool known = true;  // false: the run could not be read; only `info` is valid
  int64_t right = 0;  // attempts with a correct version; results of sweeps are not counted
  // The speedup over the seed: from the final evaluation if `proven`, else the product of the gains up to the best.
  std::optional<double> speedup;
  std::optional<Interval> interval;  // 95 % interval of a proven and measured speedup
  bool waiting = false;              // the run is not over, and no attempt was judged: comparisons leave it out
  bool proven = false;               // the final evaluation, against the seed, is done
  bool faster = false;       // the interval's lower end is above 1 (modelled: the speedup)
  std::string judged_by;     // device of the final evaluation: behind a spool, the GPU; empty: there was none
  std::string best_idea;     // idea of the best version; empty: it is the seed
  std::string state;  // "open", or the reason why the run ended
};

RunSummary Summarize(const RunView& view);

// Summarizes every run of the store, newest first. A finished run is summarized from few of its events, which takes
// milliseconds for a thousand nodes; the view of an open run is computed. Unreadable runs have known == false.
Result<std::vector<RunSummary>> SummarizeRuns(RunStore& store);

// Formats a table for a terminal of `columns`; 0: no terminal, rows are as wide as needed.
std::string RunsTable(const std::vector<RunSummary>& runs, int columns = 0);
std::string RunSummaryToJson(const std::vector<RunSummary>& runs, int indent = 2);

// The runs of one strategy and model. All mailboxes count as one model, whatever their folder.
struct StrategyRow {
  std::string name;  // "refine", or "refine, openai:gpt-5" if the models differ
  int runs = 0;      // with those that wait
  int waiting = 0;   // runs of which nothing is known yet, left out of the next four figures
  int successes = 0;  // runs with at least one correct candidate
  int faster = 0;     // runs whose result is surely faster than the seed
  double geomean = 1, median = 1;  // of the runs' speedups over their seeds
  int64_t attempts = 0, right = 0, tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;
  StructureCount structure;
  RepairCount repairs;
  bool modelled = false;
};
struct RunComparison {
  std::vector<RunSummary> runs;   // in the order given
  std::vector<StrategyRow> rows;  // best geometric mean first
  // Differences that make the runs hard to compare: devices, numbers of attempts, tasks that some did not run.
  std::vector<std::string> warnings;
};
// Returns "3 of 4", the share of failures that were repaired; "-" if there were none.
std::string RepairedCell(const RepairCount& count);
RunComparison CompareRuns(std::vector<RunSummary> runs);

std::string ComparisonText(const RunComparison& comparison);
std::string ComparisonToJson(const RunComparison& comparison, int indent = 2);
std::string ComparisonHtml(const RunComparison& comparison);  // a whole page

}  // namespace hone
