// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that text which is not UTF-8 is reported by file and line. (Repair is tested in the models' chat_wire_test.cc.)
#include "base/text/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(CheckUtf8, NamesTheFileAndTheLineOfTheFirstByteThatIsNone) {
  EXPECT_TRUE(CheckUtf8("", "x.cu").ok());
  EXPECT_TRUE(CheckUtf8("// gr\u00f6\u00dfer\n", "x.cu").ok());
  const Status latin = CheckUtf8("a\n\nb caf\xe9\n\xff", "x.cu");
  EXPECT_EQ(latin.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(latin.message(), HasSubstr("x.cu:3: the byte 0xe9"));
  EXPECT_THAT(latin.message(), HasSubstr("iconv"));
  EXPECT_THAT(CheckUtf8("\xff\xfe/\0", "x.cu").message(), HasSubstr("x.cu:1: the byte 0xff")) << "UTF-16";
  EXPECT_FALSE(CheckUtf8("\xe2\x82", "x.cu").ok()) << "cut within a character";
}

}  // namespace
}  // namespace hone
