// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/precision_variants.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace hone {
namespace {

// Device functions that round to a smaller format in double arithmetic, which is exact because a double holds every
// intermediate value. NVRTC, nvcc and the simulator's compiler all accept them. The type Sum rounds after every
// addition.
constexpr std::string_view kRounding = R"cpp(namespace hone_lint {{
static __device__ double Round(double x) {{
  if (x == 0.0 || isnan(x) || isinf(x)) return x;
  int exponent = 0;
  frexp(x, &exponent);
  exponent = exponent - 1 < {lowest_exponent} ? {lowest_exponent} : exponent - 1;
  const double ulp = ldexp(1.0, exponent - {mantissa_bits});
  const double rounded = rint(x / ulp) * ulp;
  if (fabs(rounded) <= {largest:.17g}) return rounded;
  return copysign(__longlong_as_double(0x7ff0000000000000LL), x);
}}
struct Sum {{
  double value;
  __device__ Sum() : value(0.0) {{}}
  __device__ Sum(double start) : value(start) {{}}
  __device__ Sum& operator+=(double addend) {{
    value = Round(value + addend);
    return *this;
  }}
  __device__ operator double() const {{ return value; }}
}};
}}
)cpp";

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns whether a line of the source uses `macro` without defining or testing it.
bool UsesMacro(std::string_view source, std::string_view macro) {
  size_t line_begin = 0;
  bool block_comment = false;
  while (line_begin < source.size()) {
    size_t line_end = source.find('\n', line_begin);
    if (line_end == std::string_view::npos) line_end = source.size();
    std::string_view line = source.substr(line_begin, line_end - line_begin);
    line_begin = line_end + 1;
    if (block_comment) {
      const size_t end = line.find("*/");
      if (end == std::string_view::npos) continue;
      line.remove_prefix(end + 2);
      block_comment = false;
    }
    if (const size_t begin = line.find("/*"); begin != std::string_view::npos) {
      block_comment = line.find("*/", begin + 2) == std::string_view::npos;
      line = line.substr(0, begin);
    }
    line = line.substr(0, line.find("//"));
    const size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] == '#') continue;
    for (size_t at = line.find(macro); at != std::string_view::npos; at = line.find(macro, at + 1)) {
      const bool begins = at == 0 || !IsWordCharacter(line[at - 1]);
      const bool ends = at + macro.size() == line.size() || !IsWordCharacter(line[at + macro.size()]);
      if (begins && ends) return true;
    }
  }
  return false;
}

// Returns the number of stored bits of the mantissa; 0 for types that are no floats.
int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 52;
    case DType::kFloat32: return 23;
    case DType::kFloat16: return 10;
    case DType::kBFloat16: return 7;
    case DType::kFloat8E4M3: return 3;
    case DType::kFloat8E5M2: return 2;
    case DType::kFloat4Pair: return 1;
    default: return 0;
  }
}

}  // namespace

std::string PrecisionVariant::Prelude() const {
  std::string text = fmt::format("// precision variant: {}\n", name);
  text += fmt::format(kRounding, fmt::arg("lowest_exponent", format.lowest_exponent),
                      fmt::arg("mantissa_bits", format.mantissa_bits), fmt::arg("largest", format.largest));
  const bool is_whole_oracle = part == PrecisionPart::kAll;
  if (is_whole_oracle || part == PrecisionPart::kInputs) {
    text += "#define HONE_ORACLE_IN(x) hone_lint::Round(static_cast<double>(x))\n";
  }
  if (is_whole_oracle || part == PrecisionPart::kIntermediates)
    text += "#define HONE_ORACLE_MID(x) hone_lint::Round(x)\n";
  if (is_whole_oracle || part == PrecisionPart::kAccumulation) text += "#define HONE_ORACLE_ACC hone_lint::Sum\n";
  return text;
}

const std::vector<PrecisionVariant>& PrecisionVariants() {
  using enum PrecisionPart;
  static const std::vector<PrecisionVariant> kVariants = {
      {"float32", kAll, kFloat32Format},
      {"tf32_inputs", kInputs, kTf32Format},
      {"float16_inputs", kInputs, kFloat16Format},
      {"float16_intermediates", kIntermediates, kFloat16Format},
      {"float16_accumulation", kAccumulation, kFloat16Format},
      {"bfloat16_inputs", kInputs, kBFloat16Format},
      {"bfloat16_intermediates", kIntermediates, kBFloat16Format},
      {"bfloat16_accumulation", kAccumulation, kBFloat16Format},
      {"float8_inputs", kInputs, kFloat8Format},
      {"float8_intermediates", kIntermediates, kFloat8Format},
  };
  return kVariants;
}

PrecisionJudgement JudgePrecision(const PrecisionVariant& variant, DType output) {
  const int variant_bits = variant.format.mantissa_bits, output_bits = MantissaBits(output);
  if (output == DType::kFloat64) {
    return PrecisionJudgement::kDishonest;  // float32 included
  }
  if (variant_bits >= 23) return PrecisionJudgement::kHonest;
  // Honest kernels keep sums in float32 at least, whatever the dtype of the result.
  if (variant.part == PrecisionPart::kAccumulation) return PrecisionJudgement::kDishonest;
  return variant_bits < output_bits ? PrecisionJudgement::kDishonest : PrecisionJudgement::kTolerated;
}

bool OracleHooks::UsesMacroOf(PrecisionPart part) const {
  switch (part) {
    case PrecisionPart::kInputs: return inputs;
    case PrecisionPart::kIntermediates: return intermediates;
    case PrecisionPart::kAccumulation: return accumulation;
    case PrecisionPart::kAll: return inputs || intermediates || accumulation;
  }
  return false;
}

OracleHooks FindOracleHooks(std::string_view oracle_source) {
  return {.inputs = UsesMacro(oracle_source, "HONE_ORACLE_IN"),
          .intermediates = UsesMacro(oracle_source, "HONE_ORACLE_MID"),
          .accumulation = UsesMacro(oracle_source, "HONE_ORACLE_ACC")};
}

double UnitRoundoff(DType dtype) { return IsFloating(dtype) ? std::ldexp(0.5, -MantissaBits(dtype)) : 0.0; }

}  // namespace hone
