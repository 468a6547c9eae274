// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A source as its lines, as models see them: without the white space at their ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct SourceLine {
  std::string_view text;      // refers to the source
  size_t begin = 0, end = 0;  // in the source, newline included
};
std::vector<SourceLine> SplitLines(std::string_view source);

// Without the blanks it begins with.
std::string_view WithoutIndent(std::string_view line);
// Its first 100 bytes, for a message.
std::string LineExcerpt(std::string_view line);

}  // namespace hone
