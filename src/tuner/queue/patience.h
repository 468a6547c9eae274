// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits how long to go on without a server: growing pauses, up to a total.
#pragma once

#include <algorithm>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/stoppable_sleep.h"

namespace hone {

inline constexpr double kPatienceSeconds = 600;

// Used by one thread; starts afresh with every success.
class Patience {
 public:
  explicit Patience(double seconds = kPatienceSeconds) : seconds_(seconds) {}
  void Succeeded() { pause_ = 0; }
  // Sleeps before the next attempt. Returns false when the time is over, or a stop was requested.
  bool Wait(std::stop_token stop = {}) {
    const double now = SteadySeconds();
    if (pause_ == 0) {
      first_ = now;
      pause_ = 0.1;
    }
    if (now - first_ > seconds_) return false;
    pause_ = std::min(2 * pause_, 10.0);
    return StoppableSleep(pause_, std::move(stop));
  }

 private:
  const double seconds_;
  double pause_ = 0;
  double first_ = 0;
};

}  // namespace hone
