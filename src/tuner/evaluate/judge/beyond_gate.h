// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This gate checks shapes which the task's hidden ranges leave out, and reports alternatives of the plan that no shape
// tested. docs/measurement.md, "Beyond the hidden ranges".
#pragma once

#include "hone/base/status.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Runs the stage "check_beyond". The secrets after it are the same whether it ran or not, and whatever it drew.
Result<Gate> CheckBeyond(Judgement& judgement);

// Runs one whole launch whose largest tensor has more elements than 32 bits with a sign count, where the task's sizes and the
// free memory allow such a shape, and compares some slices of it, half of them among the last. What cannot be launched there is
// not held against the candidate. The simulated GPU has CheckVast (modelled_time.h) for this.
Result<Gate> CheckVastWhole(Judgement& judgement);

// Adds a finding for each alternative that no checked case took: its code may be wrong whatever the verdict says.
void NoteUntested(Judgement& judgement);

}  // namespace hone
