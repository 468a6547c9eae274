// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report's lists of what was tried: one folded block a node, and the sweeps.
#pragma once

#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Every node with its two speedups (over node 0 and over the best at that time), and folded below it why it was kept or
// not, its shapes, findings, profile and its difference to its parent. A page of a thousand nodes stays below 5 MB:
// differences and tables end at a budget, of which what was kept gets the first share, and the block then names the
// command that shows it.
std::string NodeSection(RunStore& store, const RunView& view);

// Every sweep folded, its bindings from fast to slow with the best marked, failures last. Empty without sweeps.
std::string SweepSection(const RunView& view);

}  // namespace hone
