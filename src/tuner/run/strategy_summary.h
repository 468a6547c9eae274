// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What runs came to, and how strategies compare: the rows of `hone bench strategies` and of `hone report A B …`.
//
// Speedups are over the seed, from the final paired run where there is one. A run that found nothing counts as 1: the
// seed is what it leaves the user with. The geometric mean comes first because the arithmetic one is carried by a few
// easy tasks (CuTeGen's published runs: arithmetic 1.7 to 2.1, geometric near 1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/tuner/strategy.h"
#include "tuner/run/repairs.h"
#include "tuner/run/structure_rate.h"

namespace hone {

struct RunOutcome {
  std::string run, task, strategy, model, device;
  std::string ended;      // reason; empty while it is open
  bool modelled = false;  // times are modelled, never measured
  bool success = false;   // at least one new version was right
  bool faster = false;    // surely: the 95 % interval of the best's speedup lies above 1
  bool from_oracle = false;  // the task has no seed: speedups are over its oracle, made into a kernel
  bool paired = false;    // `speedup` is from the final paired run; else it is the estimate along the chain
  double speedup = 1;
  int64_t attempts = 0, requests = 0, evaluations = 0, tokens = 0;
  int64_t repaired = 0;        // replies that could not be used and had a repair turn
  int64_t unusable = 0;        // attempts that came to no candidate even so
  int64_t compile_errors = 0;  // candidates that did not compile
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;      // replies whose cost is not known
  StructureCount structure;  // replies lost to form
  RepairCount repairs;       // versions that failed and were mended, replies that were refused
};
RunOutcome OutcomeOf(const RunView& view);

struct StrategySummary {
  std::string strategy;
  int64_t runs = 0;
  double geomean = 1, median = 1;  // speedup
  double faster_share = 0;         // of the runs
  double success_share = 0;
  double cost_usd = 0, seconds = 0;  // in all
  int64_t attempts = 0, tokens = 0;
  int64_t unpriced = 0;
  StructureCount structure;
  RepairCount repairs;
  bool modelled = false;
};
// One row a strategy, in the order in which the strategies first appear.
std::vector<StrategySummary> SummarizeByStrategy(const std::vector<RunOutcome>& outcomes);

std::string SummaryTable(const std::vector<StrategySummary>& rows);    // for a terminal
std::string OutcomesTable(const std::vector<RunOutcome>& outcomes);    // tasks down, strategies across
// {"strategies": […], "runs": […]}
std::string SummaryToJson(const std::vector<StrategySummary>& rows, const std::vector<RunOutcome>& outcomes);

}  // namespace hone
