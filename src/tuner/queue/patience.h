// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Patience limits how long a client goes on without its server. It gives growing pauses between attempts, up to a
// total time.
#pragma once

#include <algorithm>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/process/stoppable_sleep.h"

namespace hone {

inline constexpr double kPatienceSeconds = 600;  // default of the total time

// Used by one thread. Each success starts the total time afresh.
class Patience {
 public:
  explicit Patience(double seconds = kPatienceSeconds) : seconds_(seconds) {}
  void ResetPause() { pause_ = 0; }
  // Sleeps before the next attempt. Returns false if the total time is over, or a stop was requested.
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
  double pause_ = 0;  // length of the last pause in seconds; 0: no failure since the last success
  double first_ = 0;  // SteadySeconds of the first failure since the last success
};

}  // namespace hone
