// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits for judgements of a spool within a call of a tool. A spool's evaluator returns kPending until a worker has
// judged the bundle, and from then on the answer, so it is asked again and again.
#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/process/stoppable_sleep.h"
#include "hone/base/status.h"
#include "tuner/mcp/tool.h"

namespace hone::mcp {

// Calls `ask`, which returns a Result, until the result is not kPending, and returns that. Returns kCancelled if the
// call is cancelled. If the client closes the server's input, returns the kPending status, which says where the bundle
// waits.
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
