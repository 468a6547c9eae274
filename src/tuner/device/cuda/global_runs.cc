// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/global_runs.h"

#include <algorithm>

namespace hone {

std::vector<GlobalRun> GlobalRuns(std::vector<GlobalRange> variables) {
  std::sort(variables.begin(), variables.end(), [](const GlobalRange& a, const GlobalRange& b) {
    return a.address != b.address ? a.address < b.address : a.bytes < b.bytes;
  });
  std::vector<GlobalRun> runs;
  for (const GlobalRange& variable : variables) {
    if (variable.bytes == 0) continue;
    if (!runs.empty()) {
      GlobalRange& run = runs.back().whole;
      const uint64_t end = run.address + run.bytes;
      if (variable.address <= end + kLargestPadding) {
        run.bytes = std::max(end, variable.address + variable.bytes) - run.address;
        runs.back().variables.push_back(variable);
        continue;
      }
    }
    runs.push_back({variable, {variable}});
  }
  return runs;
}

}  // namespace hone
