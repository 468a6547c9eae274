// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements funnel, which searches wide and then deep. The first attempts each take another direction from the same
// version, and leave choices such as block sizes open as tunables, which sweeps settle. A direction's first version and
// the versions developed from it are a line. Then the fastest lines are developed in turn. Now and then an idea of one
// line is carried over to another, and after some attempts without a gain one more direction is tried, from the best
// version. docs/strategies.md names the recorded runs on which this is based.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeFunnelStrategy();

// The prompt of attempts that take a new direction, by which a log shows them.
inline constexpr const char* kWidePrompt = "funnel_wide";

}  // namespace hone
