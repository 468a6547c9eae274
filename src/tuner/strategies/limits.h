// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// When a run stops asking for more: shared by all strategies.
#pragma once

#include <string>

#include "hone/tuner/strategy.h"

namespace hone {

// Empty while the run may go on asking; else why it stops:
//   floor_reached | attempts_spent | time_spent | tokens_spent | money_spent | no_more_ideas | provider_failed
// With a time limit, asking stops at three quarters of it: a sweep and the final pairing need their share.
std::string StopReason(const RunView& view);

// Whether every timed case of an evaluation is at least at this share of its floor.
bool AtFloor(const Evaluation& evaluation, double fraction);

}  // namespace hone
