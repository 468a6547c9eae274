// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that no row is wider than its terminal, and that no number is split between two lines.
#include "tuner/report/terminal_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ClippedLine, CountsCharactersAndSaysThatThereWasMore) {
  EXPECT_EQ(ClippedLine("größer", 6), "größer");
  EXPECT_EQ(ClippedLine("größer", 5), "größ…");
  EXPECT_EQ(ClippedLine("a\nb\x1b", 20), "a\\x0ab\\x1b");
  EXPECT_EQ(ClippedLine("", 3), "");
}

TEST(Flow, BreaksBetweenPiecesOnly) {
  EXPECT_EQ(FlowPieces({"one", "", "two", "three"}, 2, 14), "  one  two\n  three\n");
  EXPECT_EQ(FlowPieces({"one", "two"}, 2, 0), "  one  two\n");
  EXPECT_EQ(FlowPieces({"", ""}, 2, 40), "");
}

TEST(Wrapped, BreaksSentencesAtSpacesAndLeavesPathsWhole) {
  EXPECT_EQ(WrapText("  one two three four\nfive\n", 21), "  one two three four\nfive\n");
  EXPECT_EQ(WrapText("  one two three four five six\n", 21), "  one two three four\n  five six\n");
  EXPECT_EQ(WrapText("see /a/very/long/path/that/nobody/breaks now\n", 21),
            "see\n/a/very/long/path/that/nobody/breaks\nnow\n");
  EXPECT_EQ(WrapText("no end, and as long as it likes", 0), "no end, and as long as it likes");
}

TEST(RowText, FitsEveryTerminalAndKeepsItsFigures) {
  const OutcomeRow row{"12",           "four floats a load, and the results by streaming stores",
                       "wrong_output", "1.0312x",
                       "kept",         "1.2041x so far, modelled"};
  for (int columns = 21; columns < 140; ++columns) {
    const std::string text = RowText(row, columns);
    EXPECT_THAT(text, AllOf(HasSubstr("12  four"), HasSubstr("wrong_output"), HasSubstr("1.0312x"), HasSubstr("kept")));
    if (columns > 34) {
      EXPECT_THAT(text, HasSubstr("1.2041x so far, modelled"));
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      int width = 0;
      for (const char c : line) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      EXPECT_LT(width, columns) << text;
    }
  }
  EXPECT_EQ(RowText(row, 0), fmt::format("{:>4}  {:<30} {:<18} {:>8}  {:<9} {}", "12", "four floats a load, and the r…",
                                         "wrong_output", "1.0312x", "kept", "1.2041x so far, modelled"));
  EXPECT_EQ(RowText({"", "BLOCK=64", "ok", "0.998x", "", ""}, 0),
            "      BLOCK=64                       ok                   0.998x");
}

}  // namespace
}  // namespace hone
