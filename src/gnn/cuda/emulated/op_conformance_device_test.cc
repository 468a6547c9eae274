// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the check of an operation's form for a GPU finds the violation planted in one, and nothing in a correct
// one. Tests that a model with the correct one trains on the device as on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gnn/cuda/emulated/op_plants_device.h"
#include "gnn/cuda/emulated/runtime.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/device.h"
#include "hone/gnn/op_conformance.h"

namespace hone::gnn {
namespace {

std::set<std::string> RulesBroken(Plant plant, int64_t edge_columns = 0) {
  const PlantedKind kind(Plant::kNone, [plant](const OpPlace& place) { return MakePlantedSumOnDevice(place, plant); });
  const Result<std::vector<OpFinding>> findings = CheckOpOnDevice(kind, {.in = 13, .edge_columns = edge_columns});
  EXPECT_TRUE(findings.ok()) << findings.status().message();
  std::set<std::string> rules;
  if (findings.ok()) {
    for (const OpFinding& finding : *findings) rules.insert(finding.rule);
  }
  return rules;
}

TEST(OpConformanceOnDevice, AnOperationThatIsRightHasNoFindings) {
  EXPECT_EQ(RulesBroken(Plant::kNone), std::set<std::string>());
  EXPECT_EQ(RulesBroken(Plant::kNone, 3), std::set<std::string>());
}

TEST(OpConformanceOnDevice, EachPlantedViolationIsFoundAndNamed) {
  EXPECT_TRUE(RulesBroken(Plant::kWritesPaddedRows).contains("padded-rows"));
  EXPECT_EQ(RulesBroken(Plant::kReadsSizes), std::set<std::string>{"device-sizes"});
  EXPECT_EQ(RulesBroken(Plant::kAddsGradient), std::set<std::string>{"overwrites"});
  EXPECT_EQ(RulesBroken(Plant::kKeepsState), std::set<std::string>{"no-state"});
  cuda::emulated::SetOrder(7);  // blocks run in another order in every launch
  EXPECT_EQ(RulesBroken(Plant::kSumsByThread), std::set<std::string>{"one-order"});
  cuda::emulated::SetOrder(0);
}

TEST(OpConformanceOnDevice, WithoutAFormForAGpuThereIsAnError) {
  EXPECT_EQ(CheckOpOnDevice(PlantedKind(Plant::kNone), {.in = 13}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hone::gnn
