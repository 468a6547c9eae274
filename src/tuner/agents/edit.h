// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Edits anchored to content: search-and-replace blocks, applied to a source whose lines the writer never numbers.
//
// A block's search text must stand in the source exactly once. White space at line ends is ignored, for models do
// not see it; everything else must agree to the letter, for a near miss applied is worse than one reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct SearchReplace {
  std::string search;   // whole lines
  std::string replace;  // whole lines; empty deletes
};

// Where whole lines stand in a source, blank lines around them left out.
struct LinesFound {
  size_t times = 0;           // how often; 0 also for a text without a line
  size_t begin = 0, end = 0;  // of the first time, newline included
  std::string near;           // times is 0: what the source has instead
};
LinesFound FindLines(std::string_view source, std::string_view lines);

struct EditResult {
  std::string source;   // empty when a block did not apply
  std::string problem;  // search_not_found | search_not_unique | search_empty | edits_overlap; empty: applied
  std::string detail;   // which block, and what the source has instead
};

// All blocks refer to the source as it was given; they apply together or not at all.
EditResult ApplySearchReplace(std::string_view source, const std::vector<SearchReplace>& blocks);

}  // namespace hone
