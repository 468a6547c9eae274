// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/plan_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "hone/tuner/expression.h"

namespace hone {
namespace {

using std::string_view;

constexpr int kMaxPlanDepth = 24;  // names that stand for names, one after another; beyond it, they stand for each other

// Returns the functions that host code and plans both have: name in host code -> name in plans, cdiv -> ceil_div.
const std::map<string_view, string_view>& PlanFunctions() {
  static const std::map<string_view, string_view> kKnown = {
      {"min", "min"},           {"max", "max"},          {"ceil_div", "ceil_div"}, {"cdiv", "ceil_div"},
      {"ceilDiv", "ceil_div"},  {"CeilDiv", "ceil_div"}, {"CEIL_DIV", "ceil_div"}, {"div_up", "ceil_div"},
      {"divUp", "ceil_div"},    {"DIV_UP", "ceil_div"},  {"DivUp", "ceil_div"},    {"ceildiv", "ceil_div"},
      {"round_up", "round_up"}, {"roundUp", "round_up"}};
  return kKnown;
}

bool IsIntegerType(string_view word) {
  static constexpr std::array<string_view, 16> kIntegerTypes{
      "int",   "unsigned", "long",  "size_t", "int64_t", "int32_t", "uint32_t",     "uint64_t",
      "short", "char",     "const", "auto",   "ssize_t", "uint",    "unsigned int", "std::size_t"};
  return std::find(kIntegerTypes.begin(), kIntegerTypes.end(), word) != kIntegerTypes.end();
}

// Returns the value of an integer literal, decimal or hexadecimal.
std::optional<long long> Number(string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '\'') digits += c;
  }
  while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != string_view::npos) digits.pop_back();
  int base = 10;
  const char* begin = digits.data();
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    begin += 2;
  }
  long long value = 0;
  const auto [end, error] = std::from_chars(begin, digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Returns sizeof(type) in bytes, or 0 if the type is not known. `type` has no blanks ("unsignedlonglong").
int SizeOf(string_view type) {
  if (type == "double" || type == "int64_t" || type == "longlong" || type == "size_t" || type == "uint64_t" ||
      type == "unsignedlonglong" || type == "long")
    return 8;
  if (type == "float4" || type == "uint4" || type == "int4") return 16;
  if (type == "float2") return 8;
  if (type == "half" || type == "__half" || type == "__nv_bfloat16" || type == "nv_bfloat16" || type == "short" ||
      type == "int16_t" || type == "uint16_t" || type == "unsignedshort")
    return 2;
  if (type == "char" || type == "uint8_t" || type == "int8_t" || type == "bool" || type == "unsignedchar" ||
      type == "__nv_fp8_e4m3" || type == "__nv_fp8_e5m2" || type == "__nv_fp8_e8m0" ||
      type == "signedchar")
    return 1;
  if (type == "float" || type == "int" || type == "unsigned" || type == "half2" || type == "uint32_t" ||
      type == "int32_t" || type == "unsignedint" || type == "__half2" || type == "__nv_bfloat162")
    return 4;
  return 0;
}

// Returns whether the text needs no parentheses as an operand.
bool IsSimple(string_view text) {
  const std::vector<Token> tokens = LexCuda(text);
  if (tokens.size() == 1) return true;
  const size_t last = tokens.size() - 1;
  if (tokens[0].text == "(" && tokens[0].match == static_cast<int>(last)) return true;
  return tokens.size() > 2 && tokens[0].kind == TokenKind::kIdentifier && tokens[1].text == "(" &&
         tokens[1].match == static_cast<int>(last);
}

std::string Operand(const std::string& text) { return IsSimple(text) ? text : "(" + text + ")"; }

// Returns whether a word ends the operand of a shift: an operator that binds no tighter, or a bracket that closes.
bool EndsShiftOperand(string_view word) {
  return word == ")" || word == "," || word == "<" || word == ">" || word == "<=" || word == ">=" || word == "==" ||
         word == "!=" || word == "&&" || word == "||" || word == "?" || word == ":" || word == "<<";
}

// Returns the start of a shift's left operand in the text so far.
size_t LeftOfShift(const std::string& out) {
  const std::vector<Token> tokens = LexCuda(out);
  size_t begin = tokens.empty() ? 0 : tokens[0].begin;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].match > static_cast<int>(i)) {
      i = static_cast<size_t>(tokens[i].match);
      continue;
    }
    if ((tokens[i].text == "(" || EndsShiftOperand(tokens[i].text)) && i + 1 < tokens.size())
      begin = tokens[i + 1].begin;
  }
  return begin;
}

