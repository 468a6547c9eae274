// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the small cases of a candidate on the simulated GPU beside a GPU's own; join_verdicts.h says what for.
#pragma once

#include <memory>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/join_verdicts.h"

namespace hone {

// Judges `request`'s candidate on `simulated`, checks alone. Compiles there what it needs. `reference`: says what is
// right, where no oracle.cu does. A Status means that the device failed, or that the task is at fault there.
Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference = nullptr);

}  // namespace hone
