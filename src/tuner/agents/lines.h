// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Splits a source into lines as models see them: without white space at line ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct SourceLine {
  std::string_view text;      // refers to the source
  size_t begin = 0, end = 0;  // bytes of the line in the source, newline included
};
std::vector<SourceLine> SplitLines(std::string_view source);

// Removes leading blanks.
std::string_view WithoutIndent(std::string_view line);
// Returns the first 100 bytes of a line, for a message.
std::string LineExcerpt(std::string_view line);

}  // namespace hone
