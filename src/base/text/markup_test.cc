// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/markup.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(EscapeMarkup, LeavesNoMarkupAndNoBrokenText) {
  EXPECT_EQ(EscapeMarkup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(EscapeMarkup("gr\xc3\xb6\xc3\x9f"
                         "er \xff\x01."),
            "gr\xc3\xb6\xc3\x9f"
            "er \\xff\\x01.");
  EXPECT_EQ(EscapeMarkup("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(EscapeMarkup("a\u202eb\r\n\tc"), "a\\u202eb\n\tc");
}

TEST(EscapeMarkup, LeavesNothingThatXmlForbids) {
  EXPECT_EQ(EscapeMarkup(std::string_view("a\0b\x1b\rc", 6)), "a\\x00b\\x1b\\x0dc");
  EXPECT_EQ(EscapeMarkup("\xef\xbf\xbe\xef\xbf\xbf"), "\\ufffe\\uffff");  // noncharacters
  EXPECT_EQ(EscapeMarkup("\xed\xa0\x80"), "\\xed\\xa0\\x80");            // half of a surrogate pair
}

}  // namespace
}  // namespace hone
