// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks and repairs text that should be UTF-8 and may not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Returns the number of bytes of the well-formed character at the start of `text`, which must not be empty. Returns 0
// if `text` starts with a malformed one, and stores the number of its bytes in `bad` (the maximal run that RepairUtf8
// replaces).
size_t Utf8CharacterLength(std::string_view text, size_t& bad);

// Returns kInvalidArgument if `text`, named `file`, is not UTF-8, as JSON requires: "x.cu:3: the byte 0xe9 …", with a
// remedy.
Status CheckUtf8(std::string_view text, std::string_view file);

// Returns the text with every maximal run of bytes that are not UTF-8 replaced by U+FFFD (Unicode 15, section 3.9,
// "substitution of maximal subparts"): overlong forms, surrogates, and values beyond U+10FFFF included.
std::string RepairUtf8(std::string_view text);

// Returns the JSON text with every \u escape of one half of a surrogate pair replaced by \ufffd, since JSON readers
// refuse lone halves. Servers that cut a reply between the halves send them.
std::string RepairSurrogateEscapes(std::string_view json);

// Returns at most `bytes` bytes of UTF-8 text, cut at a character's boundary, with "…" after them when cut.
std::string ClipText(std::string_view text, size_t bytes);

}  // namespace hone
