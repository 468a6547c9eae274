// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/base64.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Base64, EncodesTheExamplesOfTheStandard) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    const Result<std::string> back = DecodeBase64(text);
    ASSERT_TRUE(back.ok()) << text;
    EXPECT_EQ(*back, bytes);
  }
}

TEST(Base64, BytesOfEveryValueComeBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<std::string> back = DecodeBase64(EncodeBase64(bytes.substr(0, size)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, bytes.substr(0, size));
  }
}

TEST(Base64, RefusesWhatNoEncoderWrites) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm 9", "Zg==Zg==", "Zm9-", "Zm\x80v"}) {
    EXPECT_FALSE(DecodeBase64(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hone
