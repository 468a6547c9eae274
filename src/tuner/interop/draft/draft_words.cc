// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/draft/draft_words.h"

#include <fmt/format.h>

#include <cstdlib>

#include "hone/tuner/expression.h"
#include "tuner/interop/read/plan_expression.h"
#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {

using std::string_view;

std::optional<DType> ElementType(string_view type) {
  static const std::map<string_view, DType> kDTypeOfCudaType = {{"float", DType::kFloat32},
                                                                {"double", DType::kFloat64},
                                                                {"half", DType::kFloat16},
                                                                {"__half", DType::kFloat16},
                                                                {"__nv_bfloat16", DType::kBFloat16},
                                                                {"nv_bfloat16", DType::kBFloat16},
                                                                {"int", DType::kInt32},
                                                                {"int32_t", DType::kInt32},
                                                                {"unsigned", DType::kUInt32},
                                                                {"unsigned int", DType::kUInt32},
                                                                {"uint32_t", DType::kUInt32},
                                                                {"bool", DType::kUInt8},  // a byte of 0 or 1
                                                                {"uint16_t", DType::kInt16},
                                                                {"unsigned short", DType::kInt16},
                                                                {"uint64_t", DType::kInt64},
                                                                {"unsigned long", DType::kInt64},
                                                                {"unsigned long long", DType::kInt64},
                                                                {"size_t", DType::kInt64},
                                                                {"long int", DType::kInt64},
                                                                {"int64_t", DType::kInt64},
                                                                {"long", DType::kInt64},
                                                                {"long long", DType::kInt64},
                                                                {"long long int", DType::kInt64},
                                                                {"int16_t", DType::kInt16},
                                                                {"short", DType::kInt16},
                                                                {"int8_t", DType::kInt8},
                                                                {"char", DType::kInt8},
                                                                {"signed char", DType::kInt8},
                                                                {"uint8_t", DType::kUInt8},
                                                                {"unsigned char", DType::kUInt8},
                                                                {"float4", DType::kFloat32},
                                                                {"float2", DType::kFloat32},
                                                                {"half2", DType::kFloat16},
                                                                {"__half2", DType::kFloat16},
                                                                {"__nv_bfloat162", DType::kBFloat16},
                                                                {"__nv_fp8_e4m3", DType::kFloat8E4M3},
                                                                {"__nv_fp8x2_e4m3", DType::kFloat8E4M3},
                                                                {"__nv_fp8x4_e4m3", DType::kFloat8E4M3},
                                                                {"__nv_fp8_e5m2", DType::kFloat8E5M2},
                                                                {"__nv_fp8x2_e5m2", DType::kFloat8E5M2},
                                                                {"__nv_fp8x4_e5m2", DType::kFloat8E5M2},
                                                                {"__nv_fp8_e8m0", DType::kFloat8E8M0},
                                                                {"__nv_fp4x2_e2m1", DType::kFloat4Pair},
                                                                {"__nv_fp4x4_e2m1", DType::kFloat4Pair}};
  const auto found = kDTypeOfCudaType.find(type);
  if (found == kDTypeOfCudaType.end()) return std::nullopt;
  return found->second;
}

int ElementsOf(string_view type) {
  for (const char* four : {"float4", "__nv_fp8x4_e4m3", "__nv_fp8x4_e5m2"}) {
    if (type == four) return 4;
  }
  // A tensor of 4-bit floats counts pairs, so that __nv_fp4x2_e2m1 is one element.
  for (const char* two : {"float2", "half2", "__half2", "__nv_bfloat162", "__nv_fp8x2_e4m3", "__nv_fp8x2_e5m2", "__nv_fp4x4_e2m1"}) {
    if (type == two) return 2;
  }
  return 1;
}

std::string IntegerSuffix(string_view type) {
  if (type == "int" || type == "int32_t" || type == "signed" || type == "signed int") return "i32";
  if (type == "unsigned" || type == "unsigned int" || type == "uint32_t" || type == "uint") return "u32";
  if (type == "size_t" || type == "uint64_t" || type == "unsigned long" || type == "unsigned long long" ||
      type == "std::size_t")
    return "u64";
  if (type == "long" || type == "long long" || type == "int64_t" || type == "long int" || type == "long long int" ||
      type == "ptrdiff_t")
    return "i64";
  if (type == "bool") return "bool";
  return "";
}

std::string Quoted(string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}
std::string List(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += fmt::format("{}{}", out.empty() ? "" : ", ", Quoted(item));
  return "[" + out + "]";
}
std::string InParentheses(const std::string& text) {
  const std::vector<Token> tokens = LexCuda(text);
  return tokens.size() <= 1 ? text : "(" + text + ")";
}
std::string ReplaceNames(const std::string& text, const std::map<std::string, std::string>& replacements) {
  std::vector<TextEdit> edits;
  for (const Token& t : LexCuda(text)) {
    const auto found = replacements.find(std::string(t.text));
    if (t.kind == TokenKind::kIdentifier && found != replacements.end())
      edits.push_back({t.begin, t.end, InParentheses(found->second)});
  }
  return TidyExpression(ApplyEdits(text, std::move(edits)));
}
std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto add = [&] {
    const size_t a = part.find_first_not_of(" \t"), b = part.find_last_not_of(" \t");
    if (a != std::string::npos) parts.push_back(part.substr(a, b - a + 1));
    part.clear();
  };
  for (const char c : text) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      add();
    } else {
      part += c;
    }
  }
  add();
  return parts;
}
std::optional<double> LiteralValue(string_view text) {
  std::string t(text);
  while (!t.empty() && (t.back() == 'f' || t.back() == 'F')) t.pop_back();
  char* end = nullptr;
  const double value = std::strtod(t.c_str(), &end);
  if (t.empty() || end != t.c_str() + t.size()) return std::nullopt;
  return value;
}

constexpr string_view kValuesForms =
    "there are normal, uniform, zero, constant, heavy_tailed, sorted, cancelling and log_uniform for numbers, index:BOUND (whole numbers "
    "from 0 to below BOUND) and offsets:BOUND (ascending up to BOUND) for integers";

Result<GivenValues> ReadGivenValues(const std::string& text) {
  GivenValues values;
  // SplitCommas leaves a bound such as min(a, b) in one piece.
  for (const std::string& part : SplitCommas(text)) {
    if (values.distribution.empty()) {
      const size_t colon = part.find(':');
      values.distribution = part.substr(0, colon);
      if (!DistributionFromName(values.distribution)) {
        return Status::InvalidArgument(fmt::format("'{}' is no distribution; {}", values.distribution, kValuesForms));
      }
      if (colon == std::string::npos) continue;
      values.bound = part.substr(colon + 1);
      const Result<Expression> bound = Expression::Parse(values.bound);
      if (!bound.ok()) return bound.status();
      continue;
    }
    const std::optional<double> share =
        part.starts_with("padding=") ? LiteralValue(std::string_view(part).substr(8)) : std::nullopt;
    if (!share || *share < 0 || *share >= 1) {
      return Status::InvalidArgument(
          fmt::format("'{}' is not understood; behind the distribution stands padding=SHARE, the share of entries that "
                      "are -1, from 0 to "
                      "below 1",
                      part));
    }
    values.padding = part.substr(8);
  }
  if (values.distribution.empty())
    return Status::InvalidArgument("expected a distribution, such as uniform or index:BOUND");
  if (!values.padding.empty() && values.distribution != "index")
    return Status::InvalidArgument("padding goes with index alone");
  return values;
}

}  // namespace hone
