// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the headers of a plan's include set, both for the compiler that judges a candidate and for the header that a
// winner is exported as.
#pragma once

#include <span>
#include <string_view>

namespace hone {

// Returns headers as written in an #include, such as "<mma.h>", in order, besides those that every candidate has.
// `include_set`: "" (none), "full" or "cute"; none for another word.
std::span<const std::string_view> IncludeSetHeaders(std::string_view include_set);

}  // namespace hone
