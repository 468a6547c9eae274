// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/served_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace hone {

std::vector<std::string> ServedWhen(const LaunchPlan& plan) {
  std::map<int, std::string> steps;
  std::set<int> closed;
  for (const PlanEntry& entry : plan.entries) {
    if (!entry.when) {
      closed.insert(entry.step);
      continue;
    }
    std::string& step = steps[entry.step];
    step += (step.empty() ? "" : " or ") + entry.when->text();
  }
  std::vector<std::string> conditions;
  for (const auto& [step, text] : steps) {
    if (closed.count(step) == 0) conditions.push_back(text);
  }
  return conditions;
}

std::vector<std::string> RefusedUnless(const KernelPackage& package) {
  if (ServedWhen(package.winner.plan).empty()) return {};
  return ServedWhen(package.seed.plan);
}

std::string DescribeServedShapes(const KernelPackage& package) {
  const std::vector<std::string> served = ServedWhen(package.winner.plan);
  if (served.empty()) return "";
  const std::string where =
      fmt::format("the plan of {} serves shapes with {}", package.winner.name, fmt::join(served, ", and with "));
  const std::vector<std::string> refused = RefusedUnless(package);
  if (refused.empty()) return where + "; the task's seed, which is compiled in, runs for all others";
  return fmt::format(
      "{}; the task has no seed that serves all others: where {} does not hold either, they are refused with "
      "cudaErrorInvalidValue",
      where, fmt::join(refused, ", and "));
}

}  // namespace hone
