// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows one evaluation as parts of an HTML page. Everything is escaped; a part without content is empty.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns one row per timed shape: time, the time of `baseline` ("the seed", "node 3"), speedup, floor, timing method.
std::string ShapeTable(const Evaluation& evaluation, const std::string& baseline);

// Shows the libraries' times for the same shapes, if they were timed.
std::string LibraryTable(const Evaluation& evaluation);

// Shows findings outside of the profile, then the folded profile with its own findings.
std::string FindingsAndProfile(const Evaluation& evaluation);

}  // namespace hone
