// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file runs the small cases of a candidate on the simulated GPU beside a GPU's own; join_verdicts.h gives the
// reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/join_verdicts.h"

namespace hone {

// Returns a candidate's text changed so that the simulated GPU's compiler takes the branches that a GPU's would take. Macros that
// only one of the two compilers defines are renamed (HONE_SIM, __GNUC__) or replaced (__CUDACC_RTC__). nullopt: it names none.
std::optional<std::string> AsOnAGpu(std::string_view source);

// Judges `request`'s candidate on `simulated`, by checks alone, and compiles for it what it needs. `reference` computes
// expected outputs where there is no oracle.cu. A Status means that the device failed, or that the task is at fault
// there.
Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference = nullptr);

}  // namespace hone
