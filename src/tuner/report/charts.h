// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the report's charts: inline SVG and plain HTML. Colours come from the page's CSS variables, so both colour
// schemes work; shape or text repeats what colour shows. A chart that would be illegible at a phone's width is drawn
// twice, and the page shows the one that fits (page.cc, classes `wide` and `narrow`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// Draws one mark per node at its estimated speedup over node 0, nodes without a time at the bottom, and the best so far
// as a staircase.
std::string AttemptChart(const RunView& view);

// Returns the class that colours a bar, appended to "fill": "" surely faster than 1x, " slow" surely slower, " same"
// otherwise or within 0.5 % of 1x. `low` and `high` are the speedup's interval, or the speedup twice.
std::string_view BarClass(double low, double high);

// Draws one bar per timed shape: the speedup over `start` ("the seed"; StartName) with its 95 % interval (none when
// modelled), and a line at 1x; below it, if the floor is known, the share of the floor's speed, with that of `start`
// marked.
std::string SpeedupBars(const Evaluation& evaluation, const std::string& start);

// One measured kernel on one shape.
struct RooflinePoint {
  std::string label;  // "the seed", "best"
  Dims dims;
  double seconds = 0;
  double bytes = 0;  // compulsory traffic
  double flops = 0;    // 0: not stated by the task
  bool start = false;  // whether this is node 0
};
// Plots achieved operations per second over operations per byte, under the device's roofs; without operations, or if
// memory is by far the nearer roof, draws achieved bandwidth as bars. Empty when the device's figures are unknown. The
// caption mentions `modelled`.
std::string RooflineChart(const std::vector<RooflinePoint>& points, const DeviceFacts& facts, bool modelled);

// Spending by role, one bar each (cost over time would need clocks).
struct CostShare {
  std::string role;
  int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;  // requests whose answer has unknown cost
};
std::string CostBars(const std::vector<CostShare>& shares);

}  // namespace hone
