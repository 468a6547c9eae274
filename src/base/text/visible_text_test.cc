// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that no character remains that a terminal would obey or a reader would not see, and that nothing else changes.
#include "base/text/visible_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

TEST(VisibleText, EscapesWhatATerminalObeys) {
  EXPECT_EQ(VisibleText("\x1b]0;your title\x07"), "\\x1b]0;your title\\x07");
  EXPECT_EQ(VisibleText("a\rb\bc\x7f"), "a\\x0db\\x08c\\u007f");
  EXPECT_EQ(VisibleText(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(VisibleText("\xc2\x9b"
                        "2J"),
            "\\u009b2J")
      << "the one-character form of ESC [";
  EXPECT_EQ(VisibleText("\x9b"
                        "2J"),
            "\\x9b2J")
      << "the same as a lone byte, which terminals without UTF-8 obey";
}

TEST(VisibleText, EscapesWhatAReaderDoesNotSee) {
  EXPECT_EQ(VisibleText("\u202e\u2066\u2069\u200b\u200f\ufeff\u00ad"),
            "\\u202e\\u2066\\u2069\\u200b\\u200f\\ufeff\\u00ad");
  EXPECT_EQ(VisibleText("\u2028\u2029"), "\\u2028\\u2029") << "line ends that no line counter counts";
  EXPECT_EQ(VisibleText("\U000e0041"), "\\udb40\\udc41") << "letters of the tags, which nothing shows";
}

TEST(VisibleText, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(VisibleText("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(VisibleText("\xe2\x82"), "\\xe2\\x82") << "cut within a character";
  EXPECT_EQ(VisibleText("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80") << "an overlong form and half a pair";
}

TEST(VisibleText, LeavesEverythingElse) {
  const std::string text = "{\n\tint größe;  // \u05d0\u05d1 \u65e5\u672c \U0001f680 \\n \\x1b\r\n}\n";
  EXPECT_EQ(VisibleText(text), text);
  EXPECT_EQ(VisibleText(""), "");
  const std::string once = VisibleText("\x1b[31m\u202e\xff");
  EXPECT_EQ(VisibleText(once), once);
}

TEST(VisibleText, JsonKeepsItsMeaning) {
  const nlohmann::json json = {{"idea", "\x1b]0;t\x07 \u202e\U000e0041 \u009b \x7f \\ größer\n"}};
  const std::string shown = VisibleText(json.dump(2));
  EXPECT_EQ(nlohmann::json::parse(shown), json);
  EXPECT_EQ(shown.find("\u202e"), std::string::npos);
}

TEST(VisibleLine, IsOneLine) {
  EXPECT_EQ(VisibleLine("first\r\n\tsecond \u00e9"), "first\\x0d\\x0a\\x09second \u00e9");
}

}  // namespace
}  // namespace hone
