// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation says about shapes that the candidate's plan leaves to the task's seed.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// One sentence without an end of line, with the shapes where they are few: "the seed served 3 of 7 checked cases, where
// no alternative of the plan holds: d=5 rows=3; …". Empty where the candidate served every case.
std::string DescribeFallback(const Evaluation& evaluation);

}  // namespace hone
