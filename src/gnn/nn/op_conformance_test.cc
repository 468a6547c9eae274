// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the check of an operation finds each planted fault, and finds nothing in an operation that is right. Also
// tests that specs take registered operations.
#include "hone/gnn/op_conformance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gnn/nn/op_plants.h"
#include "hone/gnn/model.h"

namespace hone::gnn {
namespace {

std::vector<std::string> RulesBroken(Plant plant, int64_t edge_columns = 0) {
  const Result<std::vector<OpFinding>> findings = CheckOp(PlantedKind(plant), {.in = 13, .edge_columns = edge_columns});
  EXPECT_TRUE(findings.ok()) << findings.status().message();
  std::vector<std::string> rules;
  for (const OpFinding& finding : *findings) {
    rules.push_back(finding.rule);
    EXPECT_FALSE(finding.what.empty());
  }
  return rules;
}

TEST(OpConformance, AnOperationThatIsRightHasNoFindings) {
  EXPECT_EQ(RulesBroken(Plant::kNone), std::vector<std::string>());
  EXPECT_EQ(RulesBroken(Plant::kNone, 3), std::vector<std::string>());
}

TEST(OpConformance, EachPlantedViolationIsFoundAndNamed) {
  EXPECT_EQ(RulesBroken(Plant::kWritesPaddedRows), std::vector<std::string>{"padded-rows"});
  EXPECT_EQ(RulesBroken(Plant::kSumsByThread), std::vector<std::string>{"one-order"});
  EXPECT_EQ(RulesBroken(Plant::kAddsGradient), std::vector<std::string>{"overwrites"});
  EXPECT_EQ(RulesBroken(Plant::kKeepsState), std::vector<std::string>{"no-state"});
  EXPECT_EQ(RulesBroken(Plant::kWrongGradient), std::vector<std::string>{"gradients"});
  EXPECT_EQ(RulesBroken(Plant::kReadsPaddedEdges, 3).front(), "padded-rows");
  EXPECT_EQ(RulesBroken(Plant::kKeepsState, 3), std::vector<std::string>{"no-state"});
}

TEST(OpConformance, EdgeFeaturesAreGivenToAKindThatReadsThem) {
  const auto check = [](EdgeFeatureUse use, int64_t columns) {
    return CheckOp(PlantedKind(Plant::kNone, {}, use), {.in = 13, .edge_columns = columns}).status().message();
  };
  EXPECT_NE(check(EdgeFeatureUse::kNone, 3).find("reads none"), std::string::npos);
  EXPECT_NE(check(EdgeFeatureUse::kNeeded, 0).find("needs some"), std::string::npos);
  EXPECT_EQ(check(EdgeFeatureUse::kNeeded, 3), "");
}

TEST(OpConformance, WhatTheKindRefusesIsItsSentence) {
  const Status refused = CheckOp(PlantedKind(Plant::kNone), {.in = 13, .width = 4}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("keeps the columns"), std::string::npos);
}

TEST(RegisteredOps, SpecsNameThemAndAreCheckedByThem) {
  constexpr const char* kText = R"(name = "mine"
values = [
  {name = "s", op = "planted_sum", of = "x"},
  {name = "h", op = "linear", of = "s", width = "classes"},
])";
  const Status before = ParseModelSpec(kText, "mine.toml").status();
  EXPECT_NE(before.message().find("planted_sum"), std::string::npos) << before.message();
  ASSERT_TRUE(RegisterOp(std::make_unique<PlantedKind>(Plant::kNone)).ok());
  EXPECT_EQ(RegisterOp(std::make_unique<PlantedKind>(Plant::kNone)).code(), StatusCode::kInvalidArgument);
  const ModelSpec spec = ParseModelSpec(kText, "mine.toml").value();
  EXPECT_EQ(ParseModelSpec(ModelSpecText(spec), "again").value(), spec);
  EXPECT_EQ(LayersOf(spec).value(), 1);
  ModelOptions options = SpecOptions(std::make_shared<const ModelSpec>(spec), 1);
  options.in_width = 6;
  options.num_classes = 3;
  const auto model = MakeModel(options).value();
  EXPECT_EQ(model->parameters().front()->name, "s.weight");
  ModelSpec narrow = spec;
  std::get<OwnSpec>(narrow.values[0].operation).width = 5;
  const Status refused = CheckModelSpec(narrow, 6, 3).status();
  EXPECT_NE(refused.message().find("value 's' (planted_sum of x) keeps the columns that it reads"), std::string::npos)
      << refused.message();
  std::get<OwnSpec>(narrow.values[0].operation) = {.kind = "planted_sum", .width = 0, .options = {{"heads", 2}}};
  EXPECT_NE(CheckModelSpec(narrow, 6, 3).status().message().find("'heads', which is no option"), std::string::npos);
  std::get<OwnSpec>(narrow.values[0].operation) = {.kind = "nowhere", .width = 0, .options = {}};
  EXPECT_NE(CheckModelSpec(narrow, 6, 3).status().message().find("RegisterOp"), std::string::npos);
}

}  // namespace
}  // namespace hone::gnn
