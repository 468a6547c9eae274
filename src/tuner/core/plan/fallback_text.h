// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes the shapes of an evaluation on which the task's seed ran instead of the candidate.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns one sentence without an end of line, with the shapes if they are few: "the seed served 3 of 7 checked cases,
// where no alternative of the plan holds: d=5 rows=3; …". Empty if the candidate ran on every case.
std::string DescribeFallback(const Evaluation& evaluation);

}  // namespace hone
