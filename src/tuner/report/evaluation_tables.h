// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows an evaluation as parts of an HTML page. All texts are escaped; a part without content is empty.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns a table with a row per timed shape: its time, the time of `baseline` ("the seed", "node 3"), speedup, floor,
// timing method.
std::string ShapeTable(const Evaluation& evaluation, const std::string& baseline);

// Returns a table of the libraries' times for the same shapes; empty: none was timed.
std::string LibraryTable(const Evaluation& evaluation);

// Returns the findings that are not the profile's, then the folded profile with its own findings.
std::string FindingsAndProfile(const Evaluation& evaluation);

}  // namespace hone
