// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two devices, one verdict: which cases of a task the simulated GPU runs too, and what its verdict and a GPU's come to.
//
// What a GPU cannot see of a candidate (reads past the end, races, memory read before it is written, inputs scratched
// and put back) the simulated GPU sees on small cases. A candidate that the simulated GPU cannot run is judged without
// it, and its evaluation says so. Arithmetic differs between the two in the last digits of approximate functions, so an
// output that is wrong there and right on the GPU is a finding and no refusal; what the candidate did to memory
// refuses.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

// The task with the cases that the second device runs: the smallest check case that writes anything, the largest that
// is cheap to simulate, and one hidden case of each group; hand-worked cases stay.
Task SmallCases(const Task& task);

// What both say: `measured` with the second device's verdict and findings. Labels `not_simulated` where it could not
// run the candidate, with a finding of that kind that says why.
Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated);

// Whether this refuses a candidate whatever a GPU says: what it did to memory, or a plan that cannot be read.
bool RefusedBeforeAGpu(const Evaluation& simulated);

// As JoinVerdicts, for a candidate whose small cases ran elsewhere before the GPU judged it with
// EvaluationRequest::simulate false: the note that nobody was asked goes.
Evaluation JoinEarlierVerdict(Evaluation measured, const Evaluation& simulated);

// `measured` where nobody was asked: the label `not_simulated`, and a finding that says who turned it off.
Evaluation WithoutSimulation(Evaluation measured, const std::string& why);

}  // namespace hone
