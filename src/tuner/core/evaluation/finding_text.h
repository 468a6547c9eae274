// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes findings, for all texts that show them, to people and in prompts.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns the shapes that showed the finding: " (at the check shape tokens=3 d=8, and at 4 others)". Empty if no shape
// is known.
std::string FindingShapes(const Finding& finding);

// Returns whether findings of this kind mean that a kernel is slow, not wrong: their figures then depend on the shape.
bool IsAdvice(std::string_view kind);

}  // namespace hone
