// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report's tree: who came from whom, one row a node with its idea.
#pragma once

#include <string>

#include "hone/tuner/strategy.h"

namespace hone {

// The lanes of the tree are an SVG beside rows of text: a node's main child, the one on the way to the best or with the
// most descendants, goes on in its lane, and its other children stand between them in lanes further right. So a chain
// is a straight line whatever its length, and no label lies on another. Each row names the node's idea, its estimated
// speedup over node 0, and its gain over the node that it was timed against; it links to #node-N. Empty for fewer than
// two nodes.
std::string TreeChart(const RunView& view);

}  // namespace hone
