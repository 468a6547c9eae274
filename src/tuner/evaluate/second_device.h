// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two devices, one verdict: what a GPU cannot see of a candidate (reads past the end, races, memory read before it is
// written, inputs scratched and put back) the simulated GPU sees on small cases, and joins the GPU's verdict.
//
// A candidate that the simulated GPU cannot run is judged without it, and its evaluation says so. Arithmetic differs
// between the two in the last digits of approximate functions, so an output that is wrong there and right on the GPU is
// a finding and no refusal; what the candidate did to memory refuses.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/backend.h"

namespace hone {

// The task with the cases that the second device runs: the smallest check case that writes anything, the largest that is
// cheap to simulate, and one hidden case of each group; hand-worked cases stay.
Task SmallCases(const Task& task);

// Judges `request`'s candidate on `simulated`, checks alone. Compiles there what it needs. `reference`: says what is right,
// where no oracle.cu does. A Status means that the device
// failed, or that the task is at fault there.
Result<Evaluation> JudgeSmallCases(Backend& simulated, const Task& task, const EvaluationRequest& request,
                                   double launch_limit_seconds, int compile_jobs,
                                   std::shared_ptr<HostReference> reference = nullptr);

// What both say: `measured` with the second device's verdict and findings. Labels `not_simulated` where it could not run
// the candidate, with a finding of that kind that says why.
Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated);

// `measured` where nobody was asked: the label `not_simulated`, and a finding that says who turned it off.
Evaluation WithoutSimulation(Evaluation measured, const std::string& why);

}  // namespace hone
