// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads clocks, in seconds as a double: wall time that only moves forward, processor time and the time of day.
#pragma once

#include <time.h>

#include <chrono>

namespace hone {

// Returns seconds since an arbitrary point of this machine's monotonic clock. Any thread.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns seconds since 1970 by this machine's clock, which may be set in between: for times that are stored and shown.
// Any thread.
inline double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Return processor time, user and system, of the whole process and of the calling thread. Any thread.
inline double ProcessorSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
inline double ProcessSeconds() { return ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID); }
inline double ThreadSeconds() { return ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID); }

// Measures seconds since it was made or last restarted.
class Stopwatch {
 public:
  Stopwatch() : start_(SteadySeconds()) {}
  double Seconds() const { return SteadySeconds() - start_; }
  void Restart() { start_ = SteadySeconds(); }

 private:
  double start_;
};

}  // namespace hone
