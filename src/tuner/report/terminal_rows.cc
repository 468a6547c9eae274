// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/terminal_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/visible_text.h"

namespace hone {
namespace {

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string Trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string ClippedLine(std::string_view line, size_t columns) {
  std::string text = VisibleLine(line);
  if (DisplayWidth(text) <= columns) return text;
  size_t end = 0;
  for (size_t used_columns = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && ++used_columns >= columns) break;
  }
  return text.substr(0, end) + "…";
}

std::string FlowPieces(const std::vector<std::string>& pieces, size_t indent, int columns) {
  // The last column stays empty, because some terminals wrap when it is written.
  const size_t room =
      columns == 0 ? 1'000'000 : std::max<size_t>(static_cast<size_t>(std::max(columns - 1, 0)), indent + 8);
  std::string text, line;
  for (const std::string& written : pieces) {
    const std::string piece = ClippedLine(written, room - indent);
    if (piece.empty()) continue;
    if (!line.empty() && DisplayWidth(line) + 2 + DisplayWidth(piece) > room) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? std::string(indent, ' ') : "  ") + piece;
  }
  return line.empty() ? text : text + line + "\n";
}

std::string WrapText(std::string_view text, int columns) {
  if (columns == 0) return std::string(text);
  const size_t room = static_cast<size_t>(std::max(columns - 1, 20));
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    std::string row(indent, ' ');
    if (DisplayWidth(line) + indent <= room) {
      out += row.append(line) + "\n";
      continue;
    }
    bool first = true;
    while (!line.empty()) {
      const size_t space = std::min(line.find(' '), line.size());
      const std::string_view word = line.substr(0, space);
      line.remove_prefix(std::min(space + 1, line.size()));
      if (!first && DisplayWidth(row) + 1 + DisplayWidth(word) > room) {
        out += row + "\n";
        row = std::string(indent, ' ');
        first = true;
      }
      row += (first ? "" : " ") + std::string(word);
      first = false;
    }
    out += row + "\n";
  }
  return out;
}

std::string RowText(const OutcomeRow& row, int columns) {
  constexpr int kWide = 102;        // columns of a row with all fields on one line
  constexpr int kBesideLabel = 42;  // columns of the fields beside the label, if so_far has a line of its own
  constexpr int kLeastLabel = 14;
  const std::string verdict = VisibleLine(row.verdict);
  if (columns == 0 || columns >= kWide) {
    return Trimmed(fmt::format("{:>4}  {:<30} {:<18} {:>8}  {:<9} {}", row.number, ClippedLine(row.label, 30), verdict,
                               row.figure, row.fate, row.so_far));
  }
  std::string text;
  if (columns - kBesideLabel >= kLeastLabel) {
    const int width = std::min(30, columns - kBesideLabel);
    text =
        Trimmed(fmt::format("{:>4}  {:<{}} {:<18} {:>8}  {}", row.number,
                            ClippedLine(row.label, static_cast<size_t>(width)), width, verdict, row.figure, row.fate)) +
        "\n" + FlowPieces({row.so_far}, 8, columns);
  } else {
    text = FlowPieces({fmt::format("{:>4}  {}", row.number, row.label)}, 0, columns) +
           FlowPieces({verdict, row.figure, row.fate, row.so_far}, 8, columns);
  }
  text.pop_back();
  return text;
}

}  // namespace hone
