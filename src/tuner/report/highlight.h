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
std::vector<std::string> HighlightCuda(std::string_view text);

// The difference of two kernels as a <pre>, both sides coloured; `context` < 0 shows every line.
std::string HighlightedDiff(std::string_view before, std::string_view after, int context = -1);

}  // namespace hone