// Returns the value of an expression that consists of numbers, as text; other text unchanged.
std::string FoldConstants(const std::string& text) {
  const std::vector<Token> tokens = LexCuda(text);
  if (tokens.size() < 2) return text;
  for (const Token& t : tokens) {
    if (t.kind == TokenKind::kIdentifier && PlanFunctions().count(t.text) == 0) return text;
  }
  const Result<Expression> expression = Expression::Parse(text);
  if (!expression.ok()) return text;
  const Result<int64_t> value = expression->Evaluate(std::map<std::string, int64_t>{});
  return value.ok() ? std::to_string(*value) : text;
}

}  // namespace

Result<std::string> PlanExpressions::Name(const std::string& name, int depth) const {
  if (const auto dim = dims_.find(name); dim != dims_.end()) return dim->second;
  if (function_ >= 0) {
    const CuFunction& f = source_.functions[static_cast<size_t>(function_)];
    if (const auto local = f.locals.find(name); local != f.locals.end()) {
      if (std::find(f.changed.begin(), f.changed.end(), name) != f.changed.end()) {
        return Status::InvalidArgument(fmt::format("'{}' is changed after it was set", name));
      }
      return Resolve(local->second, depth + 1);
    }
  }
  if (const auto constant = source_.constants.find(name); constant != source_.constants.end()) {
    return Resolve(constant->second, depth + 1);
  }
  return Status::InvalidArgument(fmt::format("'{}' is not known", name));
}

std::optional<std::string> PlanExpressions::Component(const std::string& name, string_view axis) const {
  if (function_ < 0 || (axis != "x" && axis != "y" && axis != "z")) return std::nullopt;
  const CuFunction& f = source_.functions[static_cast<size_t>(function_)];
  const auto local = f.locals.find(name);
  if (local == f.locals.end() || !local->second.starts_with("dim3(")) return std::nullopt;
  const std::vector<Token> tokens = LexCuda(local->second);
  const auto axis_index = static_cast<size_t>(axis[0] - 'x');
  size_t part = 0, begin = 2;
  for (size_t i = 2; i < tokens.size(); ++i) {
    if (tokens[i].match > static_cast<int>(i)) {
      i = static_cast<size_t>(tokens[i].match);
      continue;
    }
    if (tokens[i].text != "," && i + 1 != tokens.size()) continue;
    if (part++ == axis_index && begin < i) {
      return local->second.substr(tokens[begin].begin, tokens[i - 1].end - tokens[begin].begin);
    }
    begin = i + 1;
  }
  return "1";
}

