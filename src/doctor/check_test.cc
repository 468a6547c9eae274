// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Diagnosis TwoChecks(Standing second) {
  Diagnosis diagnosis;
  diagnosis.groups = {{"Compilers", {{"gxx", "g++", Standing::kHere, "12.2.0", "compiles for the simulated GPU", ""},
                                     {"nvrtc", "NVRTC", second, "not found", "compiles for a GPU", "install cuda-nvrtc"}}}};
  Conclude(diagnosis);
  diagnosis.summary = "Candidates can be judged.";
  return diagnosis;
}

TEST(Check, AProgramIsAbleUnlessSomethingNeededIsNotHere) {
  EXPECT_TRUE(TwoChecks(Standing::kHere).able);
  EXPECT_TRUE(TwoChecks(Standing::kMissing).able);
  EXPECT_FALSE(TwoChecks(Standing::kNeeded).able);
}

TEST(Check, TextSaysWhatAMissingThingWouldBringAndHowToGetIt) {
  const std::string missing = DiagnosisText(TwoChecks(Standing::kMissing));
  EXPECT_THAT(missing, HasSubstr("ok  g++    12.2.0\n"));
  EXPECT_THAT(missing, HasSubstr("--  NVRTC  not found\n"));
  EXPECT_THAT(missing, HasSubstr("It compiles for a GPU.\n"));
  EXPECT_THAT(missing, HasSubstr("To get it: install cuda-nvrtc.\n"));
  EXPECT_THAT(missing, testing::EndsWith("\n\nCandidates can be judged.\n"));
  // A thing that is here needs no remedy.
  EXPECT_THAT(DiagnosisText(TwoChecks(Standing::kHere)), Not(HasSubstr("To get it")));
}

TEST(Check, JsonHoldsEveryCheckWithItsGroup) {
  const auto json = nlohmann::json::parse(DiagnosisJson(TwoChecks(Standing::kNeeded)));
  EXPECT_EQ(json.at("able"), false);
  ASSERT_EQ(json.at("checks").size(), 2u);
  EXPECT_EQ(json["checks"][1], nlohmann::json({{"group", "Compilers"}, {"name", "nvrtc"}, {"title", "NVRTC"}, {"standing", "needed"},
                                               {"found", "not found"}, {"brings", "compiles for a GPU"}, {"remedy", "install cuda-nvrtc"}}));
}

}  // namespace
}  // namespace hone
