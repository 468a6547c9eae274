// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests expressions: values worked out by hand, and every way in which arithmetic or text can be wrong.
#include "hone/tuner/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::map<std::string, int64_t>& Names() {
  static const std::map<std::string, int64_t> names = {
      {"tokens", 7}, {"d", 12}, {"VEC", 8}, {"zero", 0}, {"most", std::numeric_limits<int64_t>::max()}};
  return names;
}

int64_t Value(const std::string& text) {
  Result<Expression> parsed = Expression::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return -999;
  Result<int64_t> value = parsed->Evaluate(Names());
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value.ok() ? *value : -999;
}

std::string ParseError(const std::string& text) {
  Result<Expression> parsed = Expression::Parse(text);
  return parsed.ok() ? "parsed" : parsed.status().message();
}

std::string EvaluationError(const std::string& text) {
  Result<Expression> parsed = Expression::Parse(text);
  if (!parsed.ok()) return "did not parse: " + parsed.status().message();
  Result<int64_t> value = parsed->Evaluate(Names());
  if (value.ok()) return "has a value";
  EXPECT_EQ(value.status().code(), StatusCode::kInvalidArgument);
  return value.status().message();
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(Value("1 + 2 * 3"), 7);
  EXPECT_EQ(Value("(1 + 2) * 3"), 9);
  EXPECT_EQ(Value("10 - 4 - 3"), 3);
  EXPECT_EQ(Value("100 / 10 / 5"), 2);
  EXPECT_EQ(Value("1 + 1 == 2 && 3 < 4"), 1);
  EXPECT_EQ(Value("0 && 0 || 1"), 1);
  EXPECT_EQ(Value("1 || 0 && 0"), 1);
  EXPECT_EQ(Value("2 > 1 == 1"), 1);
  EXPECT_EQ(Value("-3 * 2"), -6);
  EXPECT_EQ(Value("!0 + 1"), 2);
  EXPECT_EQ(Value("--5"), 5);
}

TEST(Expression, ConditionalAssociatesToTheRight) {
  EXPECT_EQ(Value("1 ? 2 : 3"), 2);
  EXPECT_EQ(Value("0 ? 2 : 0 ? 3 : 4"), 4);
  EXPECT_EQ(Value("d % VEC == 0 ? VEC : d % 4 == 0 ? 4 : 1"), 4);
}

TEST(Expression, DivisionTruncatesLikeC) {
  EXPECT_EQ(Value("7 / 2"), 3);
  EXPECT_EQ(Value("-7 / 2"), -3);
  EXPECT_EQ(Value("-7 % 2"), -1);
}

