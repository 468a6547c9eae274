// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/run_standing.h"

#include <algorithm>

namespace hone {

bool IsOver(const RunView& view) {
  return !view.ended.empty() && view.ended != "suspended" && view.ended != "interrupted" &&
         view.ended != "provider_failed";
}

bool HasJudgedAttempt(const RunView& view) {
  return std::any_of(view.nodes.begin(), view.nodes.end(),
                     [](const RunNode& node) { return node.origin == "reply" && node.state == NodeState::kEvaluated; });
}

}  // namespace hone
