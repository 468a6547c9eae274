// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate that checks shapes which the task's hidden ranges leave out, and what it leaves to say about alternatives of
// the plan. docs/measurement.md, "Beyond the hidden ranges".
#pragma once

#include "hone/base/status.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// The stage "check_beyond". The secrets after it are the same whether it ran or not, and whatever it drew.
Result<Gate> CheckBeyond(Judgement& judgement);

// Adds a finding for each alternative that nothing was checked with: its code may be wrong for all that the verdict
// knows.
void NoteUntested(Judgement& judgement);

}  // namespace hone
