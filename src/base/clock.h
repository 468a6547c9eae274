// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wall time that only moves forward, processor time and the time of day, in seconds as a double.
#pragma once

#include <time.h>

#include <chrono>

namespace hone {

// Seconds since an arbitrary point of this machine's monotonic clock. Any thread.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since 1970 as this machine's clock has them, which may be set meanwhile: for what is kept and shown. Any
// thread.
inline double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Processor time, user and system, of the whole process and of the calling thread. Any thread.
inline double ProcessorSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
inline double ProcessSeconds() { return ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID); }
inline double ThreadSeconds() { return ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID); }

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
