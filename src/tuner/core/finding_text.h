// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a finding says of itself, for all texts that show findings: people's and prompts'.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// The shapes that showed it: " (at the check shape tokens=3 d=8, and at 4 others)". Empty where no shape is known.
std::string FindingShapes(const Finding& finding);

// Whether findings of this kind say that a kernel is slow, not that it is wrong: their figures depend on the shape.
bool IsAdvice(std::string_view kind);

}  // namespace hone
