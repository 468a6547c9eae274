// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The linter (`hone tasks check`) checks whether verdicts reached with a task would be true.
//
// The task's oracle must reproduce the cases worked out by hand, depend on every input and write every output. Its seed
// must pass on every check case and input set. Answers that cost nothing (zeros, the mean, a copy of an input) must
// fail. The tolerance must lie between honest kernels and imprecise ones. To test that, the oracle is compiled again
// with sums and roundings in float32 (precision_variants.h), which must pass, and with TF32, float16, bfloat16 and
// float8 in places, which must fail. The rms errors of the two groups must differ by a factor of at least `kLeastGap`.
// The linter proposes their geometric midpoint.
#pragma once

#include <cstdint>

#include "hone/base/status.h"
#include "tuner/device/compiler.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/correctness/host_reference.h"
#include "tuner/evaluate/lint/task_report.h"

namespace hone {

// Least factor between two errors that a tolerance can separate: errors of trials scatter by tens of per cent.
inline constexpr double kLeastGap = 4.0;

struct LintOptions {
  uint64_t seed = 1;  // seed of all draws; the same seed gives the same report
  int compile_jobs = 1;
  double launch_limit_seconds = 30;
  int hidden_draws = 2;   // how often the task's hidden cases are drawn for the seed
  bool precision = true;  // false: the oracle is not compiled in other precisions, and tolerances are not judged
  bool dishonest = true;  // false: of other precisions only float32, an honest kernel's, so that c_rms gets no proposal
  bool all_values = true;  // false: check cases have their own values and some of the other kinds, as hidden cases do
  bool other_values = true;  // false: check cases have their own values alone, whatever all_values says
  HostReference* reference = nullptr;  // computes expected outputs of a task without oracle.cu; null: oracle.cu does
};

// Lints a task. Faults of the task are in the report; a Status means that the device or the compiler failed. The
// session is used from the calling thread, and nothing stays loaded on it.
Result<TaskReport> LintTask(const Task& task, DeviceSession& session, Compiler& compiler, const LintOptions& options);

}  // namespace hone
