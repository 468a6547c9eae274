// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asking again: how often, after how long, and how a request ends that nobody answers.
//
// Exponential backoff with full jitter (M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015):
// uniform between nothing and a bound that doubles, so that clients that failed together do not return together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "hone/base/status.h"

namespace hone {

struct BackoffOptions {
  double base_seconds = 1;  // bound of the first wait
  double cap_seconds = 30;  // bound of every wait
};
// Before the attempt after `failures` (1, 2, …) failed ones.
double BackoffSeconds(int failures, const BackoffOptions& options, Rng& rng);

// The attempts at one request. Not thread-safe.
class Attempts {
 public:
  // `max_retries` after the first attempt; all of them and the waits between them within `limit_seconds`.
  Attempts(int max_retries, double limit_seconds) : max_retries_(max_retries), limit_seconds_(limit_seconds) {}

  // An attempt failed in a way that another one may mend, `elapsed_seconds` after the request began. Gives the seconds
  // to wait before the next attempt, as `wait_seconds` says for that many failures (1, 2, …); or the Status to end
  // with: the failure's own code and words, and why there is no further attempt.
  Result<double> Failed(const Status& failure, double elapsed_seconds, const std::function<double(int)>& wait_seconds);

  // The last failure and what is done about it, for whoever watches: "…; asking again in 1.5 s (1 of 6)".
  std::string NextText(double wait_seconds) const;
  // A sentence for each failure so far.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const int max_retries_;
  const double limit_seconds_;
  std::vector<std::string> notes_;
};

// What a Retry-After header asks for: seconds ("7", "0.5"), or an HTTP date minus `now` (seconds since 1970). Never
// negative; nullopt for anything else. Dates are read by libcurl, and not at all without it.
std::optional<double> ParseRetryAfter(std::string_view value, double now);

}  // namespace hone
