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

// Returns `line` on one line of at most `columns` characters, with "…" at the end if it is cut. Control characters
// are replaced first (base/text/visible_text.h).
std::string ClippedLine(std::string_view line, size_t columns);

// Returns the pieces side by side, two spaces apart; a piece that does not fit begins a new line. Each line begins with
// `indent` spaces and ends with a newline. A piece is never broken, but is cut if it is wider than a line. Empty pieces
// are omitted.
std::string FlowPieces(const std::vector<std::string>& pieces, size_t indent, int columns);

// Returns the lines of `text` wrapped at spaces; what is wrapped has its line's indentation. A word that is longer than
// a line stays whole, because it is mostly a path that users copy.
std::string WrapText(std::string_view text, int columns);

// A row about an attempt and its outcome. Every field but the label may be empty.
struct OutcomeRow {
  std::string number;  // at most four characters
  std::string label;   // an idea or a binding: clipped to the available width
  std::string verdict;
  std::string figure;  // "1.031x"
  std::string fate;    // "kept"
  std::string so_far;  // "1.204x so far, modelled"
};
// Returns the row on one line, on a narrow terminal on up to three, without a newline at the end.
std::string RowText(const OutcomeRow& row, int columns);

}  // namespace hone
