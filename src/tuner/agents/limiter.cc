// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/limiter.h"

#include <algorithm>
#include <map>

namespace hone {

std::string LimiterOf(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation) {
  constexpr double kShort = 3e-6;  // seconds; shorter transfers are limited by latency
  if (!(facts.memory_bandwidth > 0)) return "";
  std::map<std::string, double> seconds;  // time of all cases that each limiter limits
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us || !(c.time_us->median > 0)) continue;
    const double took = c.time_us->median * 1e-6;
    const Result<double> bytes = CompulsoryBytes(task, c.dims), flops = Flops(task, c.dims);
    if (!bytes.ok() || !(*bytes > 0)) continue;
    // The times that the case's bytes and operations would take at the device's peaks.
    const double moving = *bytes / facts.memory_bandwidth;
    const double counting = flops.ok() && facts.fp32_flops > 0 ? *flops / facts.fp32_flops : 0;
    seconds[counting > moving ? "arithmetic" : moving < kShort && took > kShort ? "latency" : "memory"] += took;
  }
  const auto most = std::max_element(seconds.begin(), seconds.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == seconds.end() ? "" : most->first;
}

double LargestBytes(const Task& task, const Evaluation& evaluation) {
  double largest_bytes = 0;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (const Result<double> bytes = CompulsoryBytes(task, c.dims); bytes.ok())
      largest_bytes = std::max(largest_bytes, *bytes);
  }
  return largest_bytes;
}

}  // namespace hone
