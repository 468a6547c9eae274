// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that messages are read back as they were written, and that malformed ones are refused: a stranger's kernel may
// have written what the child sends.
#include "tuner/device/sim/sim_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::sim {
namespace {

using ::testing::HasSubstr;

// Returns `text` with `old_text`, which must be in it, replaced.
std::string Replaced(std::string text, const std::string& old_text, const std::string& new_text) {
  const size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  if (at != std::string::npos) text.replace(at, old_text.size(), new_text);
  return text;
}

TEST(SimProtocol, ALaunchHoldsIntegersOnly) {
  LaunchMessage message;
  message.kernel_symbol = "k";
  message.argument_bytes = {"12345678", "1234"};
  message.spec.block = {32, 1, 1};
  message.spec.fill_key = ~uint64_t{0};
  message.spec.displacement = ~uint32_t{0};
  message.spec.before_wait = true;
  const std::string text = EncodeLaunch(message), blob = EncodeArguments(message);
  const Result<LaunchMessage> read = DecodeLaunch(text, blob);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->spec.block, message.spec.block);
  EXPECT_EQ(read->spec.fill_key, message.spec.fill_key);
  EXPECT_EQ(read->spec.displacement, message.spec.displacement);
  EXPECT_TRUE(read->spec.before_wait);
  EXPECT_EQ(read->argument_bytes, message.argument_bytes);
  // Found by fuzzing: the conversion of a number that no integer of 64 bits holds is undefined.
  for (const char* number : {"19223372036854775807", "1.5", "-1e300"}) {
    const auto refused =
        DecodeLaunch(Replaced(text, "\"block\":[32,", std::string("\"block\":[") + number + ","), blob);
    ASSERT_FALSE(refused.ok()) << number;
    EXPECT_EQ(refused.status().message(), "a launch message is malformed: a number is no integer of 64 bits");
  }
  EXPECT_FALSE(DecodeLaunch(text, "1234").ok());
}

TEST(SimProtocol, AnAnswerToALaunchIsReadBackAndNumbersThatNoIntegerHoldsAreRefused) {
  LaunchAnswer answer;
  answer.report.first_writes = {{7, 8}};
  answer.report.findings.push_back({"shared_race", "here", {1, 2}, true});
  answer.report.counters.range_read = {1e300};
  answer.report.sites.push_back({.pc = 3, .bytes = 4, .accesses = 1e300});
  answer.signal = 11;
  const std::string text = EncodeAnswer(answer);
  const Result<LaunchAnswer> read = DecodeAnswer(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(EncodeAnswer(*read), text);
  EXPECT_EQ(read->report.sites[0].accesses, 1e300) << "a count of accesses may be any number";
  for (const auto& [field, damaged] :
       std::vector<std::pair<std::string, std::string>>{{"\"signal\":11", "\"signal\":1e20"},
                                                        {"\"signal_pc\":0", "\"signal_pc\":1e20"},
                                                        {"\"end\":0", "\"end\":0.5"},
                                                        {"\"first_writes\":[[7,", "\"first_writes\":[[1e20,"},
                                                        {"[1,2],true", "[1,-1e20],true"},
                                                        {"\"sites\":[[3,", "\"sites\":[[1e20,"},
                                                        {"false,4,", "false,1e20,"}}) {
    const auto refused = DecodeAnswer(Replaced(text, field, damaged));
    ASSERT_FALSE(refused.ok()) << damaged;
    EXPECT_THAT(refused.status().message(), HasSubstr("malformed answer: a number is no integer of 64 bits"))
        << damaged;
  }
}

TEST(SimProtocol, AnAnswerToALoadSaysWhyTheImageIsRefused) {
  const Result<LoadAnswer> loaded = DecodeLoadAnswer(R"({"ok":true,"writable_bytes":64})");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->writable_bytes, 64);
  EXPECT_EQ(loaded->refused, "");
  EXPECT_EQ(DecodeLoadAnswer(R"({"ok":false,"error":"no such symbol"})")->refused, "no such symbol");
  EXPECT_EQ(DecodeLoadAnswer(R"({"ok":false})")->refused, "the image does not load");
  EXPECT_EQ(DecodeLoadAnswer(R"({"signal":11,"pc":3})")->refused, "a static initialiser crashed");
  for (const char* malformed : {"[]", "{}", "{\"ok\":1}", "{\"ok\":true}", R"({"ok":true,"writable_bytes":1e20})",
                                R"({"ok":false,"error":5})"}) {
    EXPECT_THAT(DecodeLoadAnswer(malformed).status().message(), HasSubstr("malformed answer")) << malformed;
  }
}

}  // namespace
}  // namespace hone::sim
