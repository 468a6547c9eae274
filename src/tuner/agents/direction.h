// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes texts for the prompts of the strategy `funnel`: the direction of an attempt, and what succeeded in earlier
// runs.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/run_view.h"

namespace hone {

// Names the direction of the attempt `node`, and those of others. Directions are, in this order, the costs that the
// profile of the starting version shows (three kinds at most, the most expensive first), and the entries of the class's
// menu; attempts take them in turn. Pure: the same log gives the same text. Empty: there are none.
std::string DirectionText(const RunView& view, const RunNode& node, const Evaluation* judged, std::string_view menu);

// Returns the four best matching entries of the run's memory: the same limiter first, then the size nearest to `bytes`,
// then the surer gain. Empty: there are none.
std::string MemoryText(const RunView& view, std::string_view limiter, double bytes);

}  // namespace hone
