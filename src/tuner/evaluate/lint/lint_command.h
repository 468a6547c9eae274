// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The linter on a device chosen by name: what `hone tasks check` calls.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/lint/task_report.h"

namespace hone {

struct LintOutcome {
  bool valid = false;
  std::string text;                          // for a terminal
  std::string json;                          // one object; see task_report.h
  std::vector<std::string> problems;         // sentences; none where the task is valid
  std::vector<CancellingOutput> cancelling;  // outputs that honest kernels need a larger `abs` for
};

// How much is tried. Less is enough to see whether oracle and seed compile, run and agree.
struct LintScope {
  bool precision = true;  // as in LintOptions
  int hidden_draws = 2;
};

// Opens `options.device` (auto, cuda:N, sim or sim:NAME), lints `task` in this process and closes it again: a task's
// oracle and seed are as trusted as the task. kUnavailable when the device or its compiler is missing; what is wrong
// with the task is in the outcome.
Result<LintOutcome> LintOnDevice(const Task& task, const EvaluatorOptions& options, const LintScope& scope = {});

}  // namespace hone
