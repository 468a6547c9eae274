// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file models the time of one case on a simulated GPU. docs/measurement.md, "What is modelled".
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Models the time by one sampled launch on each side. Nothing is random, so there are no statistics.
Result<Gate> TimeModelled(Judgement& judgement, const Case& time_case, CaseResult& result);

}  // namespace hone
