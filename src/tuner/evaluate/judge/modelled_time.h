// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file models the time of one case on a simulated GPU and checks samples of blocks at that shape.
// docs/measurement.md, "What is modelled".
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Models the times of candidate and incumbent by one sampled launch each. A modelled time is one number, so there are
// no statistics.
Result<Gate> TimeModelled(Judgement& judgement, const Case& time_case, CaseResult& result);

// Checks a sample of the blocks of a launch whose largest tensor has more than 2^31 elements, where the task's sizes
// allow such a shape: 32-bit indices that overflow crash there or give wrong outputs. It does nothing for a request
// that asks neither for times nor for simulation.
Result<Gate> CheckVast(Judgement& judgement);

}  // namespace hone
