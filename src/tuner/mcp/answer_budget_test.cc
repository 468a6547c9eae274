// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/answer_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/utf8.h"

namespace hone::mcp {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AnswerBudget, LeavesWhatFitsAsItIs) {
  EXPECT_EQ(FitText("two\nlines\n", "hone://x", 100), "two\nlines\n");
  std::vector<std::string> left_out;
  const Json value = {{"a", std::string(500, 'x')}, {"b", {1, 2, 3, 4}}};
  EXPECT_EQ(FitJson(value, {"a"}, left_out, 1000), value);
  EXPECT_THAT(left_out, IsEmpty());
}

TEST(AnswerBudget, CutsTextBetweenLinesAndCharactersAndSaysWhereTheRestIs) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "line " + std::to_string(i) + "\n";
  const std::string cut = FitText(lines, "hone://x", 200);
  EXPECT_LT(cut.size(), 260u);
  EXPECT_THAT(cut, HasSubstr("\n[593 bytes more: read hone://x]"));
  std::string one_line;
  for (int i = 0; i < 200; ++i) one_line += "\u00e9";
  EXPECT_TRUE(CheckUtf8(FitText(one_line, "", 101), "x").ok());
  EXPECT_TRUE(CheckUtf8(FitText("bad \xff byte", "", 101), "x").ok());
}

TEST(AnswerBudget, CutsTheLargestPartsAndNamesThem) {
  Json cases = Json::array();
  for (int i = 0; i < 400; ++i) cases.push_back({{"dims", {{"n", i}}}, {"time_us", 1.5}});
  const Json value = {{"verdict", "ok"},
                      {"cases", cases},
                      {"log", std::string(5000, 'l')},
                      {"profile", {{"sass", Json(std::vector<int>(3000, 7))}, {"source", "cupti"}}}};
  std::vector<std::string> left_out;
  const Json fitted = FitJson(value, {"profile.sass", "log", "no.such.place"}, left_out, 4000);
  EXPECT_LE(fitted.dump().size(), 4000u);
  EXPECT_EQ(fitted.at("verdict"), "ok");
  EXPECT_EQ(fitted.at("profile").at("source"), "cupti");
  EXPECT_EQ(fitted.at("profile").at("sass"), Json::array());
  EXPECT_EQ(fitted.at("cases").at(0), cases.at(0));
  for (const char* place : {"profile.sass", "log", "cases"}) EXPECT_THAT(left_out, Contains(place));
}

TEST(AnswerBudget, CutsTextsWithinShortListsToo) {
  const Json value = {{"points", {{{"detail", std::string(9000, 'd')}}, {{"detail", "short"}}}}};
  std::vector<std::string> left_out;
  const Json fitted = FitJson(value, {}, left_out, 3000);
  EXPECT_LE(fitted.dump().size(), 3000u);
  EXPECT_EQ(fitted.at("points").size(), 2u);
  EXPECT_THAT(left_out, Contains("points[0].detail"));
}

}  // namespace
}  // namespace hone::mcp
