// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/draft_tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OutputPrecision Output(double c_max, double honest_max, double c_rms = 2e-5, double honest_rms = 1e-7) {
  OutputPrecision output;
  output.output = "y";
  output.tolerance.c_max = c_max;
  output.tolerance.c_rms = c_rms;
  output.proposed_c_max = 2 * honest_max;
  output.honest_rms = honest_rms;
  return output;
}

TEST(DraftTolerance, CMaxIsThreeRoundingUnitsAndRoomForGrowth) {
  // float16 rounds by up to 2^-11 = 4.88e-4, and a kernel that sums in float32 adds nearly nothing.
  EXPECT_NEAR(MeasuredCMax(Output(4e-3, 4.9e-4), DType::kFloat16), 1.6e-3, 1e-9);
  // bfloat16: 2^-8.
  EXPECT_NEAR(MeasuredCMax(Output(3e-2, 3.91e-3), DType::kBFloat16), 0.012, 1e-9);
  // float32: an exact kernel, and a kernel whose sums are off by 1e-5 on the check cases.
  EXPECT_NEAR(MeasuredCMax(Output(1e-3, 6e-8), DType::kFloat32), 1e-4, 1e-12);
  EXPECT_NEAR(MeasuredCMax(Output(1e-3, 1e-5), DType::kFloat32), 3.2e-4, 1e-12);
}

TEST(DraftTolerance, CMaxGrowsOnlyWhereItRefusesHonestKernels) {
  EXPECT_EQ(MeasuredCMax(Output(1e-3, 9e-4), DType::kFloat32), 1e-3);
  EXPECT_NEAR(MeasuredCMax(Output(1e-3, 2e-3), DType::kFloat32), 6e-3, 1e-9);
  EXPECT_EQ(MeasuredCMax(Output(1e-3, 0), DType::kFloat32), 1e-3) << "honest kernels gave no bound";
  EXPECT_EQ(MeasuredCMax(Output(1e-9, 1e-16), DType::kFloat64), 1e-9);
  EXPECT_EQ(MeasuredCMax(Output(0.07, 0.0626), DType::kFloat8E4M3), 0.07);
}

TEST(DraftTolerance, TheTextIsChangedInItsSectionAlone) {
  const std::string toml =
      "name = \"t\"\n\n[tolerance.x]\nc_max = 0.001\nc_rms = 2e-05\n\n[tolerance.y]\nc_max = 0.001  # a start\nc_rms = "
      "2e-05\n\n[[case]]\nc_max = 7\n";
  Task task;
  task.tensors.resize(1);
  task.tensors[0].name = "y";
  task.tensors[0].dtype = DType::kFloat32;
  const FittedTolerance fitted = FitTolerance(task, {Output(1e-3, 6e-8)}, toml);
  EXPECT_THAT(fitted.task_toml, HasSubstr("[tolerance.x]\nc_max = 0.001\n"));
  EXPECT_THAT(fitted.task_toml,
              HasSubstr("[tolerance.y]\nc_max = 1.0e-04  # a start\nc_rms = 2e-05\n\n[[case]]\nc_max = 7\n"));
  EXPECT_THAT(fitted.lines, ElementsAre(HasSubstr("y: c_max = 1.0e-04 in place of 1.0e-03, for the kernel, and")));
  EXPECT_FALSE(fitted.wider);

  const FittedTolerance wider = FitTolerance(task, {Output(1e-4, 6e-8, 2e-5, 1e-4)}, toml);
  EXPECT_THAT(wider.lines,
              ElementsAre(HasSubstr("y: c_rms = 4.0e-04 in place of 2.0e-05, for their rms error is 1.0e-04")));
  EXPECT_TRUE(wider.wider);

  OutputPrecision other = Output(1e-3, 6e-8);
  other.output = "z";
  EXPECT_THAT(FitTolerance(task, {other}, toml).lines, IsEmpty());
}

}  // namespace
}  // namespace hone
