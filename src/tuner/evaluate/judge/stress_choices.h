// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A StressChoice says which values the inputs of a check case hold in one launch.
#pragma once

#include <cstddef>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

struct StressChoice {
  Distribution distribution = Distribution::kNormal;
  bool use_stress = false;   // false: each tensor's own distribution
  bool require_rms = false;  // outputs must meet c_rms as well as c_max
};

// Returns the input sets with which the check case at position `case_index` is tried, in order. The first has the
// task's own values. With `every_distribution`, all stress distributions follow; otherwise kSpecial, and for every
// second case another one.
std::vector<StressChoice> StressChoices(bool every_distribution, size_t case_index);

// Returns whether any input of the task may be drawn from stress distributions. If none may (`stress = false`
// everywhere, or only integers), each StressChoice means the task's own values.
bool TakesStress(const Task& task);

}  // namespace hone
