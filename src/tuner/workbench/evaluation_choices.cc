// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/evaluation_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "hone/tuner/candidate.h"

namespace hone {

Status CheckChoices(const Task& task, const EvaluationRequest& request, const ChoiceNames& names) {
  const int64_t timed =
      std::count_if(task.cases.begin(), task.cases.end(), [](const Case& c) { return c.role == CaseRole::kTime; });
  for (const size_t case_number : request.only_time_cases) {
    if (static_cast<int64_t>(case_number) < timed) continue;
    return Status::InvalidArgument(
        fmt::format("{} {}: {} has {} timed cases, counted from 0", names.timed_case, case_number, task.name, timed));
  }
  const Result<Candidate> parsed = ParseCandidate(request.source, request.name, task);
  if (!parsed.ok()) return Status::Ok();
  std::string known_choices;
  const auto& tunables = parsed->plan.tunables;
  for (const auto& tunable : tunables) known_choices += (known_choices.empty() ? "" : ", ") + tunable.first;
  for (const auto& [name, value] : request.binding) {
    const auto is_it = [&wanted_name = name](const auto& tunable) { return tunable.first == wanted_name; };
    if (std::any_of(tunables.begin(), tunables.end(), is_it)) continue;
    return Status::InvalidArgument(fmt::format("{} {}={}: {} has no tunable '{}'{}", names.binding, name, value,
                                               request.name, name,
                                               known_choices.empty() ? "" : "; it has " + known_choices));
  }
  return Status::Ok();
}

}  // namespace hone
