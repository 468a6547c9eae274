// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes texts for the prompts of the strategy `funnel`: the direction of an attempt, and what succeeded in earlier
// runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/tuner/run_view.h"

namespace hone {

// The one direction that an attempt shall try.
struct AttemptDirection {
  GivenHint given;   // what the run's record says
  std::string text;  // for the prompt; ends with the names of the directions that other attempts try
};

// Returns the direction of the attempt `node`. Directions are, in this order, the costs that the profile of the
// starting version shows (three kinds at most, the most expensive first), and the entries of the class's menu; attempts
// take them in turn. Pure: the same log gives the same direction. Nullopt: there are none.
std::optional<AttemptDirection> DirectionOf(const RunView& view, const RunNode& node, const Evaluation* judged,
                                            std::string_view menu);

// Returns the four best matching entries of the run's memory: the same limiter first, then the size nearest to `bytes`,
// then the surer gain. Empty: there are none.
std::string MemoryText(const RunView& view, std::string_view limiter, double bytes);

}  // namespace hone
