// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NameFault finds out which kind of memory access ended a candidate's launch on a GPU.
//
// Inputs are mapped read-only and nothing is mapped beside a tensor, so that an access that breaks a rule faults at
// once. But the driver reports one error for all such accesses, and the process is lost. So the candidate is judged
// again, in a new process, with the same secrets and one protection less. If it no longer crashes, its access was of
// the kind that the missing protection stops.
#pragma once

#include <functional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"

namespace hone {

// A FaultSearch says which protection a judgement leaves out, to find out what a fault was. A judgement with a
// protection left out never accepts a candidate.
enum class FaultSearch { kNone, kInputsWritable, kNeighborsMapped };

// Judges the same job again, with a protection left out.
using JudgeAgain = std::function<Result<Evaluation>(FaultSearch)>;

// Returns whether the evaluation ended because the device reported an access to an illegal address.
bool EndedByAccess(const Evaluation& evaluation);

// Returns `ended`, an evaluation for which EndedByAccess holds, with the fault named. Its verdict becomes
// rule_violation if the candidate wrote to an input or outside of its buffers. Otherwise the verdict stays crashed, and
// the detail begins with the fault if it was found. `judge_again` is called once or twice.
Result<Evaluation> NameFault(Evaluation ended, const JudgeAgain& judge_again);

}  // namespace hone
