// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats table rows for terminals of every width. A terminal that is too narrow breaks a row anywhere, even inside a
// number; these rows drop columns and use more lines instead. A width of 0 means that the output is a file or a pipe,
// where rows may have any length.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Returns `written` on one line of at most `columns` characters, with "…" at the end if cut; made visible first
// (base/visible_text.h).
std::string ClippedLine(std::string_view written, size_t columns);

// Puts pieces side by side, two spaces between them, with a new line where the next would not fit. Each line begins
// with `indent` spaces and ends with a line end. A piece is never broken, but clipped if wider than a line. Empty
// pieces are omitted.
std::string Flow(const std::vector<std::string>& pieces, size_t indent, int columns);

// Wraps sentences at spaces, continuing below their first word. A word that is longer than a line stays whole, because
// it is mostly a path to be copied.
std::string Wrapped(std::string_view text, int columns);

// A row about an attempt and its outcome: a number or nothing, words, a verdict, a figure, and two remarks that may be
// empty; on a narrow terminal the second gets its own line. No line end after the last line.
struct OutcomeRow {
  std::string number;  // at most four characters
  std::string label;   // an idea or a binding: clipped to the available width
  std::string verdict;
  std::string figure;  // "1.031x"
  std::string fate;    // "kept"
  std::string so_far;  // "1.204x so far, modelled"
};
std::string RowText(const OutcomeRow& row, int columns);

}  // namespace hone
