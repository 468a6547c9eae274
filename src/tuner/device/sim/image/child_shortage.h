// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Retries when a compiler driver cannot start a child process. Compilers run under a limit on processes, which the
// kernel counts for the whole user: on a busy machine other programs of that user can reach it after it is set and
// before the driver's vfork. The source is not at fault, so the compilation is tried again with a new limit, and a
// lasting shortage is reported as a failure of the environment.
//
// A source could imitate the driver's message with a diagnostic of its own. So, before the environment is blamed, the
// same driver is given a job that needs a child but no source: if this works each time, the message came from the
// source.
#pragma once

#include <functional>

#include "base/process/subprocess.h"
#include "hone/base/status.h"

namespace hone::sim {

// Returns whether a driver (g++, collect2) reports that fork or vfork failed for lack of processes or memory.
bool ReportsNoChild(const SubprocessResult& result);

struct ChildShortageRetry {
  int tries = 6;
  double first_wait_seconds = 0.05;  // doubled for each try
  std::function<void(double seconds)> wait;  // empty: sleeps
};

// Repeats `run` until it can start its child; kUnavailable when `probe` cannot start one either. Errors of `run` are
// passed on.
Result<SubprocessResult> RunDespiteShortage(const std::function<Result<SubprocessResult>()>& run,
                                            const std::function<Result<SubprocessResult>()>& probe,
                                            const ChildShortageRetry& retry = {});

}  // namespace hone::sim
