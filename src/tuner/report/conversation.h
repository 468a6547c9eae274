// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows the requests to a model for a node, and its replies, as part of a page.
#pragma once

#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/report/spend.h"

namespace hone {

// Returns whether this exchange was made for `node`: by its own field, or in logs of version 1 by the request number of
// the node.
bool BelongsTo(const Exchange& exchange, const RunNode& node);

// Shows each exchange of the node with every message folded and the reply open, or a sentence if nothing was asked.
// Texts come from `store` and are escaped here.
Result<std::string> ConversationHtml(RunStore& store, const RunView& view, const RunNode& node);

}  // namespace hone
