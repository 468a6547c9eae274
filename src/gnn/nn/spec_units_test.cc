// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/nn/spec_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SpecUnits LowerSpec(const ModelSpec& spec, bool for_steps = false) {
  const Result<SpecShapes> shapes = CheckModelSpec(spec, 12, 5);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  return LowerToUnits(spec, *shapes, for_steps);
}

ModelSpec ParseValues(const char* values) {
  const Result<ModelSpec> spec = ParseModelSpec(std::string("name = \"m\"\nvalues = [\n") + values + "]", "m.toml");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return *spec;
}

TEST(SpecUnits, RowwiseOperationsThatNobodyElseReadsAreOneRun) {
  const ModelSpec spec = ParseValues(R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "h", op = "linear", of = "a", width = 8},
    {name = "n", op = "norm", of = "h"},
    {name = "r", op = "activate", of = "n"},
    {name = "d", op = "drop", of = "r"},
    {name = "l", op = "head", of = "d"},
  )");
  EXPECT_THAT(DescribeUnits(spec, LowerSpec(spec)),
              ElementsAre("a: the outermost hop, drawn and aggregated at once while the batch is sampled",
                          "h: a matrix product", "h, n, r and d: bias, batch normalisation, activation and dropout",
                          "l: a matrix product", "l: bias in one pass"));
}

TEST(SpecUnits, AValueThatTwoReadEndsItsRun) {
  const ModelSpec spec = ParseValues(R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "h", op = "linear", of = "a", width = 8},
    {name = "r", op = "activate", of = "h"},
    {name = "d", op = "drop", of = "r"},
    {name = "s", op = "add", of = ["d", "r"]},
    {name = "l", op = "head", of = "s", bias = false},
  )");
  const SpecUnits lowered = LowerSpec(spec);
  EXPECT_THAT(DescribeUnits(spec, lowered),
              ElementsAre(HasSubstr("a: "), "h: a matrix product", "h and r: bias and activation in one pass",
                          "d: dropout in one pass", "s: a sum of rows", "l: a matrix product"));
  // The dropout's backward overwrites its gradient, so it must not share the sum's, which the activation reads too.
  EXPECT_FALSE(lowered.plan.values[lowered.unit_of[4]].shares_gradient);
}

TEST(SpecUnits, OnlyAggregatesOfFeaturesLeaveTheOutermostHopWithoutNumbers) {
  const ModelSpec drawn = ParseValues(R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "o", op = "linear", of = "x", width = 12},
    {name = "s", op = "add", of = ["a", "o"]},
    {name = "b", op = "aggregate", of = "s"},
    {name = "l", op = "head", of = "b"},
  )");
  EXPECT_TRUE(LowerSpec(drawn).draws_outermost);
  EXPECT_EQ(LowerSpec(drawn).input_hop, 1);  // row set 1 of 2: the destinations' own rows
  for (const char* first : {R"({name = "a", op = "attention", of = "x", width = 4},)",
                            R"({name = "d", op = "drop", of = "x"}, {name = "a", op = "aggregate", of = "d"},)"}) {
    const ModelSpec numbered = ParseValues((std::string(first) + R"({name = "l", op = "head", of = "a"},)").c_str());
    EXPECT_FALSE(LowerSpec(numbered).draws_outermost) << first;
    EXPECT_EQ(LowerSpec(numbered).input_hop, 1) << first;
  }
}

