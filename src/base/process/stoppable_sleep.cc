// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process/stoppable_sleep.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace hone {
namespace {

constexpr double kLongest = 1e9;  // 31 years; converting seconds beyond an integer's range is undefined

}  // namespace

bool StoppableSleep(double seconds, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any nobody;
  std::unique_lock lock(mutex);
  nobody.wait_for(lock, stop, std::chrono::duration<double>(std::min(seconds, kLongest)), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace hone
