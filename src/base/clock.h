// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wall time that only moves forward, in seconds as a double.
#pragma once

#include <chrono>

namespace hone {

// Seconds since an arbitrary point of this machine's monotonic clock. Any thread.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since it was made or last restarted.
class Stopwatch {
 public:
  Stopwatch() : start_(SteadySeconds()) {}
  double Seconds() const { return SteadySeconds() - start_; }
  void Restart() { start_ = SteadySeconds(); }

 private:
  double start_;
};

}  // namespace hone
