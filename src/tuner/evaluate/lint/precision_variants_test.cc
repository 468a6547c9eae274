// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests check that emulated precisions round as the real ones do, and that a macro counts as used only where it
// is.
#include "tuner/evaluate/lint/precision_variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone {
namespace {

const PrecisionVariant& VariantNamed(std::string_view name) {
  for (const PrecisionVariant& variant : PrecisionVariants()) {
    if (variant.name == name) return variant;
  }
  ADD_FAILURE() << "no variant " << name;
  return PrecisionVariants().front();
}

TEST(OracleHooks, CountUsesAndNotDefinitionsCommentsOrLongerNames) {
  EXPECT_TRUE(FindOracleHooks("double x = HONE_ORACLE_IN(a[i]);").inputs);
  const OracleHooks none = FindOracleHooks(R"(
/* HONE_ORACLE_ACC sum
   HONE_ORACLE_MID(x) */
// reads through HONE_ORACLE_IN(x)
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
  #  define HONE_ORACLE_MID(x) (x)
int MY_HONE_ORACLE_ACC = 0, HONE_ORACLE_ACCURATE = 1;
)");
  EXPECT_FALSE(none.inputs);
  EXPECT_FALSE(none.intermediates);
  EXPECT_FALSE(none.accumulation);
  EXPECT_FALSE(none.UsesMacroOf(PrecisionPart::kAll));
  const OracleHooks after = FindOracleHooks("/* one */\n/* two\n lines */ HONE_ORACLE_ACC sum = 0;  // three\n");
  EXPECT_TRUE(after.accumulation);
  EXPECT_TRUE(after.UsesMacroOf(PrecisionPart::kAll));
  EXPECT_FALSE(after.UsesMacroOf(PrecisionPart::kInputs));
}

TEST(JudgePrecision, DependsOnTheOutput) {
  const auto judge = [](std::string_view name, DType output) { return JudgePrecision(VariantNamed(name), output); };
  EXPECT_EQ(judge("float32", DType::kFloat32), PrecisionJudgement::kHonest);
  EXPECT_EQ(judge("float32", DType::kFloat64), PrecisionJudgement::kDishonest);
  EXPECT_EQ(judge("tf32_inputs", DType::kFloat32), PrecisionJudgement::kDishonest);
  EXPECT_EQ(judge("float16_intermediates", DType::kFloat32), PrecisionJudgement::kDishonest);
  EXPECT_EQ(judge("float16_intermediates", DType::kFloat16), PrecisionJudgement::kTolerated);
  EXPECT_EQ(judge("bfloat16_inputs", DType::kFloat16), PrecisionJudgement::kDishonest);
  EXPECT_EQ(judge("bfloat16_inputs", DType::kBFloat16), PrecisionJudgement::kTolerated);
  EXPECT_EQ(judge("float8_inputs", DType::kBFloat16), PrecisionJudgement::kDishonest);
  // A 16-bit accumulator is dishonest even if the result has 16 bits.
  EXPECT_EQ(judge("float16_accumulation", DType::kFloat16), PrecisionJudgement::kDishonest);
  EXPECT_EQ(judge("bfloat16_accumulation", DType::kBFloat16), PrecisionJudgement::kDishonest);
}

TEST(UnitRoundoff, IsHalfAnUlpOfOne) {
  EXPECT_EQ(UnitRoundoff(DType::kFloat32), std::ldexp(1.0, -24));
  EXPECT_EQ(UnitRoundoff(DType::kFloat16), std::ldexp(1.0, -11));
  EXPECT_EQ(UnitRoundoff(DType::kBFloat16), std::ldexp(1.0, -8));
  EXPECT_EQ(UnitRoundoff(DType::kInt32), 0.0);
}

double RoundedByHost(DType dtype, double value) {
  uint64_t cell = 0;
  host::WriteElement(dtype, &cell, value);
  return host::ReadElement(dtype, &cell);
}

// Compiles a variant's prelude with the host's compiler and rounds `values` through HONE_ORACLE_IN. With `sums`, adds
// each value to a HONE_ORACLE_ACC instead and returns the sum after each.
std::vector<double> RoundedByPrelude(const PrecisionVariant& variant, const std::vector<double>& values, bool sums) {
  Result<TemporaryDirectory> directory = MakeTemporaryDirectory();
  EXPECT_TRUE(directory.ok());
  std::string source = "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n#define __device__\n"
                       "static double __longlong_as_double(long long b) { double d; memcpy(&d, &b, 8); return d; }\n";
  source += variant.Prelude();
  source += "int main() {\n  double x;\n";
  source += sums ? "  HONE_ORACLE_ACC sum = 0;\n  while (scanf(\"%la\", &x) == 1) { sum += x; printf(\"%a\\n\", static_cast<double>(sum)); }\n"
                 : "  while (scanf(\"%la\", &x) == 1) printf(\"%a\\n\", HONE_ORACLE_IN(x));\n";
  source += "}\n";
  const std::string program = directory->path() + "/round";
  EXPECT_TRUE(WriteFileAtomically(program + ".cc", source).ok());
  SubprocessOptions compile;
  compile.argv = {HONE_HOST_COMPILER, "-std=c++17", "-Wall", "-Wno-unused-function", "-Werror",
                        program + ".cc", "-o", program, "-lm"};
  compile.environment = {"PATH=/usr/bin:/bin"};
  Result<SubprocessResult> compiled = RunSubprocess(compile);
  EXPECT_TRUE(compiled.ok() && compiled->exit.success()) << (compiled.ok() ? compiled->err : compiled.status().message());
  std::string input;
  for (const double value : values) {
    char text[64];
    std::snprintf(text, sizeof text, "%a\n", value);
    input += text;
  }
  SubprocessOptions run;
  run.argv = {program};
  run.stdin_text = input;
  run.max_stdout_bytes = 16 << 20;
  Result<SubprocessResult> ran = RunSubprocess(run);
  EXPECT_TRUE(ran.ok() && ran->exit.success());
  std::vector<double> rounded;
  if (!ran.ok()) return rounded;
  std::istringstream lines(ran->out);
  for (std::string line; std::getline(lines, line);) rounded.push_back(std::strtod(line.c_str(), nullptr));
  return rounded;
}

// Returns normal, subnormal, huge and tiny numbers, ties among them.
std::vector<double> Samples() {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(1.0, 2.0);
  std::uniform_int_distribution<int> exponent(-40, 40);
  std::vector<double> samples{0.0, -0.0, 1.0, 65504.0, 65519.0, 65520.0, 448.0, 465.0, 1e300, -1e300, 5e-324, 6e-8, 3e-8};
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(mantissa(random), exponent(random));
    samples.push_back(i % 2 == 0 ? value : -value);
  }
  for (int i = 0; i < 4096; ++i) samples.push_back(1.0 + i / 4096.0);  // ties of float16 and bfloat16
  return samples;
}

