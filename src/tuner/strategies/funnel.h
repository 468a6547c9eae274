// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wide, then deep. The first attempts take a direction each, all from the same version and with their choices left open
// as tunables, which sweeps settle. Then the fastest of the lines that they began are worked on in turn, now and then
// what one found is carried over to the other, and after a while without a gain one more direction is tried from the
// best. docs/strategies.md says on which recorded runs this rests.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeFunnelStrategy();

// The prompt of attempts that take a direction of their own: how they are told apart in a log.
inline constexpr const char* kWidePrompt = "funnel_wide";

}  // namespace hone
