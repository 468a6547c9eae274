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

// What of a candidate's text a GPU's compiler would see, where the text names macros that one of the two compilers alone
// defines (HONE_SIM, __GNUC__, __CUDACC_RTC__): it then compiles to that on the simulated GPU too. nullopt: it names none.
std::optional<std::string> AsOnAGpu(std::string_view source);

// Judges `request`'s candidate on `simulated`, by checks alone, and compiles for it what it needs. `reference` computes
// expected outputs where there is no oracle.cu. A Status means that the device failed, or that the task is at fault
// there.
Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference = nullptr);

}  // namespace hone
