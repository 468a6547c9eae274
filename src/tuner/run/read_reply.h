// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts a stored reply to an event: a memo (plan, diagnosis, findings, cases), a candidate, or a problem. The same
// log and reply always give the same event.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"
#include "tuner/run/log/events.h"

namespace hone {

struct ReplyReading {
  RunEvent event;                    // MemoMade or NodeProposed
  std::vector<std::string> sources;  // the texts whose hashes the event has
};

// Reads the reply to the current turn of `node`, which is in view.open. `text`: the reply; `parent_source`: the version
// that the reply changes.
ReplyReading ReadReply(const RunView& view, const Task& task, int64_t node, const std::string& text,
                       const std::string& parent_source);

}  // namespace hone
