// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts between units. Plain doubles and int64s carry their unit in their name (`elapsed_us`, `bytes`).
#pragma once

#include <cstdint>

namespace hone {

inline constexpr double kMicrosecondsPerSecond = 1e6;
inline constexpr int64_t kKiB = 1024;
inline constexpr int64_t kMiB = 1024 * kKiB;
inline constexpr int64_t kGiB = 1024 * kMiB;

// Time in microseconds that moving `bytes` takes at `bytes_per_second`.
constexpr double MicrosecondsToMove(double bytes, double bytes_per_second) {
  return bytes / bytes_per_second * kMicrosecondsPerSecond;
}

}  // namespace hone
