// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file runs small cases of a candidate on the simulated GPU, in addition to the cases that a GPU runs;
// join_verdicts.h gives the reason.
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

// Returns the candidate's text, changed so that the simulated GPU's compiler takes the preprocessor branches that a
// GPU's compiler would take: macros that only one of the two compilers defines are renamed (HONE_SIM, __GNUC__) or
// replaced (__CUDACC_RTC__). Returns nullopt if the text names no such macro.
std::optional<std::string> AsOnAGpu(std::string_view source);

// Compiles the request's candidate for `simulated` and judges it there by SmallCases, without timing. `reference`
// computes expected outputs where there is no oracle.cu. A Status means that the device failed, or that the task is at
// fault on the simulated GPU.
Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference = nullptr);

}  // namespace hone
