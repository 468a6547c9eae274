// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specs as TOML: that every field is written and read back, and that messages name the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/gnn/model_spec.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kEverything = R"(# Every operation and every field.
name = "all of \"it\""

[[values]]
name = "d0"
op = "drop"
of = "x"
probability = 0.25
layer = 3
site = "neighbors"

[[values]]
name = "d1"
op = "drop"
of = "d0"
after = "d0"

[[values]]
name = "a"
op = "aggregate"
of = ["d1"]
how = "sum"
scale = "symmetric"

[[values]]
name = "own"
op = "linear"
of = "x"
width = 12
bias = false
init = "xavier-relu"
parameters = "convs.0.lin_r"
stream = 1

[[values]]
name = "left"
op = "linear"
of = "a"
width = 12

[[values]]
name = "both"
op = "add"
of = ["left", "own"]
eps = true

[[values]]
name = "n"
op = "norm"
of = "both"
over = "layer"

[[values]]
name = "r"
op = "activate"
of = "n"
function = "leaky_relu"

[[values]]
name = "g"
op = "attention"
of = "r"
width = "classes"
heads = 2
concatenate = false
negative_slope = 0.1
bias = true

[[values]]
name = "m"
op = "aggregate"
of = "r"
how = "max"

[[values]]
name = "side"
op = "concat"
of = ["g", "m"]

[[values]]
name = "all"
op = "collect"
of = ["side", "r"]

[[values]]
name = "late"
op = "drop"
of = "all"
site = 200

[[values]]
name = "logits"
op = "head"
of = "late"
bias = false
)";

TEST(ModelSpecText, ReadsBackAsTheSameValue) {
  const Result<ModelSpec> spec = ParseModelSpec(kEverything, "all.toml");
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  EXPECT_EQ(spec->name, "all of \"it\"");
  ASSERT_EQ(spec->values.size(), 14u);
  EXPECT_EQ(std::get<DropSpec>(spec->values[0].operation), (DropSpec{0.25, 3, 1, ""}));
  EXPECT_EQ(std::get<DropSpec>(spec->values[1].operation), (DropSpec{0.5, -1, -1, "d0"}));
  EXPECT_EQ(std::get<AttentionSpec>(spec->values[8].operation), (AttentionSpec{kClassWidth, 2, false, 0.1, true}));
  EXPECT_EQ(spec->values[3].parameters, "convs.0.lin_r");
  EXPECT_EQ(spec->values[3].stream, 1);
  const std::string text = ModelSpecText(*spec);
  const Result<ModelSpec> again = ParseModelSpec(text, "again");
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  EXPECT_EQ(*again, *spec);
  EXPECT_EQ(ModelSpecText(*again), text);
}

TEST(ModelSpecText, ErrorsNameFileLineFieldAndRemedy) {
  const auto error = [](std::string_view text) { return ParseModelSpec(text, "m.toml").status().message(); };
  EXPECT_THAT(error("name = 1\n"), HasSubstr("m.toml:1: field 'name': expected a string"));
  EXPECT_THAT(error("name = 'm'\n"), HasSubstr("list the model's values, as in values = ["));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nof = 'x'\n"),
              AllOf(HasSubstr("m.toml:2: values #1 field 'op': is missing"), HasSubstr("op = \"linear\"")));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'agregate'\nof = 'x'\n"),
              HasSubstr("m.toml:4: values #1 field 'op': 'agregate' is not one of aggregate, attention"));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'linear'\nof = 'x'\n"),
              HasSubstr("field 'width': is missing; give the number of columns, or \"classes\""));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'linear'\nof = 'x'\nwidth = 'klasses'\n"),
              HasSubstr("expected an integer or \"classes\""));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'aggregate'\nof = 'x'\nhwo = 'sum'\n"),
              HasSubstr("field 'hwo': is not a known field (did you mean 'how'?)"));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'drop'\nof = 'x'\nsite = 'nowhere'\n"),
              HasSubstr("'nowhere' is not one of activation, neighbors"));
  EXPECT_THAT(error("name = 'm'\n[[values]]\nname = 'a'\nop = 'aggregate'\nof = 'y'\n"),
              HasSubstr("m.toml: model 'm', value 'a'"));
}

TEST(SpecDifference, NamesTheFirstThatDiffers) {
  const ModelSpec a = ParseModelSpec(kEverything, "a").value();
  ModelSpec b = a;
  EXPECT_EQ(SpecDifference(a, b), "");
  std::get<LinearSpec>(b.values[4].operation).width = 24;
  EXPECT_EQ(SpecDifference(a, b), "value 5 ('left'): width = 12 in the one, width = 24 in the other");
  b = a;
  b.values.pop_back();
  EXPECT_THAT(SpecDifference(a, b), HasSubstr("14 values in the one and 13 in the other"));
  b = a;
  b.name = "other";
  EXPECT_THAT(SpecDifference(a, b), HasSubstr("'other'"));
}

}  // namespace
}  // namespace hone::gnn
