// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Classifies what limits a version by the roofline: one word, by which ideas of other runs are found again.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns memory | arithmetic | latency: the limit of most of the time over the timed cases. Latency: the case moves so
// few bytes that they take less than 3 us at full bandwidth, and it takes longer. Empty: nothing was timed, or the
// device's figures are unknown.
std::string LimiterOf(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation);

// Returns the bytes that the largest timed case must move; 0: unknown.
double LargestBytes(const Task& task, const Evaluation& evaluation);

}  // namespace hone
