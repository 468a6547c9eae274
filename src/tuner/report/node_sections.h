// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report's lists of what was tried: one folded block a node, and the sweeps.
#pragma once

#include <functional>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Every node with its two speedups (over node 0 and over the best at that time), and folded below it why it was kept or
// not, its shapes, findings, profile and its difference to its parent. A page of a thousand nodes stays below 5 MB:
// differences and tables end at a budget, of which what was kept gets the first share, and the block then names the
// command that shows it.
// `links`, where it is given, makes the HTML of a line of links for a node; a stored report has none.
using NodeLinks = std::function<std::string(const RunNode&)>;
std::string NodeSection(RunStore& store, const RunView& view, const NodeLinks& links = {});

// What is said of one node inside its block: where it came from, why it was kept or not, what was wrong, plans and
// reasoning, registers. Without tables and difference.
std::string NodeFacts(const RunView& view, const RunNode& node);

// Every sweep folded, its bindings from fast to slow with the best marked, failures last. Empty without sweeps.
std::string SweepSection(const RunView& view);

}  // namespace hone
