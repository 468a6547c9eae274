// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites arithmetic to the hardware's approximate functions. The evaluator decides whether the task's tolerance
// allows them.
#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

struct Replacement {
  std::string_view from, to;
};

// tanhf is expanded, because __tanhf came with CUDA 12.9: with e = exp(2x), tanh(x) = 1 - 2 / (e + 1); for large x, e
// is infinite and __fdividef gives 0, for very negative x, e is 0.
constexpr std::array<Replacement, 8> kFunctions{{{"expf", "__expf"},
                                                 {"logf", "__logf"},
                                                 {"log2f", "__log2f"},
                                                 {"log10f", "__log10f"},
                                                 {"sinf", "__sinf"},
                                                 {"cosf", "__cosf"},
                                                 {"powf", "__powf"},
                                                 {"exp10f", "__exp10f"}}};

// Returns whether token `i` is the name of a function that is called there.
bool IsCall(const SourceView& view, int i) {
  const auto& tokens = view.tokens();
  if (i + 1 >= static_cast<int>(tokens.size()) || !Is(view.token(i + 1), "(") || view.token(i + 1).match < 0)
    return false;
  if (i == 0) return true;
  const Token& before = view.token(i - 1);
  // A member or a definition of the same name is another function.
  return !Is(before, ".") && !Is(before, "->") && !Is(before, "::") && !Is(before, "float") && !Is(before, "double");
}

bool IsFloatLiteral(const Token& t) {
  return t.kind == TokenKind::kNumber && (t.text.back() == 'f' || t.text.back() == 'F') && !t.text.starts_with("0x");
}

// Names declared as `float` and nothing else, and names declared as `double`, anywhere in the file.
struct DeclaredNames {
  std::set<std::string_view> floats, doubles;
};

constexpr std::array<std::string_view, 14> kOtherTypes{"int",      "long",   "unsigned", "short",        "char",
                                                       "bool",     "auto",   "int32_t",  "size_t",       "int64_t",
                                                       "uint32_t", "__half", "half",     "__nv_bfloat16"};

// Returns the variables and parameters that are declared as float or as double.
DeclaredNames FindDeclarations(const SourceView& view) {
  DeclaredNames names;
  for (int i = 0; i + 1 < static_cast<int>(view.tokens().size()); ++i) {
    const bool is_float = Is(view.token(i), "float"), is_double = Is(view.token(i), "double");
    if (!is_float && !is_double) continue;
    // `float a = …, b = …;` and parameters: `float a, float b`.
    int j = i + 1;
    while (j < static_cast<int>(view.tokens().size()) &&
           (Is(view.token(j), "*") || Is(view.token(j), "const") || Is(view.token(j), "__restrict__") ||
            Is(view.token(j), "&"))) {
      ++j;
    }
    while (j < static_cast<int>(view.tokens().size()) && view.token(j).kind == TokenKind::kIdentifier) {
      (is_float ? names.floats : names.doubles).insert(view.token(j).text);
      ++j;
      // Over an initialiser or array bounds to a comma.
      while (j < static_cast<int>(view.tokens().size()) && !Is(view.token(j), ",") && !Is(view.token(j), ";") &&
             !Is(view.token(j), ")") && !Is(view.token(j), "{")) {
        j = view.token(j).match > j ? view.token(j).match + 1 : j + 1;
      }
      if (j >= static_cast<int>(view.tokens().size()) || !Is(view.token(j), ",")) break;
      ++j;
    }
  }
  // A name that is a float here and an integer there is not evidence.
  for (int i = 0; i + 1 < static_cast<int>(view.tokens().size()); ++i) {
    for (const std::string_view type : kOtherTypes) {
      if (Is(view.token(i), type)) names.floats.erase(view.token(i + 1).text);
    }
  }
  return names;
}

constexpr std::array<std::string_view, 16> kFloatCalls{
    "expf",  "__expf", "rsqrtf",     "sqrtf",        "fabsf",
    "fmaxf", "fminf",  "tanhf",      "logf",         "__logf",
    "powf",  "__powf", "__fdividef", "__half2float", "__bfloat162float",
    "fmaf"};

