// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text/json_fields.h"
#include "base/text/json_numbers.h"

namespace hone {
namespace {

std::string Nested(int levels, const std::string& inside = "") {
  return std::string(static_cast<size_t>(levels), '[') + inside + std::string(static_cast<size_t>(levels), ']');
}

TEST(JsonText, ReadsAsDeepAsTheBoundAndNoDeeper) {
  EXPECT_TRUE(ReadJsonText(Nested(kMaxJsonDepth)).is_array());
  EXPECT_TRUE(ReadJsonText(Nested(kMaxJsonDepth + 1)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth), "x").ok());
  EXPECT_NE(ParseJson(Nested(kMaxJsonDepth + 1), "x").status().message().find("x is nested more than 128 levels deep"),
            std::string::npos);
}

TEST(JsonText, MillionsOfBracketsEndNothing) {
  for (const std::string opening : {"[", "{\"a\":", "[[],", "{\"a\":[", "[[[[[\"\\\"\","}) {
    std::string text;
    while (text.size() < (4u << 20)) text += opening;
    EXPECT_TRUE(ReadJsonText(text).is_discarded()) << opening;
    EXPECT_FALSE(ParseJson(text, "x").ok()) << opening;
  }
}

TEST(JsonText, BracketsInStringsAreText) {
  const std::string text = '"' + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + '"';
  EXPECT_TRUE(ReadJsonText("[" + text + "," + text + "]").is_array());
}

TEST(JsonText, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "]", "]]]]", "{", "nul", "\"\xff\"", "[1e99999]", "\"\\"}) EXPECT_TRUE(ReadJsonText(text).is_discarded()) << text;
}

TEST(JsonNumbers, AreFoundWhereNoIntegerCanHoldThem) {
  const auto holds_float = [](const char* text) { return HoldsFloatFrom(ReadJsonText(text), 0x1p63); };
  for (const char* text : {"9223372036854775808.0", "[1, {\"a\": -1e19}]", "92233720368547758071"})
    EXPECT_TRUE(holds_float(text)) << text;
  for (const char* text : {"9223372036854775807", "18446744073709551615", "[1e18, {\"a\": 0.5}]", "\"1e99\"", "null"})
    EXPECT_FALSE(holds_float(text)) << text;
  EXPECT_TRUE(HoldsFloatFrom(ReadJsonText("[0.0]"), 0));
}

}  // namespace
}  // namespace hone
