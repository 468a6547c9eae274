// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists what was tried in the report: one folded block per node, and the sweeps.
#pragma once

#include <functional>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Shows every node with its two speedups (over node 0 and over the best at that time), and folded below it why it was
// kept or not, its shapes, findings, profile and difference to its parent. A page of a thousand nodes stays below 5 MB:
// differences and tables end at a budget, of which kept nodes get the first share, and the block then names the command
// that shows the rest. `links`, if given, makes the HTML of a line of links for a node; a stored report has none.
using NodeLinks = std::function<std::string(const RunNode&)>;
std::string NodeSection(RunStore& store, const RunView& view, const NodeLinks& links = {});

// Describes one node in its block: its origin, why it was kept or not, what was wrong, plans and reasoning, registers;
// without tables and difference.
std::string NodeFacts(const RunView& view, const RunNode& node);

// Shows every sweep folded, its bindings from fast to slow with the best marked, failures last. Empty without sweeps.
std::string SweepSection(const RunView& view);

}  // namespace hone
