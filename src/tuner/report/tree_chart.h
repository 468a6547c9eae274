// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the report's tree: which node came from which, one row per node with its idea.
#pragma once

#include <string>

#include "hone/tuner/strategy.h"

namespace hone {

// Returns the run's tree as HTML: rows of text, one per node, beside an SVG that draws the tree in vertical lanes. A
// node's main child (that on the way to the best, else that with the most descendants) is in the node's own lane, below
// its other children, which are in the lane to the right. Thus a chain of any length is a straight line, and labels do
// not overlap. Each row has the node's idea, its estimated speedup over node 0, and its gain over the version that it
// was timed against, and links to #node-N. Empty for fewer than two nodes.
std::string TreeChart(const RunView& view);

}  // namespace hone