Result<std::string> PlanExpressions::Resolve(string_view text, int depth) const {
  if (depth > kMaxPlanDepth) return Status::InvalidArgument(fmt::format("'{}' refers to itself", text));
  const std::vector<Token> tokens = LexCuda(text);
  if (tokens.empty()) return Status::InvalidArgument("an expression is empty");
  std::string out;
  const auto put = [&](const std::string& word) {
    const bool tight = out.empty() || out.back() == '(' || out.back() == '!' || word == ")" || word == ",";
    if (!tight) out += ' ';
    out += word;
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.kind == TokenKind::kNumber) {
      const std::optional<long long> value = Number(t.text);
      if (!value) return Status::InvalidArgument(fmt::format("'{}' is no whole number", t.text));
      put(std::to_string(*value));
      continue;
    }
    // Casts: (int)x, (unsigned int)x, static_cast<int>(x), int(x).
    if (t.text == "(" && t.match > 0) {
      bool cast = t.match > static_cast<int>(i) + 1;
      for (size_t k = i + 1; k < static_cast<size_t>(t.match); ++k)
        cast = cast && (IsIntegerType(tokens[k].text) || tokens[k].text == "std" || tokens[k].text == "::");
      if (cast) {
        i = static_cast<size_t>(t.match);
        continue;
      }
    }
    if (t.text == "static_cast" && i + 1 < tokens.size()) {
      while (i + 1 < tokens.size() && tokens[i + 1].text != "(") ++i;
      continue;
    }
    if (IsIntegerType(t.text) && i + 1 < tokens.size() &&
        (tokens[i + 1].text == "(" || IsIntegerType(tokens[i + 1].text)))
      continue;
    const bool right_shift =
        t.text == ">" && i + 1 < tokens.size() && tokens[i + 1].text == ">" && t.end == tokens[i + 1].begin;
    if (t.text == "<<" || right_shift) {  // 1 << 20, (n + 3) >> 2
      size_t begin = i + (right_shift ? 2 : 1), end = begin;
      while (end < tokens.size() && !EndsShiftOperand(tokens[end].text)) {
        end = tokens[end].match > static_cast<int>(end) ? static_cast<size_t>(tokens[end].match) + 1 : end + 1;
      }
      std::optional<long long> divisor;
      if (begin < end) {
        const std::string_view operand = text.substr(tokens[begin].begin, tokens[end - 1].end - tokens[begin].begin);
        const Result<std::string> right_operand = Resolve(operand, depth + 1);
        if (!right_operand.ok()) return right_operand;
        divisor = Number(FoldConstants(*right_operand));
      }
      if (!divisor || *divisor < 0 || *divisor > 62)
        return Status::InvalidArgument(fmt::format("'{}' shifts by what is not known", text));
      const size_t left_begin = LeftOfShift(out);
      const std::string shifted =
          fmt::format("{} {} {}", Operand(out.substr(left_begin)), right_shift ? "/" : "*", 1LL << *divisor);
      out = out.substr(0, left_begin) + Operand(FoldConstants(shifted));
      i = end - 1;
      continue;
    }
    if (t.kind == TokenKind::kIdentifier) {
      if (t.text == "std" && i + 1 < tokens.size() && tokens[i + 1].text == "::") {
        ++i;
        continue;
      }
      size_t open = i + 1;
      if (open < tokens.size() && tokens[open].text == "<") {  // min<int>(a, b)
        size_t k = open;
        while (k < tokens.size() && tokens[k].text != ">") ++k;
        if (k + 1 < tokens.size() && tokens[k + 1].text == "(" && PlanFunctions().count(t.text) != 0) open = k + 1;
      }
      const bool called = open < tokens.size() && tokens[open].text == "(" && tokens[open].match > 0;
      if (i + 2 < tokens.size() && tokens[i + 1].text == ".") {
        if (const std::optional<std::string> component = Component(std::string(t.text), tokens[i + 2].text)) {
          Result<std::string> value = Resolve(*component, depth + 1);
          if (!value.ok()) return value;
          put(tokens.size() == 3 ? *value : Operand(*value));
          i += 2;
          continue;
        }
      }
      if (!called) {
        if (t.text == "true" || t.text == "false") {
          put(t.text == "true" ? "1" : "0");
          continue;
        }
        Result<std::string> value = Name(std::string(t.text), depth);
        if (!value.ok()) return value;
        put(tokens.size() == 1 ? *value : Operand(*value));
        continue;
      }
      const auto close = static_cast<size_t>(tokens[open].match);
      if (t.text == "sizeof") {
        std::string type;
        for (size_t k = open + 1; k < close; ++k) type += tokens[k].text;
        const int bytes = SizeOf(type);
        if (bytes == 0) return Status::InvalidArgument(fmt::format("the size of '{}' is not known", type));
        put(std::to_string(bytes));
        i = close;
        continue;
      }
      std::vector<std::string> arguments;
      size_t begin = open + 1;
      for (size_t k = open + 1; k <= close; ++k) {
        if (k < close && tokens[k].match > static_cast<int>(k)) {
          k = static_cast<size_t>(tokens[k].match);
          continue;
        }
        if (k != close && tokens[k].text != ",") continue;
        if (begin < k) {
          arguments.emplace_back(text.substr(tokens[begin].begin, tokens[k - 1].end - tokens[begin].begin));
        }
        begin = k + 1;
      }
      std::vector<std::string> values;
      for (const std::string& argument : arguments) {
        Result<std::string> value = Resolve(argument, depth + 1);
        if (!value.ok()) return value;
        values.push_back(*value);
      }
      if (const auto known = PlanFunctions().find(t.text); known != PlanFunctions().end() && values.size() >= 2) {
        put(fmt::format("{}({})", known->second, fmt::join(values, ", ")));
        i = close;
        continue;
      }
      // A macro or a one-line helper function is replaced by its body, with the arguments' values in it.
      std::vector<std::string> parameters;
      std::string body;
      if (const auto macro = source_.macros.find(std::string(t.text)); macro != source_.macros.end()) {
        parameters = macro->second.first;
        body = macro->second.second;
      } else {
        for (const CuFunction& f : source_.functions) {
          if (f.name != t.text || !f.returned) continue;
          for (const CuParameter& p : f.parameters) parameters.push_back(p.name);
          body = *f.returned;
        }
      }
      if (body.empty() || parameters.size() != values.size()) {
        return Status::InvalidArgument(fmt::format("the call '{}' cannot be followed",
                                                   Span(text, tokens, static_cast<int>(i), static_cast<int>(close))));
      }
      const std::vector<Token> body_tokens = LexCuda(body);
      std::string inlined;
      for (const Token& w : body_tokens) {
        const auto p = std::find(parameters.begin(), parameters.end(), w.text);
        inlined += p == parameters.end() ? std::string(w.text) + " "
                                         : Operand(values[static_cast<size_t>(p - parameters.begin())]) + " ";
      }
      Result<std::string> value = Resolve(inlined, depth + 1);
      if (!value.ok()) return value;
      put(Operand(*value));
      i = close;
      continue;
    }
    static constexpr string_view kOperators[] = {
        "+", "-", "*", "/", "%", "(", ")", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!", "?", ":", ","};
    if (std::find(std::begin(kOperators), std::end(kOperators), t.text) == std::end(kOperators)) {
      return Status::InvalidArgument(fmt::format("'{}' in '{}' is not something a plan can say", t.text, text));
    }
    put(std::string(t.text));
  }
  return TidyExpression(std::move(out));
}

