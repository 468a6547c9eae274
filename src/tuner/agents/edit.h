// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Applies edits anchored to content: search-and-replace blocks, for a source whose lines the writer never numbers.
//
// A block's search text must occur in the source exactly once. White space at line ends is ignored, because models do
// not see it; everything else must match exactly, because a wrongly applied near miss is worse than a reported one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct SearchReplace {
  std::string search;   // whole lines
  std::string replace;  // whole lines; empty deletes
};

// Describes where whole lines stand in a source. Blank lines around them are ignored.
struct LinesFound {
  size_t times = 0;           // number of occurrences; 0 also for a text without a line
  size_t begin = 0, end = 0;  // bytes of the first occurrence in the source, newline included
  std::string near;           // if times is 0: similar lines of the source
};
// Finds the whole lines `lines` in the source.
LinesFound FindLines(std::string_view source, std::string_view lines);

struct EditResult {
  std::string source;   // empty when a block did not apply
  std::string problem;  // search_not_found | search_not_unique | search_empty | edits_overlap; empty: applied
  std::string detail;   // which block, and similar lines of the source
};

// Applies all blocks to the source as given, or none of them.
EditResult ApplySearchReplace(std::string_view source, const std::vector<SearchReplace>& blocks);

}  // namespace hone
