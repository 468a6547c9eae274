// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of tables on terminals of every width. A terminal that is too narrow for a row breaks it anywhere, within a
// number too; these rows give up columns and lines instead. A width of 0 means that no terminal is written to: a file
// or a pipe, where a row may be as long as it likes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// `written` on one line of at most `columns` characters, the last of them "…" where there was more; made visible first
// (base/visible_text.h).
std::string ClippedLine(std::string_view written, size_t columns);

// Pieces side by side, two spaces between them, a new line where the next would not fit. Each line begins with `indent`
// spaces and ends with a line end. A piece is never broken, but one that is wider than a line is clipped. Empty ones
// are left out.
std::string Flow(const std::vector<std::string>& pieces, size_t indent, int columns);

// Sentences: lines that are too long for the terminal are broken at spaces, and go on below their first word. A word
// that is longer than a line stays whole, for it is mostly a path to be copied.
std::string Wrapped(std::string_view text, int columns);

// What was tried and what came of it: a number or nothing, words, a verdict, a figure, and two remarks that may be
// empty, of which the second is put on a line of its own where the terminal is narrow. No line end behind the last
// line.
struct OutcomeRow {
  std::string number;  // at most four characters
  std::string label;   // an idea, a binding: clipped to what room there is
  std::string verdict;
  std::string figure;  // "1.031x"
  std::string fate;    // "kept"
  std::string so_far;  // "1.204x so far, modelled"
};
std::string RowText(const OutcomeRow& row, int columns);

}  // namespace hone
