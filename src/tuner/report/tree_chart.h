// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the report's tree: which node came from which, one row per node with its idea.
#pragma once

#include <string>

#include "hone/tuner/strategy.h"

namespace hone {

// The lanes of the tree are an SVG next to rows of text: a node's main child, the one on the way to the best or with
// the most descendants, continues in its lane, and its other children lie between them in lanes further right. So a
// chain is a straight line whatever its length, and labels do not overlap. Each row names the node's idea, its
// estimated speedup over node 0, and its gain over the version that it was timed against; it links to #node-N. Empty
// for fewer than two nodes.
std::string TreeChart(const RunView& view);

}  // namespace hone
