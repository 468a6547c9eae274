// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Classifies by the roofline what limits a version. The result is one word; ideas of other runs are found by it.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns what limits the timed cases for most of their time: memory, arithmetic or latency. A case is limited by latency
// if its bytes would take less than 3 us at full bandwidth and it takes longer. Returns an empty string if nothing was
// timed, or if the device's peaks are unknown.
std::string LimiterOf(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation);

// Returns the number of bytes that the largest timed case must move, or 0 if it is unknown.
double LargestBytes(const Task& task, const Evaluation& evaluation);

}  // namespace hone
