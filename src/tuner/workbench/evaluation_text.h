// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An evaluation in words and a table, for a terminal or for a model that reads it.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

// A table of the evaluation for people, on a terminal of `columns`; 0: none, and rows are as wide as they need.
std::string DescribeEvaluation(const Evaluation& evaluation, int columns = 0);
// A line that says how to see a rejection again: random inputs and hidden shapes are drawn anew by each evaluation. Empty
// where the verdict does not rest on what was drawn, or the user chose the seed.
std::string WhatRepeatsIt(const Evaluation& evaluation, bool seed_was_given);
// `text` without line ends at its end, each line behind two spaces, and a line end: a detail of several lines, as a
// compiler gives them, below the line it belongs to. Empty for nothing.
std::string Indented(std::string_view text);

}  // namespace hone
