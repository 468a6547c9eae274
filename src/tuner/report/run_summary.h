// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A run in a few figures, and runs side by side: what `hone runs` lists and `hone report A B …` compares.
//
// The comparison has the columns of the published tables: success (a right candidate was found), the share of tasks
// made faster, geometric mean and median of the speedups over the seed, cost. A run that keeps nothing leaves its seed
// in place, so its speedup is 1 exactly; one whose seed is broken has none and counts as a failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/run/repairs.h"
#include "tuner/run/structure_rate.h"

namespace hone {

struct RunSummary {
  RunInfo info;
  bool known = true;  // false: the run could not be read; only `info` holds
  int64_t attempts = 0, right = 0;  // right: of the attempts; what sweeps found is not among them
  int64_t evaluations = 0, requests = 0, tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;      // replies whose cost is not known
  StructureCount structure;  // replies lost to form; not filled by SummarizeRuns, whose table does not show it
  RepairCount repairs;       // failures and what became of them; not filled by SummarizeRuns either
  std::optional<double> speedup;  // over the seed; of the final pairing where `proven`, else estimated along the chain
  std::optional<Interval> interval;  // of a proven speedup that was measured
  bool proven = false;
  bool from_oracle = false;  // the task has no seed: the speedup is over its oracle, made into a kernel
  bool faster = false;  // surely: the interval's lower end above 1 (modelled: the value)
  std::string judged_by;  // the final pairing's device: behind a spool, the GPU; empty without one
  std::string best_idea;
  std::string state;  // "open", or why it ended
};

RunSummary Summarize(const RunView& view);

// Every run of the store, newest first. What can be told without the whole fold is: a finished run of a thousand nodes
// takes milliseconds, an open one is folded. A run that cannot be read is listed with known == false.
Result<std::vector<RunSummary>> SummarizeRuns(RunStore& store);

// For a terminal of `columns`; 0: none, and a row is as wide as it needs.
std::string RunsTable(const std::vector<RunSummary>& runs, int columns = 0);
std::string RunSummaryToJson(const std::vector<RunSummary>& runs, int indent = 2);

// Runs of one strategy and model together. The folder of a mailbox names no model: all mailboxes are one.
struct StrategyRow {
  std::string name;  // "refine", or "refine, openai:gpt-5" where the models differ
  int runs = 0;
  int successes = 0;  // runs with at least one right candidate
  int faster = 0;
  double geomean = 1, median = 1;
  int64_t attempts = 0, right = 0, tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;
  StructureCount structure;
  RepairCount repairs;
  bool modelled = false;
};
struct RunComparison {
  std::vector<RunSummary> runs;
  std::vector<StrategyRow> rows;  // best geometric mean first
  std::vector<std::string>
      warnings;  // different devices, different numbers of attempts, tasks that not all were run on
};
// "3 of 4" failures repaired; "-" where there were none.
std::string RepairedCell(const RepairCount& count);
RunComparison CompareRuns(std::vector<RunSummary> runs);

std::string ComparisonText(const RunComparison& comparison);
std::string ComparisonToJson(const RunComparison& comparison, int indent = 2);
std::string ComparisonHtml(const RunComparison& comparison);  // a whole page

}  // namespace hone
