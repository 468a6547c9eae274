// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements tree: a tree of all versions, and a rule that chooses the version from which the next attempt starts, as
// in STARK (arXiv 2510.16996). The rule is epsilon-greedy, with a limit on the root's children, without dead branches,
// and with exploration among the leaves. A planner marks where to edit, a coder edits, a debugger repairs; each has its
// own temperature and sees its own part of the tree.
//
// The paper leaves some points open, which are decided here. The settings' values are in strategies/settings.h. Of
// nodes with equal speed, and of incorrect nodes if only the root is correct, the node nearest to correct is chosen; if
// several are equally near, the newest of them. An incorrect node is not chosen while a repair of it is in flight, or after one has succeeded. A
// node without a source is never chosen. A node with `tree.width` attempts in flight is skipped if another is
// available.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTreeStrategy();

}  // namespace hone
