// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This gate checks shapes that the task's hidden ranges leave out, and reports alternatives of the plan that no shape
// tested. docs/measurement.md, "Beyond the hidden ranges".
#pragma once

#include "hone/base/status.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Runs the stage "check_beyond". It draws from a stream of secrets of its own, so that later secrets do not depend on
// it.
Result<Gate> CheckBeyond(Judgement& judgement);

// Runs one whole launch whose largest tensor has more than 2^31 elements, where the task's sizes and the free memory
// allow such a shape. It compares some slices, half of them among the last twentieth, where a signed 32-bit index
// overflows. A shape that cannot be launched is not held against the candidate. On the simulated GPU, CheckVast
// (modelled_time.h) does this.
Result<Gate> CheckVastWhole(Judgement& judgement);

// Adds a finding for each alternative that no checked case took: its code is untested and may be wrong.
void NoteUntested(Judgement& judgement);

}  // namespace hone
