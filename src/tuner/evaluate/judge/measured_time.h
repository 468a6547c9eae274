// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file measures the times of one case on a GPU. docs/measurement.md, "Correct, in two levels", and docs/timing.md.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Checks the candidate at the case's shape, then times it against the incumbent with cold caches, and with warm caches
// if the working set fits.
Result<Gate> TimeMeasured(Judgement& judgement, const Case& time_case, CaseResult& result);

}  // namespace hone
