// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides how often and after what delays a failed request is retried, and with which error it finally fails.
//
// Uses exponential backoff with full jitter (M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog,
// 2015): delays are uniform between zero and a bound that doubles, so that clients that failed together do not return
// together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/random.h"
#include "hone/base/status.h"

namespace hone {

struct BackoffOptions {
  double base_seconds = 1;  // upper bound of the first delay
  double cap_seconds = 30;  // upper bound of every delay
};
// Returns the delay before the attempt that follows `failures` (1, 2, …) failed attempts.
double BackoffSeconds(int failures, const BackoffOptions& options, Rng& rng);

// The attempts at one request. Not thread-safe.
class Attempts {
 public:
  // `max_retries` after the first attempt; all attempts and delays together take at most `limit_seconds`.
  Attempts(int max_retries, double limit_seconds) : max_retries_(max_retries), limit_seconds_(limit_seconds) {}

  // Records that an attempt failed in a way that a retry may fix, `elapsed_seconds` after the request began. Returns
  // the seconds to wait before the next attempt, from `wait_seconds` for that many failures (1, 2, …); or the final
  // Status: the failure's own code and text, and why there is no further attempt.
  Result<double> Failed(const Status& failure, double elapsed_seconds, const std::function<double(int)>& wait_seconds);

  // Describes the last failure and the next step for observers: "…; asking again in 1.5 s (1 of 6)".
  std::string NextText(double wait_seconds) const;
  // Returns one sentence per failure so far.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const int max_retries_;
  const double limit_seconds_;
  std::vector<std::string> notes_;  // a sentence per failure
};

// Parses a Retry-After header: seconds ("7", "0.5"), or an HTTP date minus `now` (seconds since 1970). Never negative;
// nullopt for anything else. libcurl parses dates; without it they are ignored.
std::optional<double> ParseRetryAfter(std::string_view value, double now);

}  // namespace hone
