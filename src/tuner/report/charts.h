// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the report's charts as inline SVG and plain HTML. Colours come from the page's CSS variables, so that the light
// and the dark scheme work; what a colour shows, a shape or a text shows too. A chart that would be illegible at a
// phone's width is drawn twice, and the page shows the one that fits (page.cc, classes `wide` and `narrow`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// Draws one mark per node at its estimated speedup over node 0, marks of nodes without a time at the bottom, and a
// staircase line of the best speedup so far.
std::string AttemptChart(const RunView& view);

// Returns the CSS class that colours a bar, to be appended to "fill": "" for surely faster than 1x by more than 0.5 %,
// " slow" for surely slower by more than 0.5 %, else " same". `low` and `high`: the speedup's interval; both are
// the speedup itself if it has no interval.
std::string_view BarClass(double low, double high);

// Draws one bar per timed shape: the speedup over node 0, which is called `start` (StartName), with its 95 % interval
// (none for modelled times) and a line at 1x. Below it, if the floor is known, a second bar shows the floor's time
// divided by the shape's, with node 0's share marked.
std::string SpeedupBars(const Evaluation& evaluation, const std::string& start);

// One measured kernel on one shape.
struct RooflinePoint {
  std::string label;  // "the seed", "best"
  Dims dims;
  double seconds = 0;  // time of one launch
  double bytes = 0;    // bytes that every correct kernel must move
  double flops = 0;    // operations; 0: the task does not state them
  bool start = false;  // it is node 0
};
// Plots achieved operations per second over operations per byte, below the device's limits of computing and bandwidth.
// If operations are unknown, or bandwidth is by far the lower limit, draws achieved bandwidth as bars instead. Returns
// an empty text when the device's limits are unknown. `modelled`: the caption says that times are modelled.
std::string RooflineChart(const std::vector<RooflinePoint>& points, const DeviceFacts& facts, bool modelled);

// The cost of all requests that a run made for one role.
struct CostShare {
  std::string role;
  int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;  // requests whose reply has an unknown cost
};
// Draws one bar per role.
std::string CostBars(const std::vector<CostShare>& shares);

}  // namespace hone
