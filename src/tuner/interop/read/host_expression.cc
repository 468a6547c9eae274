// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/host_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 6> kOwnFunctions{"ceil_div", "min", "max", "round_up", "log2"};

// Words that C++ or CUDA reserves. A task may use them as names of dimensions.
constexpr std::array<std::string_view, 76> kReserved{
    "alignas",  "alignof",  "and",      "asm",       "auto",     "bool",     "break",     "case",      "catch",
    "char",     "class",    "const",    "constexpr", "continue", "decltype", "default",   "delete",    "do",
    "double",   "else",     "enum",     "explicit",  "export",   "extern",   "false",     "float",     "for",
    "friend",   "goto",     "if",       "inline",    "int",      "long",     "mutable",   "namespace", "new",
    "noexcept", "not",      "nullptr",  "operator",  "or",       "private",  "protected", "public",    "register",
    "return",   "short",    "signed",   "sizeof",    "static",   "struct",   "switch",    "template",  "this",
    "throw",    "true",     "try",      "typedef",   "typeid",   "typename", "union",     "unsigned",  "using",
    "virtual",  "void",     "volatile", "while",     "xor",      "concept",  "requires",  "dim3",      "threadIdx",
    "blockIdx", "blockDim", "gridDim",  "warpSize"};

}  // namespace

Result<std::string> HostExpression(std::string_view text, const HostNames& names) {
  const std::vector<Token> tokens = LexCuda(text);
  // In C++ the product of two large literals is an `int` and may overflow: literals get the suffix LL.
  bool wide = false;
  for (const Token& t : tokens) wide = wide || (t.kind == TokenKind::kNumber && t.text.size() > 4);
  std::string out;
  size_t copied = 0;
  const auto copy_to = [&](size_t end) {
    out += text.substr(copied, end - copied);
    copied = end;
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.kind == TokenKind::kNumber && wide) {
      copy_to(t.end);
      out += "LL";
    }
    if (t.kind != TokenKind::kIdentifier) continue;
    copy_to(t.begin);
    const bool called = i + 1 < tokens.size() && tokens[i + 1].text == "(" && tokens[i + 1].match > 0;
    if (!called) {
      const auto found = names.names.find(std::string(t.text));
      out += found == names.names.end() ? std::string(t.text) : found->second;
      copied = t.end;
      continue;
    }
    if (std::find(kOwnFunctions.begin(), kOwnFunctions.end(), t.text) != kOwnFunctions.end()) {
      // The header's function is called Log2, since C's math library has a log2.
      out += t.text == "log2" ? "Log2" : std::string(t.text);
      copied = t.end;
      continue;
    }
    const auto close = static_cast<size_t>(tokens[i + 1].match);
    std::vector<std::string> arguments;
    size_t begin = tokens[i + 1].end;
    int depth = 0;
    for (size_t k = i + 2; k <= close; ++k) {
      const std::string_view word = tokens[k].text;
      if (word == "<") ++depth;
      if (word == ">") --depth;
      if (k < close && tokens[k].match > static_cast<int>(k)) {
        k = static_cast<size_t>(tokens[k].match);
        continue;
      }
      if (k != close && (word != "," || depth > 0)) continue;
      std::string argument(text.substr(begin, tokens[k].begin - begin));
      argument.erase(0, argument.find_first_not_of(" \t\n"));
      argument.erase(argument.find_last_not_of(" \t\n") + 1);
      arguments.push_back(std::move(argument));
      begin = tokens[k].end;
    }
    Result<std::string> call = names.call ? names.call(t.text, arguments)
                                          : Status::InvalidArgument(fmt::format("{}() has no meaning here", t.text));
    if (!call.ok()) return call.status().WithContext(fmt::format("expression '{}'", text));
    out += *call;
    copied = tokens[close].end;
    i = close;
  }
  copy_to(text.size());
  return out;
}

std::string HostIdentifier(std::string_view name, const std::vector<std::string>& taken_names) {
  std::string result(name);
  const auto clashes = [&] {
    return std::find(kReserved.begin(), kReserved.end(), result) != kReserved.end() ||
           std::find(taken_names.begin(), taken_names.end(), result) != taken_names.end();
  };
  while (clashes()) result += '_';
  return result;
}

}  // namespace hone
