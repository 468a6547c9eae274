// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts text that somebody else wrote into HTML and XML: reports of runs, results in JUnit's format.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// `text` for a place between tags or in a quoted attribute: & < > " ' become entities, and what a reader would not see,
// or what would reorder the text around it, is written as an escape (visible_text.h): "\u202e". The carriage return of a
// Windows line end is left out. What comes back is
// well-formed UTF-8 without the characters that XML 1.0 forbids, whatever `text` is.
std::string EscapeMarkup(std::string_view text);

}  // namespace hone
