// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the prompts of the strategy `funnel` say: which direction an attempt takes, and what paid in earlier runs.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/run_view.h"

namespace hone {

// The direction of the attempt `node`, and those that others take. Directions are, in this order, what the profile of
// the version to start from found to cost time (three kinds at most, the dearest first), and the entries of the class's
// menu; the first attempt takes the first, and so on around. Pure: the same log gives the same text. Empty: there are
// none.
std::string DirectionText(const RunView& view, const RunNode& node, const Evaluation* judged, std::string_view menu);

// Of the run's memory the four entries that fit best: the same limiter first, then the size nearest to `bytes`, then
// the surer gain. Empty: there are none.
std::string MemoryText(const RunView& view, std::string_view limiter, double bytes);

}  // namespace hone
