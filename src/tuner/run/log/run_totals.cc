// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/run_totals.h"

namespace hone {

RunTotals TotalsOf(const RunView& view) {
  RunTotals totals;
  totals.attempts = view.attempts;
  totals.requests = view.requests;
  totals.evaluations = view.evaluations;
  totals.tokens = view.usage.input + view.usage.output;
  totals.cost_usd = view.cost_usd;
  totals.seconds = view.seconds;
  totals.unpriced = view.unpriced_replies;
  totals.structure = CountStructure(view);
  totals.repairs = CountRepairs(view);
  totals.from_oracle = view.from_oracle;
  totals.from_module = view.from_module;
  return totals;
}

}  // namespace hone
