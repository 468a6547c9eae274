// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/check_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text/utf8.h"

namespace hone {

Status CheckRequest(const Task& task, const EvaluationRequest& request) {
  // These texts become JSON strings (to a worker, in a spool, in an evaluation), which must be UTF-8.
  const std::string folder = task.directory.empty() ? task.name : task.directory;
  for (const std::string* name : {&request.name, &request.incumbent_name, &folder}) {
    if (!CheckUtf8(*name, "").ok()) {
      return Status::InvalidArgument(
          fmt::format("the name '{}' is no UTF-8: rename the file or the folder", RepairUtf8(*name)));
    }
  }
  HONE_RETURN_IF_ERROR(CheckUtf8(request.source, request.name));
  HONE_RETURN_IF_ERROR(CheckUtf8(request.incumbent_source, request.incumbent_name));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.toml, folder + "/task.toml"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.oracle_source, folder + "/oracle.cu"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.seed_source, folder + "/seed.cu"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.baseline_toml, folder + "/baseline.toml"));
  if (request.max_quads != 0 && (request.max_quads < kLeastQuads || request.max_quads > kMostQuads)) {
    return Status::InvalidArgument(
        fmt::format("max_quads = {}: use 0 (the protocol's own) or {} to {}, for an interval needs as many",
                    request.max_quads, kLeastQuads, kMostQuads));
  }
  if (request.correctness_trials < 1 || request.correctness_trials > kMostTrials) {
    return Status::InvalidArgument(
        fmt::format("correctness_trials = {}: use 1 to {}", request.correctness_trials, kMostTrials));
  }
  if (request.libraries && !request.time) {
    return Status::InvalidArgument(
        "libraries are timed beside the candidate: ask for times too (no --no-time), or leave out --libraries");
  }
  const auto cases =
      std::count_if(task.cases.begin(), task.cases.end(), [](const Case& c) { return c.role == CaseRole::kTime; });
  for (const size_t case_index : request.only_time_cases) {
    if (case_index < static_cast<size_t>(cases)) continue;
    return Status::InvalidArgument(
        cases == 0
            ? fmt::format("time case {} is asked for, and {} has no [[case]] with role = \"time\"", case_index,
                          task.name)
            : fmt::format("time case {} is asked for, and {} has {}, counted from 0", case_index, task.name, cases));
  }
  return Status::Ok();
}

}  // namespace hone
