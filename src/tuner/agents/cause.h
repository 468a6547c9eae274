// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Explains from counts why a version is faster or slower than another: "loads in flight an SM fell from 184 kB to 15.3
// kB". It reads nothing but the two evaluations.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns the counts that changed most and in the same direction as the time, at the shape whose time changed most; at
// most two. Compares registers and spills if nothing was counted. Returns an empty string if the times are about the
// same, or if no count that both evaluations have explains the difference.
std::string CauseText(const Evaluation& before, const Evaluation& after);

}  // namespace hone
