// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report's charts as inline SVG. Colours come from the page's CSS variables, so both colour schemes work.
#pragma once

#include <string>

#include "hone/tuner/strategy.h"

namespace hone {

// One mark an attempt at its estimated speedup over the seed, those without a time at the bottom, and the best so far
// as a stair.
std::string AttemptChart(const RunView& view);

// One bar a timed shape: the speedup over the seed with its 95 % interval (none when modelled), 1x as a line.
std::string SpeedupBars(const Evaluation& evaluation);

}  // namespace hone
