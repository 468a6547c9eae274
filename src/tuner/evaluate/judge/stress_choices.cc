// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/stress_choices.h"

#include <algorithm>
#include <iterator>

#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {

std::vector<StressChoice> StressChoices(bool all, size_t case_index) {
  std::vector<StressChoice> choices{{Distribution::kNormal, false, true}};
  for (size_t i = 0; i < std::size(policy::kStress); ++i) {
    if (all || i == case_index % std::size(policy::kStress)) choices.push_back({policy::kStress[i], true, false});
  }
  return choices;
}

bool TakesStress(const Task& task) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::kOut && tensor.stress && IsFloating(tensor.dtype);
  });
}

}  // namespace hone
