// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the line-by-line difference of two texts, for people and models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct DiffLine {
  char mark = ' ';        // ' ' in both, '-' only in the first, '+' only in the second
  std::string_view text;  // without its newline; refers to the arguments of DiffLines
};

// Returns the shortest difference (longest common subsequence of lines). Texts far larger than kernels (over 4000
// changed lines on both sides) become one removal and one addition.
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after);

// Returns a unified diff with `context` lines around changes; empty when there is no difference.
std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name, int context = 3);

}  // namespace hone
