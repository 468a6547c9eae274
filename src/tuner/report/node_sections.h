// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists in the report what was tried: one folded block per node, and the sweeps.
#pragma once

#include <functional>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Makes the HTML of a line of links for a node. The pages of --serve have one, and a stored report has none.
using NodeLinks = std::function<std::string(const RunNode&)>;
// Returns HTML with every node and its two speedups (over node 0, and over the best at that time). Folded below each
// are the reason why it was kept or not, its shapes, findings, profile and difference to its parent. A page of a
// thousand nodes stays below 5 MB: differences and tables together have a budget, which kept nodes use first; a block
// without them names the command that shows them.
std::string NodeSection(RunStore& store, const RunView& view, const NodeLinks& links = {});

// Returns HTML that describes one node: its origin, why it was kept or not, what was wrong, plans and reasoning,
// registers; without tables and difference.
std::string NodeFacts(const RunView& view, const RunNode& node);

// Returns HTML with every sweep, folded: its bindings from fast to slow with the best marked, failures last. Empty:
// there are no sweeps.
std::string SweepSection(const RunView& view);

}  // namespace hone
