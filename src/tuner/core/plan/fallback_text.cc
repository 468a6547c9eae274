// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/plan/fallback_text.h"

#include <fmt/format.h>

#include "tuner/core/plan/dims_text.h"

namespace hone {

std::string DescribeFallback(const Evaluation& evaluation) {
  constexpr int kShown = 4;  // shapes that are named; the others follow as "…"
  int checked = 0, timed = 0, left_checked = 0, left_timed = 0;
  std::string shapes;
  for (const CaseResult& c : evaluation.cases) {
    const bool is_timed = c.role == CaseRole::kTime;
    ++(is_timed ? timed : checked);
    if (!c.fallback) continue;
    const int before = left_checked + left_timed;
    ++(is_timed ? left_timed : left_checked);
    if (before < kShown) shapes += (shapes.empty() ? "" : "; ") + DimsText(c.dims);
    if (before == kShown) shapes += "; …";
  }
  if (left_checked + left_timed == 0) return "";
  const auto share = [](int left_over, int total, const char* kind) {
    return fmt::format("{} of the {} {} case{}", left_over, total, kind, total == 1 ? "" : "s");
  };
  std::string text = "the task's seed served ";
  if (left_checked > 0) text += share(left_checked, checked, "checked");
  if (left_timed > 0) text += (left_checked > 0 ? " and " : "") + share(left_timed, timed, "timed");
  return text + ", for no alternative of the candidate's plan holds there: " + shapes;
}

}  // namespace hone
