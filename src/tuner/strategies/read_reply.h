// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A durable reply becomes an event: a memo (plan, diagnosis, findings, cases), a candidate, or a problem. Pure: the
// same log and reply give the same event.
#pragma once

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// Reads the reply of `node` that waits in view.open. `text` is the reply, `parent_source` the source it refers to.
EventDraft ReadReply(const RunView& view, const Task& task, int64_t node, const std::string& text,
                     const std::string& parent_source);

}  // namespace hone