TEST(SpecUnits, AnAttentionIsComposedWithTheLinearOfFeaturesThatItReads) {
  const std::string rest = R"(
    {name = "h0", op = "add", of = ["g0", "in"]},
    {name = "g1", op = "attention", of = "h0", width = 8, heads = 2},
    {name = "s", op = "collect", of = ["in", "g1"]},
    {name = "l", op = "head", of = "s"},
  )";
  for (const bool biased : {true, false}) {
    const ModelSpec spec = ParseValues(
        (R"({name = "in", op = "linear", of = "x", width = 16)" + std::string(biased ? "" : ", bias = false") +
         R"(}, {name = "g0", op = "attention", of = "in", width = 8, heads = 2},)" + rest)
            .c_str());
    const SpecUnits lowered_for_inference = LowerSpec(spec), lowered = LowerSpec(spec, /*for_steps=*/true);
    EXPECT_EQ(lowered_for_inference.input_hop, 2);  // every node of the batch
    EXPECT_EQ(lowered.input_hop, 1);
    const size_t attention = lowered.unit_of[2], rows = lowered.unit_of[1];
    const SpecUnit& unit = lowered.units[attention];
    EXPECT_EQ(lowered_for_inference.units[attention].composed, 0u);
    EXPECT_EQ(lowered_for_inference.units[attention].operands[0], rows);
    EXPECT_EQ(unit.operands[0], 0u);
    EXPECT_EQ(unit.composed, 1u);
    EXPECT_EQ(unit.composed_bias, biased ? rows : 0u);
    EXPECT_EQ(lowered.units[unit.composed].hop, 1);
    EXPECT_EQ(lowered.units[rows].hop, 1);
    EXPECT_TRUE(lowered.draws_outermost);
    EXPECT_TRUE(unit.drawn);
    EXPECT_FALSE(lowered_for_inference.draws_outermost);
    EXPECT_THAT(DescribeUnits(spec, lowered)[biased ? 3 : 2],
                "g0: attention over the hop's edges, and a product, over rows of x, by a weight into which in's is "
                "multiplied; the hop is drawn while the batch is sampled");
    // The Linear's rows have the other readers alone, and their gradient is what these send.
    EXPECT_EQ(lowered.plan.values[rows].uses.size(), lowered_for_inference.plan.values[rows].uses.size() - 1);
  }
  // [x, 1] has 16 columns, so that a narrower Linear saves reads.
  const ModelSpec narrow = ParseValues(R"(
    {name = "in", op = "linear", of = "x", width = 8},
    {name = "g0", op = "attention", of = "in", width = 8},
    {name = "s", op = "add", of = ["g0", "in"]},
    {name = "l", op = "head", of = "s"},
  )");
  for (const SpecUnit& unit : LowerSpec(narrow, /*for_steps=*/true).units) EXPECT_EQ(unit.composed, 0u);
  // Somebody else reads every row of the Linear.
  const ModelSpec parsed_spec = ParseValues(R"(
    {name = "in", op = "linear", of = "x", width = 16},
    {name = "g0", op = "attention", of = "in", width = 8, heads = 2},
    {name = "m", op = "aggregate", of = "in"},
    {name = "s", op = "add", of = ["g0", "m"]},
    {name = "l", op = "head", of = "s"},
  )");
  for (const SpecUnit& unit : LowerSpec(parsed_spec, /*for_steps=*/true).units) EXPECT_EQ(unit.composed, 0u);
}

TEST(SpecUnits, InAStepAttentionsOfFeaturesDrawTheOutermostHopToo) {
  const char* const rest = R"({name = "s", op = "concat", of = ["g", "a"]},
    {name = "b", op = "attention", of = "s", width = 4},
    {name = "l", op = "head", of = "b"},)";
  const ModelSpec spec = ParseValues((std::string(R"({name = "g", op = "attention", of = "x", width = 4},
    {name = "a", op = "aggregate", of = "x"},)") +
                                 rest)
                                    .c_str());
  EXPECT_FALSE(LowerSpec(spec).draws_outermost);
  const SpecUnits lowered = LowerSpec(spec, /*for_steps=*/true);
  EXPECT_TRUE(lowered.draws_outermost);
  EXPECT_EQ(lowered.input_hop, -1);
  EXPECT_TRUE(lowered.units[lowered.unit_of[1]].drawn);
  EXPECT_EQ(lowered.units[lowered.unit_of[2]].kind, SpecUnit::Kind::kDrawn);
  EXPECT_FALSE(lowered.units[lowered.unit_of[4]].drawn);  // an inner hop
  // One that reads other rows of that hop has its nodes numbered for all.
  const ModelSpec other = ParseValues((std::string(R"({name = "d", op = "drop", of = "x"},
    {name = "g", op = "attention", of = "x", width = 4},
    {name = "a", op = "aggregate", of = "d"},)") +
                                  rest)
                                     .c_str());
  const SpecUnits numbered = LowerSpec(other, /*for_steps=*/true);
  EXPECT_FALSE(numbered.draws_outermost);
  EXPECT_FALSE(numbered.units[numbered.unit_of[2]].drawn);
}

