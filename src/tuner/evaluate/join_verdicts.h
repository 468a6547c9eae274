// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file joins the verdicts of two devices, a GPU and the simulated GPU. It picks the cases that the simulated GPU
// runs too, and combines the two verdicts.
//
// The simulated GPU sees on small cases what a GPU cannot (reads past the end, races, memory read before it is written,
// inputs overwritten and restored). A candidate that the simulated GPU cannot run is judged without it, and its
// evaluation says so. A fault in the use of memory refuses the candidate. An output that is wrong on the simulated GPU
// and right on the GPU is only a finding, because approximate functions differ between the two in their last digits.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task with only the cases that the simulated GPU runs: the smallest check case that writes anything, the
// largest check case that is cheap to simulate, one hidden case of each group, and the hand-worked cases. Timed cases
// stay in the task without being run, because they say which shapes beyond the hidden ranges are fair. The task has no
// cases if no check case is cheap.
Task SmallCases(const Task& task);

// Returns `measured` with the second device's verdict and findings added. Where the second device could not run the
// candidate, the label is `not_simulated`, and a finding of that kind says why.
Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated);

// Returns whether the simulated verdict refuses a candidate whatever a GPU says: for its use of memory, or for a plan
// that cannot be read.
bool RefusedBeforeAGpu(const Evaluation& simulated);

// Joins the verdicts as JoinVerdicts does, for a candidate whose small cases were simulated before the GPU judged it
// with EvaluationRequest::simulate false. The note in `measured` that there was no simulation is removed.
Evaluation JoinEarlierVerdict(Evaluation measured, const Evaluation& simulated);

// Returns whether the evaluation has the label `not_simulated`.
bool NotSimulated(const Evaluation& evaluation);

// Returns `measured`, which has not been simulated, joined with what compute-sanitizer found in small cases: a fault in
// the use of memory refuses the candidate. If the tool looked, its label takes the place of `not_simulated`; if it did
// not, `not_simulated` and a finding with `why_not_simulated` and the reason stay.
Evaluation JoinSanitized(Evaluation measured, const Result<Evaluation>& sanitized, const std::string& why_not_simulated);

// Returns `measured` joined with `vast`, the verdict on a launch of more than 2^31 elements on the GPU
// (JudgeJob::vast_alone). A wrong output there refuses the candidate too.
Evaluation JoinVast(Evaluation measured, const Evaluation& vast);

// Returns `measured` with the label `not_simulated` and a finding with `why`, the reason why the candidate was not
// simulated.
Evaluation WithoutSimulation(Evaluation measured, const std::string& why);

}  // namespace hone
