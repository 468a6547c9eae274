// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::mcp {
namespace {

using testing::HasSubstr;

Json Sample() {
  return ObjectSchema({{"name", TextSchema("")},
                       {"kind", ChoiceSchema("", {"small", "large"})},
                       {"count", IntegerSchema("", 1, 10)},
                       {"share", NumberSchema("", 0, 1)},
                       {"bind", MapSchema("", {{"type", "integer"}})},
                       {"cases", ListSchema("", IntegerSchema("", 0, 3))},
                       {"open", ObjectSchema({}, {}, /*open=*/true)}},
                      {"name"});
}

std::string ComplaintOn(const Json& value) { return CheckAgainst(Sample(), value, "arguments").message(); }

TEST(Schema, TakesWhatFits) {
  EXPECT_EQ(ComplaintOn({{"name", "a"}}), "");
  EXPECT_EQ(ComplaintOn({{"name", "a"},
                       {"kind", "large"},
                       {"count", 10},
                       {"share", 0.5},
                       {"bind", {{"VEC", 8}}},
                       {"cases", {0, 3}},
                       {"open", {{"any", 1}}}}),
            "");
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"count", 2.0}}), "") << "JSON has one kind of number: 2.0 is an integer";
}

TEST(Schema, NamesThePlaceAndWhatWasMeant) {
  EXPECT_EQ(ComplaintOn(Json::array()), "arguments: expected an object, found a list");
  EXPECT_EQ(ComplaintOn(Json::object()), "arguments: the field 'name' is missing");
  EXPECT_THAT(ComplaintOn({{"name", "a"}, {"cuont", 1}}),
              HasSubstr("there is no field 'cuont' (did you mean 'count'?)"));
  EXPECT_THAT(ComplaintOn({{"name", "a"}, {"kind", "lage"}}),
              HasSubstr("arguments.kind: 'lage' is none of small, large (did you mean 'large'?)"));
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"count", 11}}), "arguments.count: 11 is more than 10");
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"count", 1.5}}),
            "arguments.count: expected an integer, found a number with a fraction");
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"count", 1e300}}),
            "arguments.count: expected an integer, found a number with a fraction");
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"bind", {{"VEC", "8"}}}}),
            "arguments.bind.VEC: expected an integer, found a string");
  EXPECT_EQ(ComplaintOn({{"name", "a"}, {"cases", {0, 4}}}), "arguments.cases[1]: 4 is more than 3");
  EXPECT_EQ(ComplaintOn({{"name", nullptr}}), "arguments.name: expected a string, found null");
}

TEST(Schema, TextsAndListsHaveBounds) {
  Json text = TextSchema("");
  text["minLength"] = 1;
  text["maxLength"] = 3;
  EXPECT_TRUE(CheckAgainst(text, "abc", "x").ok());
  EXPECT_EQ(CheckAgainst(text, "", "x").message(), "x: the text is empty");
  EXPECT_EQ(CheckAgainst(text, "abcd", "x").message(), "x: the text has 4 bytes, and 3 are taken at most");
  Json list = ListSchema("", BooleanSchema(""));
  list["maxItems"] = 1;
  EXPECT_FALSE(CheckAgainst(list, Json::array({true, false}), "x").ok());
}

}  // namespace
}  // namespace hone::mcp
