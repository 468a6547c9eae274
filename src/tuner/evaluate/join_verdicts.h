// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file joins the verdicts of two devices: it picks the cases of a task that the simulated GPU runs too, and
// combines its verdict with a GPU's.
//
// The simulated GPU sees on small cases what a GPU cannot (reads past the end, races, memory read before it is written,
// inputs overwritten and restored). A candidate that the simulated GPU cannot run is judged without it, and its
// evaluation says so. Arithmetic differs between the two in the last digits of approximate functions, so an output that
// is wrong on the simulated GPU and right on the GPU is a finding and no refusal; a fault in the use of memory refuses
// the candidate.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task with the cases that the second device runs: the smallest check case that writes anything, the
// largest that is cheap to simulate, and one hidden case of each group; hand-worked cases stay. So do timed cases, which
// are not run there, for they say which shapes beyond the hidden ranges are fair. No cases where no check case is cheap.
Task SmallCases(const Task& task);

// Returns `measured` with the second device's verdict and findings added. Where the second device could not run the
// candidate, the label is `not_simulated`, and a finding of that kind says why.
Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated);

// Returns whether the simulated verdict refuses a candidate whatever a GPU says: for its use of memory, or for a plan
// that cannot be read.
bool RefusedBeforeAGpu(const Evaluation& simulated);

// Does the same as JoinVerdicts for a candidate whose small cases ran elsewhere before the GPU judged it with
// EvaluationRequest::simulate false: the note that there was no simulation is removed.
Evaluation JoinEarlierVerdict(Evaluation measured, const Evaluation& simulated);

// Returns whether the evaluation has the label `not_simulated`.
bool NotSimulated(const Evaluation& evaluation);

// Returns `measured` with what a launch of more than 2^31 elements on the GPU said (JudgeJob::vast_alone): a wrong output there
// refuses too.
Evaluation JoinVast(Evaluation measured, const Evaluation& vast);

// Returns `measured` for a candidate without simulation: with the label `not_simulated`, and a finding that says what
// turned simulation off.
Evaluation WithoutSimulation(Evaluation measured, const std::string& why);

}  // namespace hone
