// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a version is faster or slower than another, as far as counts tell: "loads in flight an SM fell from 184 kB
// to 15.3 kB". Pure: from two evaluations.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// The counts that changed most and in the direction in which the time did, at the shape whose time changed most; at
// most two. Registers and spills are compared where nothing was counted. Empty: the times are about the same, or no
// count that both evaluations hold explains the difference.
std::string CauseText(const Evaluation& before, const Evaluation& after);

}  // namespace hone
