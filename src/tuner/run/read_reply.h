// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts a durable reply to an event: a memo (plan, diagnosis, findings, cases), a candidate, or a problem. Pure: the
// same log and reply give the same event.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"
#include "tuner/run/events.h"

namespace hone {

struct ReplyReading {
  RunEvent event;                    // MemoMade or NodeProposed
  std::vector<std::string> sources;  // texts that the event names
};

// Reads the pending reply of `node` in view.open. `text` is the reply, `parent_source` the source to which it refers.
ReplyReading ReadReply(const RunView& view, const Task& task, int64_t node, const std::string& text,
                       const std::string& parent_source);

}  // namespace hone