// Returns whether the tokens [first, last] are evidently a float expression: something in it is evidently float and
// nothing in it may be double. Halves are neither: their division is another operator.
bool EvidentlyFloat(const SourceView& view, const DeclaredNames& names, int first, int last) {
  bool evidence = false;
  for (int i = first; i <= last; ++i) {
    const Token& t = view.token(i);
    if (t.kind == TokenKind::kNumber) {
      const bool real = t.text.find('.') != std::string_view::npos && !IsFloatLiteral(t);
      if (real) return false;  // a double literal
      evidence = evidence || IsFloatLiteral(t);
    } else if (t.kind == TokenKind::kIdentifier) {
      if (i > 0 && (Is(view.token(i - 1), ".") || Is(view.token(i - 1), "->"))) continue;  // a member: threadIdx.x
      if (Is(t, "double") || names.doubles.contains(t.text)) return false;
      bool call = false;
      for (const std::string_view f : kFloatCalls) call = call || t.text == f;
      evidence = evidence || call || names.floats.contains(t.text) || Is(t, "float");
      // Brackets and call arguments say nothing about the type of the whole.
      if (i + 1 <= last && Is(view.token(i + 1), "[") && view.token(i + 1).match > 0) i = view.token(i + 1).match;
      if (call && view.token(i + 1).match > 0) i = view.token(i + 1).match;
    }
  }
  return evidence;
}

// Returns the end of the primary expression that begins at `i`: a literal, a name with calls, indices and members, a
// parenthesis.
int PrimaryEnd(const SourceView& view, int i, int limit) {
  if (i > limit) return -1;
  const Token& t = view.token(i);
  int end = i;
  if (Is(t, "("))
    end = t.match;
  else if (Is(t, "static_cast")) {
    while (end <= limit && !Is(view.token(end), "(")) ++end;
    end = end <= limit ? view.token(end).match : -1;
  } else if (t.kind != TokenKind::kIdentifier && t.kind != TokenKind::kNumber)
    return -1;
  if (end < 0) return -1;
  while (end + 1 <= limit) {
    const Token& next_token = view.token(end + 1);
    if ((Is(next_token, "(") || Is(next_token, "[")) && next_token.match > 0 &&
        view.token(end).kind != TokenKind::kNumber)
      end = next_token.match;
    else if (Is(next_token, ".") || Is(next_token, "::"))
      end += 2;
    else
      break;
  }
  return end;
}

// Returns the beginning of the primary expression that ends at `i`.
int PrimaryBegin(const SourceView& view, int i) {
  int begin = i;
  while (true) {
    const Token& t = view.token(begin);
    if (Is(t, ")") || Is(t, "]")) {
      if (t.match <= 0) return -1;
      begin = t.match;
      const Token& before = view.token(begin - 1);
      if (Is(before, ">")) return -1;  // a cast or template call: leave it
      if (before.kind == TokenKind::kIdentifier && !Is(before, "return") && !Is(before, "if"))
        --begin;
      else if (Is(before, ")") || Is(before, "]")) {
        --begin;
        continue;
      } else
        return begin;
    } else if (t.kind != TokenKind::kIdentifier && t.kind != TokenKind::kNumber) {
      return -1;
    }
    if (begin > 1 && Is(view.token(begin - 1), ".")) {
      begin -= 2;
      continue;
    }
    return begin;
  }
}

}  // namespace

RewriteOutcome UseFastIntrinsics(const SourceView& view) {
  std::vector<TextEdit> edits;
  for (int i = 0; i < static_cast<int>(view.tokens().size()); ++i) {
    const Token& t = view.token(i);
    if (t.kind != TokenKind::kIdentifier || !IsCall(view, i)) continue;
    for (const Replacement& r : kFunctions) {
      if (t.text == r.from) edits.push_back({t.begin, t.end, std::string(r.to)});
    }
    if (Is(t, "tanhf")) {
      edits.push_back({t.begin, t.end, "(1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * "});
      const size_t end = view.token(view.token(i + 1).match).end;
      edits.push_back({end, end, ")))"});
    }
  }
  if (edits.empty()) return NotApplicable("no accurate expf, logf, sinf, cosf, powf or tanhf is called");
  return ApplyEdits(view, edits, "accurate functions replaced by the hardware's approximations");
}