class PreludeRounding : public testing::TestWithParam<std::pair<const char*, DType>> {};

TEST_P(PreludeRounding, AgreesWithTheDtypeItEmulates) {
  PrecisionVariant variant = VariantNamed(GetParam().first);
  const std::vector<double> samples = Samples();
  const std::vector<double> rounded = RoundedByPrelude(variant, samples, /*sums=*/false);
  ASSERT_EQ(rounded.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(rounded[i], RoundedByHost(GetParam().second, samples[i])) << "rounding " << samples[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PreludeRounding,
                         testing::Values(std::pair{"float32", DType::kFloat32}, std::pair{"float16_inputs", DType::kFloat16},
                                         std::pair{"bfloat16_inputs", DType::kBFloat16}),
                         [](const auto& parameter) { return std::string(parameter.param.first); });

TEST(PreludeRounding, AccumulatorRoundsAfterEveryAddition) {
  std::vector<double> ones(3000, 1.0);
  const std::vector<double> sums = RoundedByPrelude(VariantNamed("float16_accumulation"), ones, /*sums=*/true);
  ASSERT_EQ(sums.size(), ones.size());
  EXPECT_EQ(sums[2047], 2048.0);
  EXPECT_EQ(sums.back(), 2048.0) << "2048 + 1 is a tie that goes to the even 2048";
}

TEST(PreludeRounding, Float8KeepsFourSignificantBits) {
  const std::vector<double> rounded =
      RoundedByPrelude(VariantNamed("float8_inputs"), {1.0, 1.06, 1.07, 17.0, 449.0, 1000.0, 0.001}, /*sums=*/false);
  EXPECT_THAT(rounded, testing::ElementsAre(1.0, 1.0, 1.125, 16.0, 448.0, HUGE_VAL, 0.001953125));
}

}  // namespace
}  // namespace hone
