// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These gates check whether a candidate is right: check cases, hidden cases, hand-worked cases. Each gate stops the
// judgement at the first launch that is wrong. docs/measurement.md, "The shape of a judgment".
#pragma once

#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/stress_choices.h"

namespace hone {

// Runs the stage "check": all cases of the task's own and hidden ranges, smallest first, then the hand-worked ones.
Result<Gate> CheckCases(Judgement& judgement);

// Checks one case with each of `choices` and adds its result to the evaluation's. With `plant`, the checker itself is
// tested after the first launch has passed (OracleChecker::PlantAndFind).
Result<Gate> CheckCase(Judgement& judgement, const Case& check_case, const std::vector<StressChoice>& choices,
                       bool plant);

// Checks the largest check case (hidden cases included) once more with every stress distribution, for a candidate whose
// times are hard to believe.
Result<Gate> CheckLargestAgain(Judgement& judgement);

// Sorts `cases` by the bytes of their tensors, ascending; cases that write nothing come last.
void SortSmallestFirst(const Task& task, std::vector<Case>& cases);

}  // namespace hone
