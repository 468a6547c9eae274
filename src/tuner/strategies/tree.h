// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// tree: a persistent tree of versions and a choice of which to grow, as STARK does it (arXiv 2510.16996): epsilon-greedy
// with root throttling, dead-branch pruning and exploration biased to leaves; a planner that marks where to edit, a
// coder, a debugger, each with its own temperature and its own window on the tree.
//
// What the paper leaves open, and is decided here: the figures (strategies/settings.h); ties and a tree without a
// right version but the root go to the failure nearest to right, then to the newest; a failed node is not offered
// again while a repair of it is under way or has succeeded; a reply that became no source cannot be grown. With
// several attempts in flight, a node that has `tree.width` of them is passed over while another will do.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTreeStrategy();

}  // namespace hone
