// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts untrusted text into HTML and XML: reports of runs, results in JUnit's format.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Escapes `text` for a place between tags or in a quoted attribute: & < > " ' become entities, and characters that are
// invisible or reorder the text around them become escapes (visible_text.h): "\u202e". The carriage return of a Windows
// line end is left out. The result is well-formed UTF-8 without the characters that XML 1.0 forbids, whatever `text`
// is.
std::string EscapeMarkup(std::string_view text);

}  // namespace hone
