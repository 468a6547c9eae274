// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that claims to be UTF-8 and may not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// The bytes of the well-formed character that `text`, which is not empty, begins with. Gives 0 where there is none, and
// then `bad` is the number of bytes that belong to the fault (RepairUtf8's maximal run).
size_t Utf8CharacterLength(std::string_view text, size_t& bad);

// kInvalidArgument where `text` is no UTF-8, which is what JSON holds: "x.cu:3: the byte 0xe9 …", with what to do. `file`
// names it.
Status CheckUtf8(std::string_view text, std::string_view file);

// The same text with every maximal run of bytes that is no UTF-8 replaced by U+FFFD (Unicode 15, section 3.9,
// "substitution of maximal subparts"): overlong forms, surrogates, and values beyond U+10FFFF included.
std::string RepairUtf8(std::string_view text);

// The same JSON text with every \u escape of one half of a surrogate pair replaced by \ufffd, which JSON readers
// refuse otherwise. Servers that cut a reply between the halves send such.
std::string RepairSurrogateEscapes(std::string_view json);

}  // namespace hone
