// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report's charts: inline SVG and plain HTML. Colours come from the page's CSS variables, so both colour schemes
// work; what colour says, shape or text says as well. A chart that would not be legible when shrunk to a phone's width
// is drawn twice, and the page shows the one that fits (page.cc, classes `wide` and `narrow`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// One mark a node at its estimated speedup over node 0, those without a time at the bottom, and the best so far as a
// stair.
std::string AttemptChart(const RunView& view);

// The colour of a bar, as a class to be appended to "fill": "" surely faster than 1x, " slow" surely slower, " same" in
// between or within 0.5 % of it. `low` and `high` are the speedup's interval, or the speedup twice.
std::string_view BarClass(double low, double high);

// One bar a timed shape: the speedup over `start` ("the seed"; StartName) with its 95 % interval (none when modelled),
// 1x as a line; below it, where the floor is known, the share of the floor's speed, with that of `start` marked.
std::string SpeedupBars(const Evaluation& evaluation, const std::string& start);

// One measured kernel on one shape.
struct RooflinePoint {
  std::string label;  // "the seed", "best"
  Dims dims;
  double seconds = 0;
  double bytes = 0;  // compulsory
  double flops = 0;    // 0: the task does not say
  bool start = false;  // of node 0
};
// Achieved operations per second over operations per byte, under the device's roofs; without operations, or where
// memory is by far the nearer roof, achieved bandwidth as bars. Empty when the device's figures are not known.
// `modelled` is said in the caption.
std::string RooflineChart(const std::vector<RooflinePoint>& points, const DeviceFacts& facts, bool modelled);

// Cost over time would need clocks; this is spend by who was asked: one bar a role.
struct CostShare {
  std::string role;
  int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  double cost_usd = 0, seconds = 0;
  int64_t unpriced = 0;  // requests whose answer has no known cost
};
std::string CostBars(const std::vector<CostShare>& shares);

}  // namespace hone
