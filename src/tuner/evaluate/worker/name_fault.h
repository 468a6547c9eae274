// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NameFault finds out which kind of memory access ended a candidate's launch on a GPU.
//
// Inputs are mapped without the right to write and nothing is mapped beside a tensor, so an access that breaks a rule
// faults at once; but the driver has one error for all of them, and the process is gone. So the candidate is judged
// again, in a new process, with the same secrets and one protection less: if it no longer crashes, its access was of
// the kind that this protection stops.
#pragma once

#include <functional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"

namespace hone {

// A FaultSearch says which protection a judgement leaves out to find a fault's name. Such a judgement accepts no
// candidate.
enum class FaultSearch { kNone, kInputsWritable, kNeighborsMapped };

using JudgeAgain = std::function<Result<Evaluation>(FaultSearch)>;

// Returns whether the device reported that this evaluation's candidate used an address it had no right to.
bool EndedByAccess(const Evaluation& evaluation);

// Names the fault in `ended`, an evaluation for which EndedByAccess holds. It becomes a rule_violation when the
// candidate wrote an input or outside of its buffers; otherwise it stays as it was, with one sentence added where there
// is one. `again` is called once or twice.
Result<Evaluation> NameFault(Evaluation ended, const JudgeAgain& again);

}  // namespace hone
