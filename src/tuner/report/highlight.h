// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts CUDA source to HTML with coloured syntax, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Returns one HTML text per line of `text`, escaped and without newlines. Tags mark keywords and types (<b>), comments
// (<i>), strings and numbers (<u>), and directives (<s>). They have one letter to keep pages of a thousand kernels
// small; the page's style defines their colours. The launch plan, which is TOML in the comment that begins with "hone",
// is marked as TOML: keys (<b>), tables (<s>).
std::vector<std::string> HighlightCuda(std::string_view text);

// Returns a kernel as a <pre>. The page's style draws line numbers, which are not copied with the text.
std::string HighlightedSource(std::string_view text);

// Returns the difference of two kernels as a coloured <pre>; each line has its numbers in `before` and `after`.
// `context`: number of unchanged lines shown around each change; below 0, all.
std::string HighlightedDiff(std::string_view before, std::string_view after, int context = -1);

}  // namespace hone
