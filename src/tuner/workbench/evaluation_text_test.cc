// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/evaluation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EvaluationText, SaysWhichSharesOfALaunchCallsAndKernelsTake) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  CaseResult& c = e.cases.emplace_back();
  c.dims = {{"rows", 4}};
  c.time_us = Interval{80, 79, 81};
  EXPECT_THAT(DescribeEvaluation(e, 0), Not(HasSubstr("library calls")));
  c.calls_us = 60;
  EXPECT_THAT(DescribeEvaluation(e, 0), HasSubstr("75 %, and the plan's own kernels "));
  EXPECT_THAT(DescribeEvaluation(e, 0), HasSubstr(", 25 %, at rows=4\n"));
  e.modelled = true;
  EXPECT_THAT(DescribeEvaluation(e, 0), HasSubstr("library calls take modelled ")) << "a modelled time is called modelled";
}

}  // namespace
}  // namespace hone
