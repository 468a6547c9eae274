// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the text of a refusal: what it says, and what it does not accuse a kernel of.
#include "tuner/evaluate/correctness/mismatch_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

TensorSpec Output(DType dtype) {
  TensorSpec tensor;
  tensor.name = "out";
  tensor.role = TensorRole::kOut;
  tensor.dtype = dtype;
  return tensor;
}

struct Refusal {
  TensorSpec tensor = Output(DType::kFloat32);
  Tolerance tolerance{.c_max = 1e-3, .c_rms = 2e-5};
  Comparison comparison{.total = 1, .wrong = 1};
  Mismatch mismatch;
  std::vector<int64_t> shape{1, 1};
  double magnitude = 1;
  bool still_filled = false;
  bool nan_inputs = true;

  Refusal(double expected, double actual) {
    mismatch.tensor = "out";
    mismatch.dims = {{"d", 1}};
    mismatch.distribution = "normal";
    mismatch.index = {0, 0};
    mismatch.expected = expected;
    mismatch.actual = actual;
  }
  MismatchFacts facts() const { return {tensor, tolerance, comparison, mismatch, shape, magnitude, still_filled, nan_inputs}; }
};

TEST(MismatchText, ATailIsWhatGroupsLeaveOver) {
  EXPECT_EQ(TailOf(1020, 1021), 4);
  EXPECT_EQ(TailOf(1016, 1021), 8);
  EXPECT_EQ(TailOf(1021 - 2, 1021), 0);
  EXPECT_EQ(TailOf(0, 3), 0);
  EXPECT_EQ(TailOf(512, 1024), 0);
}

TEST(MismatchText, AWrongTailNamesTheWaysToServeMultiplesAlone) {
  Refusal tail(1, 0);
  tail.comparison = {.total = 3 * 1021, .wrong = 3, .max_scaled = 1};
  tail.mismatch.index = {0, 1020};
  tail.shape = {3, 1021};
  EXPECT_THAT(WrongElementsText(tail.facts()),
              testing::AllOf(HasSubstr("groups of 4"), HasSubstr("`when`"), HasSubstr("--multiple")));
  tail.comparison.wrong = 900;  // other elements are wrong too
  EXPECT_THAT(WrongElementsText(tail.facts()), Not(HasSubstr("--multiple")));
}

TEST(MismatchText, OneWrongElementIsNoTail) {
  Refusal one(1, 0);
  one.comparison = {.total = 2072 * 7, .wrong = 1, .max_scaled = 1};
  one.mismatch.index = {0, 1020};
  one.shape = {3, 1021};
  EXPECT_THAT(WrongElementsText(one.facts()), Not(HasSubstr("--multiple")));
}

TEST(MismatchText, SomeWrongSlicesAreNoTail) {
  Refusal slices(1, 0);
  slices.tensor.slice_axis = 0;
  slices.comparison = {.total = 7, .wrong = 2, .max_scaled = 1};
  slices.mismatch.index = {4};
  slices.shape = {7};
  EXPECT_THAT(WrongElementsText(slices.facts()), Not(HasSubstr("--multiple")));
  slices.comparison.wrong = 3;  // all that groups of four leave over
  EXPECT_THAT(WrongElementsText(slices.facts()), HasSubstr("groups of 4"));
}

TEST(MismatchText, AnOracleThatAnswersNanForInputsWithoutNanIsQuestioned) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Refusal refused(nan, -infinity);
  refused.mismatch.distribution = "special";
  EXPECT_THAT(WrongElementsText(refused.facts()), Not(HasSubstr("no input is NaN")));
  refused.nan_inputs = false;
  EXPECT_THAT(WrongElementsText(refused.facts()), testing::AllOf(HasSubstr("no input is NaN"), HasSubstr("special = [...]")));
}

TEST(MismatchText, AnImpreciseResultMayHaveLeftInputsOut) {
  EXPECT_THAT(ImpreciseText(Refusal(0.6, 0.61).facts(), 1.6e-4, 4.9e-5, 0.6), HasSubstr("a few inputs are left out"));
}

TEST(MismatchText, ALargestNumberForAnInfinityIsNoErrorOfZero) {
  const Refusal begun(-std::numeric_limits<double>::infinity(), -0x1.fffffep127);
  const std::string text = WrongElementsText(begun.facts());
  EXPECT_THAT(text, Not(HasSubstr("worst error 0")));
  EXPECT_THAT(text, HasSubstr("begin a maximum or a minimum with an infinity"));
}

TEST(MismatchText, AnElementThatHoldsTheFillIsSaidToBeUnwritten) {
  Refusal left(1, 0.3);
  left.still_filled = true;
  EXPECT_THAT(WrongElementsText(left.facts()), HasSubstr("never written"));
}

TEST(MismatchText, RoundingBesideResultsThatCancelIsNotCalledALowerPrecision) {
  // gelu(-3.2) is -6e-4, and 1 + tanh(u) is off by 6e-8 there.
  Refusal cancelled(-6e-4, -6.001e-4);
  EXPECT_THAT(WrongElementsText(cancelled.facts()), HasSubstr("cancel to nearly nothing"));
  const std::string imprecise = ImpreciseText(cancelled.facts(), 1.6e-4, 4.9e-5, 6e-4);
  EXPECT_THAT(imprecise, HasSubstr("abs = 2e-06 under [tolerance.out] of the task"));  // twelve times the error
  EXPECT_THAT(imprecise, Not(HasSubstr("lower precision")));
  // The same relative error in results of ordinary size does mean a lower precision.
  EXPECT_THAT(ImpreciseText(cancelled.facts(), 1.6e-4, 4.9e-5, 0.6), HasSubstr("lower precision"));
  // A constant that is left out has the same effect.
  cancelled.comparison.max_scaled = 3e-4;
  EXPECT_THAT(ImpreciseText(cancelled.facts(), 1.6e-4, 4.9e-5, 0.6),
              testing::AllOf(HasSubstr("worst error 0.0003 of the scale"), HasSubstr("such as an eps, is missing or different")));
  EXPECT_THAT(WrongElementsText(Refusal(0.6, 0.61).facts()), Not(HasSubstr("cancel")));
}

TEST(MismatchText, IntegersThatAreCutOffAreNotCalledALowerPrecision) {
  Refusal cut(5, 4);
  cut.tensor = Output(DType::kInt8);
  const std::string text = ImpreciseText(cut.facts(), 1e-2, 1e-3, 50);
  EXPECT_THAT(text, HasSubstr("rounded to the nearest"));
  EXPECT_THAT(text, Not(HasSubstr("lower precision")));
}

}  // namespace
}  // namespace hone
