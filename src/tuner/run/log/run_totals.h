// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what a run has spent and how its model's replies fared.
#pragma once

#include <cstdint>

#include "hone/tuner/run_view.h"
#include "tuner/run/log/repairs.h"
#include "tuner/run/log/structure_rate.h"

namespace hone {

struct RunTotals {
  int64_t attempts = 0, requests = 0, evaluations = 0;
  int64_t tokens = 0;  // of requests and replies together
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;      // replies of unknown cost
  StructureCount structure;  // replies unusable because of their form
  RepairCount repairs;       // failed and repaired versions, and refused replies
  bool from_oracle = false;  // the task has no seed: speedups are over a kernel made from its oracle
  bool from_module = false;  // with from_oracle: speedups are over the task's PyTorch module in eager mode
};

RunTotals TotalsOf(const RunView& view);

}  // namespace hone
