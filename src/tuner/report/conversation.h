// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows the requests to models for a node, and their replies, as part of a page.
#pragma once

#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/report/spend.h"

namespace hone {

// Returns whether this exchange was made for `node`. Exchanges of logs of version 1 do not name their node: they are
// found by the node's request number.
bool BelongsTo(const Exchange& exchange, const RunNode& node);

// Returns HTML that shows each exchange of the node, its messages folded and its reply unfolded, or a sentence if no
// request was sent. Texts come from `store` and are escaped here.
Result<std::string> ConversationHtml(RunStore& store, const RunView& view, const RunNode& node);

}  // namespace hone
