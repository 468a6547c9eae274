// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What one evaluation says, as parts of an HTML page. Everything is escaped; a part without content is empty.
#pragma once

#include <string>

#include "hone/tuner/evaluation.h"

namespace hone {

// One row a timed shape: time, the time of `baseline` ("the seed", "node 3"), speedup, floor, how it was timed.
std::string ShapeTable(const Evaluation& evaluation, const std::string& baseline);

// What libraries took for the same shapes, where they were timed.
std::string LibraryTable(const Evaluation& evaluation);

// Findings that the profile does not hold, then the profile with its own, folded away.
std::string FindingsAndProfile(const Evaluation& evaluation);

}  // namespace hone
