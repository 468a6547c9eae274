// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes untrusted text safe to print: a model's idea, a task's summary, a compiler's message, a file's name. A terminal
// obeys escape sequences in what it prints (a title, a colour, a cleared screen, text typed for the user), and
// invisible characters can reorder a line of code so that it reads as another ("Trojan Source", Boucher and Anderson
// 2021). All such text passes through these functions before it is printed; apps/common/standard_output.h does so for
// both programs.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns the text with every character that a terminal would obey or a reader would not see replaced by an escape:
//   control characters but line end and tab    "\x1b"; the carriage return of a Windows line end stays
//   bytes that are not UTF-8                   "\xff"
//   DEL, U+0080 to U+009F, and every other     "\u009b", "\u202e"; beyond U+FFFF two halves, as JSON writes them
//   format character (Unicode's Cf, Zl, Zp),
//   and the noncharacters U+FFFE and U+FFFF
// Everything else stays as it is, in any script. Applying the function twice changes nothing more, and a JSON text
// keeps its meaning: JSON itself escapes control characters, and reads the rest back.
std::string VisibleText(std::string_view text);

// Returns the text of VisibleText, in which line ends and tabs become "\x0a", "\x0d" and "\x09" too, for text that
// belongs on one line.
std::string VisibleLine(std::string_view text);

}  // namespace hone
