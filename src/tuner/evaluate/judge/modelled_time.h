// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file models the time of one case on a simulated GPU, and checks samples of blocks there. docs/measurement.md, "What is
// modelled".
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Models the time by one sampled launch on each side. Nothing is random, so there are no statistics.
Result<Gate> TimeModelled(Judgement& judgement, const Case& time_case, CaseResult& result);

// Checks a sample of the blocks of a launch whose largest tensor has more elements than 32 bits count, where the task's sizes
// allow such a shape: indices that overflow crash or are wrong there. Without timing, only where a GPU's verdict is joined.
Result<Gate> CheckVast(Judgement& judgement);

}  // namespace hone
