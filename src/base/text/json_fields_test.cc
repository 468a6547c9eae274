// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests JSON fields: exact round trips of values that JSON lacks, and errors that name the place.
#include "base/text/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(JsonFields, NumbersThatJsonLacksRoundTrip) {
  const double infinity = std::numeric_limits<double>::infinity();
  const json object = {{"nan", NumberToJson(NAN)},
                       {"inf", NumberToJson(infinity)},
                       {"minus", NumberToJson(-infinity)},
                       {"tiny", NumberToJson(5e-324)},
                       {"seed", SeedToJson(0xfedcba9876543210ULL)}};
  const json back = json::parse(object.dump());
  JsonFields fields(back, "o");
  double nan = 0, inf = 0, minus = 0, tiny = 0;
  uint64_t seed = 0;
  fields.Read("nan", nan);
  fields.Read("inf", inf);
  fields.Read("minus", minus);
  fields.Read("tiny", tiny);
  fields.Read("seed", seed);
  ASSERT_TRUE(fields.ok()) << fields.status().message();
  EXPECT_TRUE(std::isnan(nan));
  EXPECT_EQ(inf, infinity);
  EXPECT_EQ(minus, -infinity);
  EXPECT_EQ(tiny, 5e-324);
  EXPECT_EQ(seed, 0xfedcba9876543210ULL);
}

TEST(JsonFields, ReadsContainersAndLeavesAbsentOnesAlone) {
  const json object = json::parse(R"({"list": [1, 2], "map": {"a": true}, "null": null, "optional": 1.5})");
  JsonFields fields(object, "o");
  std::vector<int64_t> list;
  std::map<std::string, bool> map;
  int kept = 7;
  std::optional<double> optional, absent;
  fields.Read("list", list);
  fields.Read("map", map);
  fields.Read("null", kept);
  fields.Read("optional", optional);
  fields.Read("absent", absent);
  ASSERT_TRUE(fields.ok());
  EXPECT_THAT(list, ElementsAre(1, 2));
  EXPECT_TRUE(map.at("a"));
  EXPECT_EQ(kept, 7);
  EXPECT_EQ(optional, 1.5);
  EXPECT_FALSE(absent.has_value());
}

TEST(JsonFields, ErrorsNameThePlace) {
  const json object = json::parse(R"({"cases": [{"x": 1}, {"x": "one"}], "big": 3000000000, "half": 0.5, "neg": -1})");
  JsonFields fields(object, "evaluation");
  fields.Objects("cases", [](JsonFields& one) {
    double x = 0;
    one.Read("x", x);
  });
  EXPECT_EQ(fields.status().message(), "evaluation.cases[1].x: expected a number, found string");

  const auto error = [&](auto value, const char* key) {
    JsonFields again(object, "o");
    again.Require(key, value);
    return again.status().message();
  };
  EXPECT_THAT(error(0, "big"), HasSubstr("32-bit"));
  EXPECT_THAT(error(int64_t{0}, "half"), HasSubstr("64-bit integer"));
  EXPECT_THAT(error(uint64_t{0}, "neg"), HasSubstr("unsigned"));
  EXPECT_THAT(error(std::string(), "absent"), HasSubstr("o.absent: is missing"));
  EXPECT_THAT(error(std::vector<int>(), "half"), HasSubstr("an array"));
  EXPECT_FALSE(JsonFields(json::parse("[1]"), "o").ok());
}

TEST(Json, AnyBytesBecomeValidText) {
  const std::string text = DumpJson(json{{"log", "caf\xe9 \xff"}}, -1);
  Result<json> back = ParseJson(text, "text");
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_THAT((*back)["log"].get<std::string>(), HasSubstr("caf"));
  EXPECT_THAT(ParseJson("{", "the bundle").status().message(), HasSubstr("the bundle is not JSON"));
}

}  // namespace
}  // namespace hone
