// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/evaluation/profile_metrics.h"

#include <cmath>

namespace hone {
namespace {

constexpr const char* kDurationMetric = "gpu__time_duration.sum";  // nanoseconds

// Sets `field` to the sum of the fields in `parts` that were counted; does nothing when none was.
void AddSum(KernelProfile* kernel, const char* field, std::initializer_list<const char*> parts) {
  double sum = 0;
  bool any = false;
  for (const char* part : parts) {
    any |= kernel->Has(part);
    sum += kernel->Value(part);
  }
  if (any) kernel->values[field] = sum;
}

}  // namespace

std::vector<std::string> ProfileMetrics() {
  std::vector<std::string> metrics = {kDurationMetric};
  for (const ProfileField& field : ProfileFields()) {
    if (!field.metric.empty()) metrics.emplace_back(field.metric);
  }
  return metrics;
}

void FillFromMetrics(const std::map<std::string, double>& metrics, KernelProfile* kernel) {
  if (const auto duration = metrics.find(kDurationMetric); duration != metrics.end() && std::isfinite(duration->second)) {
    kernel->duration_us = duration->second / 1e3;
  }
  for (const ProfileField& field : ProfileFields()) {
    const auto found = metrics.find(std::string(field.metric));
    if (field.metric.empty() || found == metrics.end() || !std::isfinite(found->second)) continue;
    kernel->values[std::string(field.name)] = found->second;
  }
  AddSum(kernel, "dram_bytes", {"dram_bytes_read", "dram_bytes_written"});
  AddSum(kernel, "atomic_requests", {"atomic_return_requests", "atomic_add_requests"});
  AddSum(kernel, "shared_passes", {"shared_load_passes", "shared_store_passes"});
  AddSum(kernel, "bank_conflicts", {"shared_load_conflicts", "shared_store_conflicts"});
}

}  // namespace hone
