// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The linter (`hone tasks check`) asks whether a verdict reached with this task would be true.
//
// A task is tried like a suspect candidate. Its oracle must reproduce the cases worked out by hand, depend on
// every input and write every output. Its seed must pass on every check case and input set. Answers that cost
// nothing (zeros, the mean, a copy of an input) must fail. And its tolerance must stand between honest kernels
// and imprecise ones: the oracle is compiled again with float sums and roundings (precision_variants.h), which
// must pass, and with TF32, float16, bfloat16 and float8 in places, which must fail; between the two a gap of
// at least `kLeastGap` in the mean-square error is asked for. The linter proposes the geometric midpoint.
#pragma once

#include <cstdint>

#include "hone/base/status.h"
#include "tuner/device/compiler.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/correctness/host_reference.h"
#include "tuner/evaluate/lint/task_report.h"

namespace hone {

// A tolerance cannot be put between two errors that lie closer than this factor: trials scatter by tens of per cent.
inline constexpr double kLeastGap = 4.0;

struct LintOptions {
  uint64_t seed = 1;  // seed of all draws; the same seed gives the same report
  int compile_jobs = 1;
  double launch_limit_seconds = 30;
  int hidden_draws = 2;           // how often the task's hidden cases are drawn for the seed
  bool precision = true;  // false: the oracle is not compiled in other precisions, and tolerances are not judged
  HostReference* reference = nullptr;  // computes expected outputs for a task without oracle.cu
};

// Lints a task. Faults of the task are in the report; a Status says that the device or the compiler failed. Uses the
// session from the calling thread and leaves nothing loaded.
Result<TaskReport> LintTask(const Task& task, DeviceSession& session, Compiler& compiler, const LintOptions& options);

}  // namespace hone
