// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says what an access was that ended a candidate's launch on a GPU.
//
// Inputs are mapped without the right to write and nothing is mapped beside a tensor, so what breaks a rule faults at
// once; but the driver has one error for all of it, and the process is gone. So the candidate is judged again, in a new
// process, with the same secrets and one protection less: what then no longer crashes was that.
#pragma once

#include <functional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"

namespace hone {

// Which protection a judgement leaves out to find a fault's name. Such a judgement accepts nobody.
enum class FaultSearch { kNone, kInputsWritable, kNeighborsMapped };

using JudgeAgain = std::function<Result<Evaluation>(FaultSearch)>;

// Whether the device said of this evaluation's candidate that it used an address it had no right to.
bool EndedByAccess(const Evaluation& evaluation);

// `ended`: an evaluation for which EndedByAccess holds. Comes back as a rule_violation when the candidate wrote an input
// or outside of its buffers, else as it was, with a sentence more where there is one. `again` is called once or twice.
Result<Evaluation> NameFault(Evaluation ended, const JudgeAgain& again);

}  // namespace hone
