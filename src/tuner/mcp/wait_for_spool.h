// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits for judgements of a spool within a call. A spool's evaluator answers kPending until a worker has judged the
// bundle, and has the same answer for the same question from then on; so the question is repeated.
#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/stoppable_sleep.h"
#include "hone/base/status.h"
#include "tuner/mcp/tool.h"

namespace hone::mcp {

// Calls `ask`, which returns a Result, until it does not return kPending. Returns kCancelled if the call was cancelled
// meanwhile, and the pending status, which says where the bundle waits, once the client has closed the server's input.
template <typename Ask>
auto WaitForSpool(const CallContext& context, Ask ask) -> decltype(ask()) {
  for (double pause = 0.1;; pause = std::min(1.5 * pause, 3.0)) {
    auto answer = ask();
    if (answer.ok() || answer.status().code() != StatusCode::kPending) return answer;
    for (const double until = SteadySeconds() + pause; SteadySeconds() < until;) {
      if (!StoppableSleep(std::min(0.2, pause), context.stop)) return Status::Cancelled("the call was cancelled");
      if (context.input_ended.stop_requested()) return answer;
    }
  }
}

}  // namespace hone::mcp
