// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/limits.h"

namespace hone {

bool AtFloor(const Evaluation& evaluation, double fraction) {
  bool any = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (!c.floor_fraction || *c.floor_fraction < fraction) return false;
    any = true;
  }
  return any;
}

std::string StopReason(const RunView& view) {
  const RunOptions& o = view.options;
  const RunNode& best = view.node(view.best);
  if (best.evaluation && AtFloor(*best.evaluation, o.floor_fraction)) return "floor_reached";
  if (o.max_attempts > 0 && view.attempts >= o.max_attempts) return "attempts_spent";
  if (o.max_seconds > 0 && view.seconds >= 0.75 * o.max_seconds) return "time_spent";
  if (o.max_tokens > 0 && view.usage.input + view.usage.output >= o.max_tokens) return "tokens_spent";
  if (o.max_cost_usd > 0 && view.cost_usd >= o.max_cost_usd) return "money_spent";
  if (view.provider_exhausted) return "no_more_ideas";
  if (!view.provider_failure.empty()) return "provider_failed";
  return "";
}

}  // namespace hone
