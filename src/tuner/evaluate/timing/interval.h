// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file computes intervals for reports, and judges whether a timing was undisturbed.
//
// A report has the median of the samples and a 95 % interval around it; decisions are sequential_test.h's. Medians and
// order statistics are used, so that one interrupted sample cannot move a report. docs/timing.md explains why a
// report has neither the minimum nor a bootstrap interval. The functions are pure and may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/timing/sequential_test.h"

namespace hone {

// Returns median and 95 % interval of `series`, which must be in the order of measurement. The interval's ends are
// order statistics, interpolated between ranks; the ranks allow for serial correlation. With fewer than 6 values, the
// interval is their whole range, which then covers the median with less than 95 % probability. An empty series gives
// zeros.
Interval MedianInterval(const std::vector<double>& series);

// Returns the speedup: median and 95 % interval of exp(log ratio). There is one log ratio (incumbent over candidate, as
// in sequential_test.h) for each quad, in the order of measurement. A secret coin gives every quad its sign, which
// makes the quads of two equal kernels exchangeable, so the ranks are the exact binomial ones.
Interval RatioInterval(const std::vector<double>& log_ratios);

// Returns the quality of a timing: "throttled", "contended", "inconclusive" or "stable", the first that applies.
//   throttled     the device reported a throttle reason, or the SM clock fell by over 5 % between conditions
//   contended     another process computed on the device during the timing
//   inconclusive  no decision was reached, or the speedup's 95 % interval is wider than 10 %
// `conditions` were taken at intervals during the timing and may be empty. `log_ratios` is empty where a candidate was
// timed alone, and then `decision` is ignored.
std::string ClassifyTiming(const std::vector<DeviceCondition>& conditions, const std::vector<double>& log_ratios,
                           Decision decision);

}  // namespace hone
