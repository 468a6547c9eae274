// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file runs the linter on a device chosen by name; `hone tasks check` calls it.
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
  std::string json;                          // the report as a JSON object; see task_report.h
  std::vector<std::string> problems;         // sentences; empty: the task is valid
  std::vector<std::string> indistinct;       // sentences; see TaskReport
  std::string nan_answer;                    // a sentence; see TaskReport
  std::vector<OutputPrecision> precision;    // errors of honest kernels, and what tolerance they propose
  std::vector<CancellingOutput> cancelling;  // outputs for which honest kernels need a larger `abs`
};

// A LintScope limits what the linter tries. A smaller scope is enough to see whether oracle and seed compile, run and
// agree.
struct LintScope {
  bool precision = true;  // all fields as in LintOptions
  bool dishonest = true;
  bool all_values = true;
  bool other_values = true;
  int hidden_draws = 2;
};

// Opens `options.device` (auto, cuda:N, sim or sim:NAME), lints `task` in this process, and closes the device. No
// worker process is needed, because a task's oracle and seed are as trusted as the task. Returns kUnavailable when the
// device or its compiler is missing; faults of the task are in the outcome.
Result<LintOutcome> LintOnDevice(const Task& task, const EvaluatorOptions& options, const LintScope& scope = {});

}  // namespace hone
