// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file describes an evaluation as text, for a terminal or for a language model.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// Returns the verdict and a table of the cases, for a terminal of `columns` columns; 0: rows are as wide as they need
// to be.
std::string DescribeEvaluation(const Evaluation& evaluation, int columns = 0);
// Returns a line with the option that repeats a refusal, because each evaluation draws its own inputs and hidden
// shapes. Empty if the verdict does not depend on what was drawn, or the user gave the seed.
std::string WhatRepeatsIt(const Evaluation& evaluation, bool seed_was_given);
// Returns `text` with each line indented by two spaces and exactly one line end at the end, for a detail of several
// lines (as compilers give them) below the line to which it belongs. Returns nothing for an empty text.
std::string Indented(std::string_view text);

}  // namespace hone
