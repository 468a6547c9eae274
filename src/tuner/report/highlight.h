// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA source as HTML with its syntax coloured, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// One HTML text a line of `text`, without newlines: escaped, with <b> keywords and types, <i> comments, <u> strings and
// numbers, <s> directives (one-letter tags keep a thousand kernels small; the page's style gives them their colours).
// The launch plan, which is TOML in the comment that begins with "hone", is coloured as TOML: <b> keys, <s> tables.
std::vector<std::string> HighlightCuda(std::string_view text);

// A kernel as a <pre> with line numbers, which the page draws and a copied text does not hold.
std::string HighlightedSource(std::string_view text);

// The difference of two kernels as a <pre>, both sides coloured, each line with its number in `before` and in `after`;
// `context` < 0 shows every line.
std::string HighlightedDiff(std::string_view before, std::string_view after, int context = -1);

}  // namespace hone
