// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/retry.h"

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