std::string TidyExpression(std::string text) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<Token> tokens = LexCuda(text);
    for (size_t i = 0; i < tokens.size() && !changed; ++i) {
      const Token& t = tokens[i];
      if (t.text != "(" || t.match < 0) continue;
      const auto close = static_cast<size_t>(t.match);
      const bool call = i > 0 && tokens[i - 1].kind == TokenKind::kIdentifier;
      const auto span = [&](size_t a, size_t b) {
        return text.substr(tokens[a].begin, tokens[b].end - tokens[a].begin);
      };
      // Removes parentheses around one word, a whole argument, or the whole text.
      const bool stands_alone = i > 0 && close + 1 < tokens.size() &&
                                (tokens[i - 1].text == "(" || tokens[i - 1].text == ",") &&
                                (tokens[close + 1].text == ")" || tokens[close + 1].text == ",");
      if (!call && (close == i + 2 || stands_alone || (i == 0 && close + 1 == tokens.size()))) {
        text = text.substr(0, t.begin) + span(i + 1, close - 1) + text.substr(tokens[close].end);
        changed = true;
        break;
      }
      // Recognises (a + k - 1) / k, (a + (k - 1)) / k and, for numbers, (a + 255) / 256 as ceil_div.
      if (call || close + 2 >= tokens.size() || tokens[close + 1].text != "/") continue;
      if (i > 0 && (tokens[i - 1].text == "*" || tokens[i - 1].text == "/" || tokens[i - 1].text == "%")) continue;
      size_t last = close + 2;
      if (tokens[last].match > 0) last = static_cast<size_t>(tokens[last].match);
      if (last + 1 < tokens.size() && tokens[last].kind == TokenKind::kIdentifier && tokens[last + 1].text == "(")
        last = static_cast<size_t>(tokens[last + 1].match);
      const std::string divisor = span(close + 2, last);
      size_t plus = close;
      for (size_t k = i + 1; k < close; ++k) {
        if (tokens[k].match > static_cast<int>(k)) {
          k = static_cast<size_t>(tokens[k].match);
          continue;
        }
        if (tokens[k].text == "+") plus = k;
      }
      if (plus == close || plus == i + 1) continue;
      std::string added;
      for (size_t k = plus + 1; k < close; ++k) added += tokens[k].text;
      std::string want;
      for (size_t k = close + 2; k <= last; ++k) want += tokens[k].text;
      bool matches = added == want + "-1" || added == "(" + want + "-1)";
      // The divisor may be in parentheses: (n + 256 * 4 - 1) / (256 * 4).
      matches =
          matches || (tokens[close + 2].text == "(" && "(" + added + ")" == want.substr(0, want.size() - 1) + "-1)");
      if (!matches) {
        const std::optional<long long> a = Number(added), b = Number(want);
        matches = a && b && *a + 1 == *b;
      }
      if (!matches) continue;
      std::string inner = divisor;
      if (inner.size() > 2 && inner.front() == '(' && tokens[close + 2].text == "(" &&
          static_cast<size_t>(tokens[close + 2].match) == last)
        inner = inner.substr(1, inner.size() - 2);
      text = text.substr(0, t.begin) + fmt::format("ceil_div({}, {})", span(i + 1, plus - 1), inner) +
             text.substr(tokens[last].end);
      changed = true;
    }
  }
  return text;
}

}  // namespace hone