TEST(Expression, BuiltInFunctions) {
  EXPECT_EQ(Value("ceil_div(tokens * d, VEC)"), 11);
  EXPECT_EQ(Value("ceil_div(16, 8)"), 2);
  EXPECT_EQ(Value("ceil_div(0, 8)"), 0);
  EXPECT_EQ(Value("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(Value("round_up(13, 8)"), 16);
  EXPECT_EQ(Value("round_up(16, 8)"), 16);
  EXPECT_EQ(Value("min(3, 1, 2)"), 1);
  EXPECT_EQ(Value("max(3, 1, 2)"), 3);
  EXPECT_EQ(Value("log2(1)"), 0);
  EXPECT_EQ(Value("log2(1024)"), 10);
  EXPECT_EQ(Value("log2(1023)"), 9);
  EXPECT_EQ(Value("log2(most)"), 62);
  EXPECT_EQ(Value("0x10 + 0xfF"), 271);
}

TEST(Expression, TheBranchNotTakenIsNotEvaluated) {
  EXPECT_EQ(Value("zero == 0 ? 1 : d / zero"), 1);
  EXPECT_EQ(Value("zero != 0 && d / zero > 1"), 0);
  EXPECT_EQ(Value("zero == 0 || d / zero > 1"), 1);
}

TEST(Expression, OverflowIsAnErrorInEveryOperation) {
  for (const char* text : {"most + 1", "-most - 2", "most * 2", "-(-most - 1)", "(-most - 1) / -1", "(-most - 1) % -1",
                           "ceil_div(-most - 1, -1)", "round_up(most, 8)"}) {
    EXPECT_THAT(EvaluationError(text), HasSubstr("64 bits")) << text;
  }
  EXPECT_EQ(Value("most - 1 + 1"), std::numeric_limits<int64_t>::max());
}

TEST(Expression, DivisionByZeroIsAnErrorThatNamesTheText) {
  for (const char* text : {"d / zero", "d % zero", "ceil_div(d, zero)", "round_up(d, zero)"}) {
    EXPECT_THAT(EvaluationError(text), HasSubstr("division by zero")) << text;
    EXPECT_THAT(EvaluationError(text), HasSubstr(text));
  }
  EXPECT_THAT(EvaluationError("log2(zero)"), HasSubstr("log2(0)"));
}

TEST(Expression, UnknownNamesAndFunctionsAreNamed) {
  EXPECT_THAT(EvaluationError("tokens * width"), HasSubstr("'width'"));
  EXPECT_THAT(EvaluationError("floor(d)"), HasSubstr("'floor'"));
}

TEST(Expression, BadTextIsRefusedWithItsPlace) {
  EXPECT_THAT(ParseError(""), HasSubstr("empty"));
  EXPECT_THAT(ParseError("   "), HasSubstr("empty"));
  EXPECT_THAT(ParseError("1 +"), HasSubstr("ends where a value"));
  EXPECT_THAT(ParseError("(1"), HasSubstr("expected ')'"));
  EXPECT_THAT(ParseError("1 2"), HasSubstr("character 3"));
  EXPECT_THAT(ParseError("a ? b"), HasSubstr("':'"));
  EXPECT_THAT(ParseError("1.5"), HasSubstr("followed directly"));
  EXPECT_THAT(ParseError("12abc"), HasSubstr("followed directly"));
  EXPECT_THAT(ParseError("0x"), HasSubstr("hexadecimal"));
  EXPECT_THAT(ParseError("99999999999999999999"), HasSubstr("64 bits"));
  EXPECT_THAT(ParseError("ceil_div(1)"), HasSubstr("2 arguments"));
  EXPECT_THAT(ParseError("log2(1, 2)"), HasSubstr("1 argument,"));
  EXPECT_THAT(ParseError("f(,)"), HasSubstr("empty"));
  EXPECT_THAT(ParseError("f(a"), HasSubstr("expected ')'"));
  EXPECT_THAT(ParseError("a = b"), HasSubstr("'='"));
  EXPECT_THAT(ParseError("a & b"), HasSubstr("'&'"));
}

TEST(Expression, HostileTextIsAnErrorAndNotAStackOverflow) {
  EXPECT_THAT(ParseError(std::string(3000, '(')), HasSubstr("nested"));
  EXPECT_THAT(ParseError(std::string(3000, '-') + "1"), HasSubstr("nested"));
  EXPECT_THAT(ParseError(std::string(1 << 20, '(')), HasSubstr("bytes"));
  std::string chain = "1";
  for (int i = 0; i < 2000; ++i) chain += "+1";
  EXPECT_EQ(Value(chain), 2001);
}

class KernelScope : public Scope {
 public:
  std::optional<int64_t> Name(std::string_view name) const override {
    if (name == "sm_count") return 132;
    return std::nullopt;
  }
  std::optional<Result<int64_t>> Call(std::string_view function,
                                      const std::vector<std::string>& arguments) const override {
    if (function == "nothing") return Result<int64_t>(static_cast<int64_t>(arguments.size()));
    if (function != "occupancy") return std::nullopt;
    last_arguments = arguments;
    if (arguments[0] == "broken") return Result<int64_t>(Status::InvalidArgument("no such kernel"));
    return Result<int64_t>(3);
  }
  mutable std::vector<std::string> last_arguments;
};

TEST(Expression, OtherFunctionsAreAnsweredByTheScopeWithTheirTexts) {
  KernelScope scope;
  Result<Expression> parsed = Expression::Parse("sm_count * occupancy( reduce<VEC, (4)> , 7 ) + nothing()");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  Result<int64_t> value = parsed->Evaluate(scope);
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, 396);
  EXPECT_THAT(scope.last_arguments, ElementsAre("reduce<VEC, (4)>", "7"));

  parsed = Expression::Parse("occupancy(broken)");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->Evaluate(scope).status().message(), HasSubstr("no such kernel"));
}

TEST(Expression, NamesAreSortedAndLeaveOutFunctions) {
  Result<Expression> parsed = Expression::Parse("ceil_div(tokens * d, VEC) + d + align(x)");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->Names(), ElementsAre("VEC", "d", "tokens"));
  EXPECT_TRUE(Expression::Constant(4).Names().empty());
}

TEST(Expression, CallsAreThoseTheScopeMustAnswer) {
  Result<Expression> parsed = Expression::Parse("max(align(x), 4) + stride(x, 0)");
  ASSERT_TRUE(parsed.ok());
  const std::vector<Expression::ForeignCall> calls = parsed->Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].function, "align");
  EXPECT_EQ(calls[1].function, "stride");
  EXPECT_THAT(calls[1].arguments, ElementsAre("x", "0"));
}

TEST(Expression, ConstantsEvaluateWithoutNames) {
  EXPECT_EQ(*Expression::Constant(-5).Evaluate(std::map<std::string, int64_t>{}), -5);
  EXPECT_EQ(Expression::Constant(-5).text(), "-5");
  EXPECT_EQ(Expression::Parse("  a + b ")->text(), "a + b");
}

TEST(ExpressionNumber, DividesInRealNumbersAndKnowsSquareRoots) {
  const std::map<std::string, int64_t> names = {{"k", 16}, {"n", 3}};
  const auto value = [&](const char* text) {
    Result<Expression> parsed = Expression::Parse(text);
    EXPECT_TRUE(parsed.ok()) << text;
    Result<double> number = parsed->EvaluateNumber(names);
    EXPECT_TRUE(number.ok()) << text << ": " << number.status().message();
    return number.ok() ? *number : -1e9;
  };
  EXPECT_EQ(value("1 / sqrt(k)"), 0.25);
  EXPECT_EQ(value("-sqrt(k * k + 9 * 16 * 0) / n"), -16.0 / 3);
  EXPECT_EQ(value("n > 2 ? 1 / 4 : 7"), 0.25);
  EXPECT_EQ(value("min(k, n) - max(1, n) + ceil_div(k, n)"), 6);
  EXPECT_TRUE(std::isinf(value("1 / (n - 3)")));
  EXPECT_FALSE(Expression::Parse("cbrt(k)")->EvaluateNumber(names).ok());
  EXPECT_FALSE(Expression::Parse("sqrt(width)")->EvaluateNumber(names).ok());
  EXPECT_FALSE(Expression::Parse("sqrt(k)")->Evaluate(names).ok()) << "an extent has no square root";
}

}  // namespace
}  // namespace hone