TEST(SpecUnits, ARunThatOnlyAggregatesReadIsNoPass) {
  for (const bool alone : {true, false}) {
    const ModelSpec spec = ParseValues((std::string(R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "h", op = "linear", of = "a", width = 8},
    {name = "d", op = "drop", of = "h"},
    {name = "b", op = "aggregate", of = "d", how = "max"},
    {name = "c", op = "aggregate", of = "d"},
    {name = "s", op = "concat", of = ["b", "c")") +
                                   (alone ? "" : R"(, "d")") + R"(]},
    {name = "l", op = "head", of = "s"},
  )")
                                      .c_str());
    EXPECT_EQ(DescribeUnits(spec, LowerSpec(spec))[2], alone
                                                         ? "h and d: bias and dropout, as the hop after reads the rows"
                                                         : "h and d: bias and dropout in one pass");
  }
}

TEST(SpecUnits, InAStepASumOfTwoAppliesTheRunsThatOnlyItReads) {
  struct Case {
    std::string sum, after, end;  // the sum's operands and options, a value after it, and what the head reads
    bool through;
  };
  for (const Case& c : {Case{R"(["o", "r"])", "", "s", true}, Case{R"(["o", "r"], eps = true)", "", "s", false},
                        Case{R"(["o", "r", "a"])", "", "s", false},
                        Case{R"(["o", "r"])", R"({name = "e", op = "concat", of = ["s", "r"]},)", "e", false}}) {
    SCOPED_TRACE(c.sum + c.after);
    const ModelSpec spec = ParseValues((R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "o", op = "linear", of = "a", width = 12},
    {name = "h", op = "linear", of = "a", width = 12},
    {name = "r", op = "activate", of = "h"},
    {name = "s", op = "add", of = )" +
                                   c.sum + "}," + c.after + R"({name = "l", op = "head", of = ")" + c.end + "\"},\n")
                                      .c_str());
    const SpecUnits lowered = LowerSpec(spec, /*for_steps=*/true);
    const size_t run = lowered.unit_of[4];
    EXPECT_EQ(lowered.units[run].summed_through, c.through);
    EXPECT_FALSE(LowerSpec(spec).units[run].summed_through);
    if (!c.through) continue;
    EXPECT_EQ(DescribeUnits(spec, lowered)[4], "h and r: bias and activation, as the sum after reads the rows");
    // The run's gradient is not the sum's, which the bias of the other operand shares.
    EXPECT_FALSE(lowered.plan.values[run].shares_gradient);
    const size_t other = lowered.unit_of[2];
    EXPECT_TRUE(lowered.units[other].summed_through);
    EXPECT_TRUE(lowered.plan.values[other].shares_gradient);
  }
}

TEST(SpecUnits, InAStepTheProductOfAnAttentionWithManyHeadsComesFirst) {
  for (const auto& [attention, first] :
       std::vector<std::pair<std::string, bool>>{{"width = 8, heads = 4", true},
                                                 {"width = 8, heads = 3", false},
                                                 {"width = 12, heads = 4", false},  // no kernel has such heads
                                                 {"width = 16, heads = 4", false},  // rows are not wider than two heads
                                                 {"width = 8, heads = 4, concatenate = false", false}}) {
    SCOPED_TRACE(attention);
    const ModelSpec spec = ParseValues((R"({name = "m", op = "aggregate", of = "x"},
      {name = "h", op = "linear", of = "m", width = 24},
      {name = "g", op = "attention", of = "h", )" +
                                   attention + R"(},
      {name = "l", op = "head", of = "g"},)")
                                      .c_str());
    const SpecUnits lowered = LowerSpec(spec, /*for_steps=*/true);
    EXPECT_EQ(lowered.units[lowered.unit_of[3]].projected, first);
    EXPECT_FALSE(LowerSpec(spec).units[lowered.unit_of[3]].projected);
    if (first) EXPECT_EQ(DescribeUnits(spec, lowered)[3], "g: a product, and attention over the hop's edges");
  }
}

TEST(SpecUnits, InAStepAttentionsApplyTheRunsThatOnlyTheyRead) {
  for (const auto& [first, read, through] :
       {std::tuple("", "", true), std::tuple(", bias = true", "", false), std::tuple("", R"(, "r")", false)}) {
    const ModelSpec spec = ParseValues((std::string(R"(
    {name = "f", op = "attention", of = "x", width = 8)") +
                                   first + R"(},
    {name = "r", op = "activate", of = "f"},
    {name = "g", op = "attention", of = "r", width = 8},
    {name = "c", op = "concat", of = ["g")" +
                                   read + R"(]},
    {name = "l", op = "head", of = "c"},
  )")
                                      .c_str());
    SCOPED_TRACE(first + std::string(read));
    const SpecUnits lowered = LowerSpec(spec, /*for_steps=*/true);
    EXPECT_EQ(lowered.units[lowered.unit_of[2]].attended_through, through);
    EXPECT_FALSE(LowerSpec(spec).units[lowered.unit_of[2]].attended_through);
    if (through) {
      EXPECT_EQ(DescribeUnits(spec, lowered)[1], "r: activation, as the attention after reads the rows");
    }
  }
}

TEST(SpecUnits, WhatEndsInNoProductIsCopiedForTheLoss) {
  const ModelSpec spec = ParseValues(R"(
    {name = "a", op = "aggregate", of = "x"},
    {name = "h", op = "linear", of = "a", width = "classes"},
    {name = "r", op = "activate", of = "h"},
  )");
  EXPECT_EQ(DescribeUnits(spec, LowerSpec(spec)).back(), "r: a copy to fp32 for the loss");
}

}  // namespace
}  // namespace hone::gnn
