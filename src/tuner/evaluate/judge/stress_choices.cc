// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/stress_choices.h"

#include <algorithm>
#include <iterator>

#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {

std::vector<StressChoice> StressChoices(bool every_distribution, size_t case_index) {
  std::vector<StressChoice> choices{{Distribution::kNormal, false, true}};
  if (every_distribution) {
    for (const Distribution stress : policy::kStress) choices.push_back({stress, true, false});
    return choices;
  }
  // Every case has special values, and every second one the next of the other distributions too.
  const size_t others = std::size(policy::kStress) - 1;
  choices.push_back({policy::kStress[0], true, false});
  if (case_index % 2 == 1) choices.push_back({policy::kStress[1 + case_index / 2 % others], true, false});
  return choices;
}

bool TakesStress(const Task& task) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::kOut && ((tensor.stress && IsFloating(tensor.dtype)) || TakesIndexStress(tensor));
  });
}

}  // namespace hone
