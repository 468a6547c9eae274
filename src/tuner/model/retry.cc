// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "tuner/model/curl_library.h"

namespace hone {

double BackoffSeconds(int failures, const BackoffOptions& options, Rng& rng) {
  const double bound = options.base_seconds * std::pow(2.0, std::clamp(failures - 1, 0, 30));
  return rng.Uniform() * std::min(bound, options.cap_seconds);
}

Result<double> Attempts::Failed(const Status& failure, double elapsed_seconds,
                                const std::function<double(int)>& wait_seconds) {
  const std::string& what = failure.message();
  notes_.push_back(what);
  const auto failures = static_cast<int>(notes_.size());
  if (failures > max_retries_) {
    return Status(failure.code(),
                  fmt::format("{}; given up after {} attempt{}", what, failures, failures == 1 ? "" : "s"));
  }
  const double wait = wait_seconds(failures), left = std::max(0.0, limit_seconds_ - elapsed_seconds);
  if (wait >= left) {
    return Status(failure.code(),
                  fmt::format("{}; it is to be asked again in {:.0f} s at the earliest, and {:.0f} s are left of this "
                              "request's {:.0f}",
                              what, wait, left, limit_seconds_));
  }
  return wait;
}

std::string Attempts::NextText(double wait_seconds) const {
  return fmt::format("{}; asking again in {:.1f} s ({} of {})", notes_.back(), wait_seconds, notes_.size(),
                     max_retries_);
}

std::optional<double> ParseRetryAfter(std::string_view value, double now) {
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  if (value.empty()) return std::nullopt;
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size()) {
    return std::isfinite(seconds) && seconds >= 0 ? std::optional(seconds) : std::nullopt;
  }
  const Result<const CurlLibrary*> curl = LoadCurl();
  if (!curl.ok()) return std::nullopt;
  const time_t date = (*curl)->getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(0.0, static_cast<double>(date) - now);
}

}  // namespace hone
