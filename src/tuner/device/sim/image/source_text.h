// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes comments and the contents of literals out of C++ text before preprocessing.
//
// The result serves to judge directives, so it must agree with what g++ reads wherever it is given: what looks like a
// comment here must be one there. Text that could be read in two ways has no result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::sim {

struct JoinedText {
  std::string text;              // spliced lines joined, as directives see them
  std::vector<size_t> splices;   // positions in `text` at which lines were joined, in ascending order
};

// Joins lines that end in a backslash, or in a backslash and blanks, as g++ does, and says where.
JoinedText JoinSplicedLines(std::string_view source);

// Returns the text with blanks in place of comments and of what stands between the quotes of literals, except in lines
// with #include, which keep their names. nullopt: the text has something that g++ might read in another way, such as a
// quote that is not closed on its line, a raw string with a spliced line, or a character outside of ASCII that is
// neither in a comment nor in a literal.
std::optional<std::string> WithoutCommentsAndLiterals(const JoinedText& joined);

}  // namespace hone::sim
