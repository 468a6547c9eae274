// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Searches wide, then deep. The first attempts each take a direction, all from the same version and with their choices
// left open as tunables, which sweeps settle. Then the fastest of the resulting lines are developed in turn; now and
// then a finding of one is carried over to another, and after a while without a gain one more direction is tried from
// the best. docs/strategies.md names the recorded runs behind this.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeFunnelStrategy();

// Prompt of attempts that take a new direction; identifies them in a log.
inline constexpr const char* kWidePrompt = "funnel_wide";

}  // namespace hone
