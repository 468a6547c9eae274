// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts CUDA source to HTML with coloured syntax, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Returns one HTML text per line of `text`, without newlines: escaped, with <b> keywords and types, <i> comments, <u>
// strings and numbers, <s> directives (one-letter tags keep a thousand kernels small; the page's style defines their
// colours). The launch plan, TOML in the comment that begins with "hone", is coloured as TOML: <b> keys, <s> tables.
std::vector<std::string> HighlightCuda(std::string_view text);

// Returns a kernel as a <pre> with line numbers, which are drawn by the page and not copied with the text.
std::string HighlightedSource(std::string_view text);

// Returns the difference of two kernels as a <pre>, both sides coloured, each line with its numbers in `before` and
// `after`; `context` < 0 shows every line.
std::string HighlightedDiff(std::string_view before, std::string_view after, int context = -1);

}  // namespace hone