// Replaces divisions of floats by __fdividef, and reciprocal square roots by rsqrtf.
RewriteOutcome UseFastDivision(const SourceView& view) {
  const DeclaredNames names = FindDeclarations(view);
  std::vector<TextEdit> edits;
  int divisions = 0, roots = 0, unknown = 0;
  size_t done = 0;  // offset up to which the text is already part of an edit
  for (int i = 1; i + 1 < static_cast<int>(view.tokens().size()); ++i) {
    if (!Is(view.token(i), "/") || view.token(i).begin < done) continue;
    const int limit = static_cast<int>(view.tokens().size()) - 1;
    const int left_begin = PrimaryBegin(view, i - 1), right_end = PrimaryEnd(view, i + 1, limit);
    if (left_begin < 0 || right_end < 0) continue;
    // a * b / c groups as (a * b) / c: dividing b first would round differently and, for integers, be wrong.
    const Token& before = view.token(left_begin - 1);
    if (Is(before, "*") || Is(before, "/") || Is(before, "%") || view.token(left_begin).begin < done) {
      ++unknown;
      continue;
    }
    const bool left_float = EvidentlyFloat(view, names, left_begin, i - 1),
               right_float = EvidentlyFloat(view, names, i + 1, right_end);
    if (!left_float && !right_float) continue;  // integers, or not evidently floats
    const auto may_be_double = [&](int first, int last) {
      for (int j = first; j <= last; ++j) {
        const Token& t = view.token(j);
        if (Is(t, "double") || names.doubles.contains(t.text)) return true;
        if (t.kind == TokenKind::kNumber && t.text.find('.') != std::string_view::npos && !IsFloatLiteral(t))
          return true;
      }
      return false;
    };
    if (may_be_double(left_begin, right_end)) {
      ++unknown;
      continue;
    }
    const bool root = left_begin == i - 1 && IsFloatLiteral(view.token(left_begin)) &&
                      (Is(view.token(left_begin), "1.0f") || Is(view.token(left_begin), "1.f")) &&
                      Is(view.token(i + 1), "sqrtf") && view.token(i + 2).match == right_end;
    if (root) {
      edits.push_back({view.token(left_begin).begin, view.token(i + 1).end, "rsqrtf"});
      ++roots;
    } else {
      edits.push_back({view.token(left_begin).begin, view.token(left_begin).begin, "__fdividef("});
      edits.push_back({view.token(i - 1).end, view.token(i + 1).begin, ", "});
      edits.push_back({view.token(right_end).end, view.token(right_end).end, ")"});
      ++divisions;
    }
    done = view.token(right_end).end;
  }
  if (edits.empty()) {
    return NotApplicable(unknown == 0 ? "no division of floats is there"
                                      : "the divisions are part of longer products or may be in double");
  }
  return ApplyEdits(view, edits,
                    fmt::format("{} division(s) and {} reciprocal square root(s) changed", divisions, roots));
}

RewriteOutcome UseFastMathOption(const SourceView& view) {
  for (const std::string& option : view.candidate().plan.compiler_options) {
    if (option == "--use_fast_math") return NotApplicable("--use_fast_math is set already");
  }
  const PlanSection& top = view.plan().sections.front();
  if (const PlanKey* options = top.Find("options")) {
    const size_t close = view.text().rfind(']', options->value_end);
    if (close == std::string_view::npos || close < options->value_begin)
      return NotApplicable("'options' is not a list");
    const std::string inside(view.text().substr(options->value_begin + 1, close - options->value_begin - 1));
    const bool empty = inside.find('"') == std::string::npos && inside.find('\'') == std::string::npos;
    return ApplyEdits(view, {{close, close, empty ? "\"--use_fast_math\"" : ", \"--use_fast_math\""}}, "option added");
  }
  // Top-level keys stand before the first table.
  const auto& sections = view.plan().sections;
  const size_t at = sections.size() > 1 ? sections[1].begin : view.plan().end;
  return ApplyEdits(view, {{at, at, "options = [\"--use_fast_math\"]\n\n"}}, "option added");
}

}  // namespace hone
