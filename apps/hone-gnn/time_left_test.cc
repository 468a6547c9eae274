// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/time_left.h"

#include <gtest/gtest.h>

namespace hone::gnn {
namespace {

StepReport At(int epoch, int64_t step, bool validating = false) {
  return {.epoch = epoch, .step = step, .steps = 10, .validating = validating};
}

TEST(TimeLeft, IsThatOfTheRestAtTheRateSoFar) {
  TimeLeft left(10);
  EXPECT_EQ(left.Text(At(0, 9), 100), "");                  // epoch 1 of 10 is done, and its time is not known
  EXPECT_EQ(left.Text(At(1, 9), 109), "about 2 min left");  // 9 s an epoch, 8 of them
  EXPECT_EQ(left.Text(At(8, 9), 172), "about 9 s left");
  EXPECT_EQ(left.Text(At(9, 9), 181), "");  // nothing is left
}

TEST(TimeLeft, OfAResumedRunCountsWhatThisProcessDid) {
  TimeLeft left(100);
  EXPECT_EQ(left.Text(At(89, 9), 0), "");
  EXPECT_EQ(left.Text(At(90, 9), 3600), "about 9.0 h left");
}

TEST(TimeLeft, AValidationIsTheEndOfItsEpoch) {
  TimeLeft left(3);
  left.Text(At(0, 9), 0);
  EXPECT_EQ(left.Text(At(1, 0, true), 10), "about 10 s left");
}

TEST(TimeLeft, SaysNothingBeforeThereIsAnythingToJudgeBy) {
  TimeLeft left(1000);
  left.Text(At(0, 0), 0);
  EXPECT_EQ(left.Text(At(0, 9), 50), "");  // less than a hundredth
  TimeLeft quick(2);
  quick.Text(At(0, 0), 0);
  EXPECT_EQ(quick.Text(At(1, 0), 0.5), "");  // less than a second
}

}  // namespace
}  // namespace hone::gnn
