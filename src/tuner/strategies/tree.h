// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements tree: a persistent tree of versions and a rule for which to grow, as in STARK (arXiv 2510.16996):
// epsilon-greedy with root throttling, dead-branch pruning and exploration biased to leaves; a planner that marks where
// to edit, a coder, a debugger, each with its own temperature and its own window on the tree.
//
// Decided here, because the paper leaves it open: the values (strategies/settings.h); ties, and a tree whose only right
// version is the root, go to the failure nearest to right, then to the newest; a failed node is not offered again while
// a repair of it is in flight or has succeeded; a reply without a source cannot be grown. With several attempts in
// flight, a node that has `tree.width` of them is skipped if another is available.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTreeStrategy();

}  // namespace hone
