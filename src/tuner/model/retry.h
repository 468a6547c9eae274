// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long to wait before asking again.
//
// Exponential backoff with full jitter (M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015):
// uniform between nothing and a bound that doubles, so that clients that failed together do not return together.
#pragma once

#include <optional>
#include <string_view>

#include "base/random.h"

namespace hone {

struct BackoffOptions {
  double base_seconds = 1;  // bound of the first wait
  double cap_seconds = 30;  // bound of every wait
};
// Before the attempt after `failures` (1, 2, …) failed ones.
double BackoffSeconds(int failures, const BackoffOptions& options, Rng& rng);

// What a Retry-After header asks for: seconds ("7", "0.5"), or an HTTP date minus `now` (seconds since 1970). Never
// negative; nullopt for anything else. Dates are read by libcurl, and not at all without it.
std::optional<double> ParseRetryAfter(std::string_view value, double now);

}  // namespace hone
