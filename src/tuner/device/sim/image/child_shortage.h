// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// When a compiler driver is refused a child process. Compilers run under a limit on processes, which the kernel counts
// for the whole user: on a busy machine other programs of that user can use it up between its being set and the driver's
// vfork. That says nothing about the source, so it is tried again, with the limit counted anew, and told as a failure of
// the environment when it lasts.
//
// A source could print the driver's words through a diagnostic of its own. So, before the environment is blamed, the same
// driver is asked for something that needs a child and no source: if that works each time, the words are the source's.
#pragma once

#include <functional>

#include "base/subprocess.h"
#include "hone/base/status.h"

namespace hone::sim {

// A driver's (g++, collect2) own report that fork or vfork failed for want of processes or memory.
bool ReportsNoChild(const SubprocessResult& result);

struct ChildShortageRetry {
  int tries = 6;
  double first_wait_seconds = 0.05;  // doubled from try to try
  std::function<void(double seconds)> wait;  // empty: sleeps
};

// `run` until it is not refused a child; kUnavailable when `probe` is refused one as well. Errors of `run` are passed on.
Result<SubprocessResult> RunDespiteShortage(const std::function<Result<SubprocessResult>()>& run,
                                            const std::function<Result<SubprocessResult>()>& probe,
                                            const ChildShortageRetry& retry = {});

}  // namespace hone::sim
