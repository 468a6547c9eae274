// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes text that somebody else wrote safe to print: a model's idea, a task's summary, a compiler's message, a file's
// name. A terminal obeys escape sequences in what it prints (a title, a colour, a cleared screen, text typed for the
// user), and characters that nobody sees can reorder a line of code so that it reads as another ("Trojan Source",
// Boucher and Anderson 2021). Whoever prints passes such text through here; apps/common/standard_output.h does it for
// both programs.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// The same text with every character written as an escape that a terminal would obey or that a reader would not see:
//   control characters but line end and tab    "\x1b"; the carriage return of a Windows line end stays
//   bytes that are no UTF-8                    "\xff"
//   DEL, U+0080 to U+009F, and every other     "\u009b", "\u202e"; beyond U+FFFF two halves, as JSON writes them
//   format character (Unicode's Cf, Zl, Zp),
//   and the noncharacters U+FFFE and U+FFFF
// Everything else stays as it is, whatever its script. A text that was made visible stays the same when it is made
// visible again, and a JSON text keeps its meaning: JSON itself escapes control characters, and reads the rest back.
std::string VisibleText(std::string_view text);

// The same for text that belongs on one line: line ends and tabs become "\x0a", "\x0d" and "\x09" too.
std::string VisibleLine(std::string_view text);

}  // namespace hone
