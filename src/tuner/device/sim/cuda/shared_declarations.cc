// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See shared_declarations.h.
#include "tuner/device/sim/cuda/shared_declarations.h"

#include <cctype>
#include <vector>

#include "tuner/device/sim/cuda/asm_statement.h"
#include "tuner/device/sim/cuda/name_part.h"

namespace hone {
namespace {

// Characters of a declaration, and of the text before it, that are scanned at most. Without the limit, a text of many
// `__shared__` would take time quadratic in its length.
constexpr size_t kMostOfADeclaration = 2048;

// Returns the positions where an initialiser is missing in the declaration that continues at `begin`, after
// `__shared__`; empty when it is extern, or not understood (a macro's body without its semicolon, say): then nothing is
// changed.
std::vector<size_t> MissingInitializers(std::string_view s, size_t begin, bool in_directive) {
  s = s.substr(0, std::min(s.size(), begin + kMostOfADeclaration));
  std::vector<size_t> places;
  int depth = 0, angles = 0;
  bool initialized = false;
  size_t last = begin;  // after the last character of the declarator so far
  for (size_t i = begin; i < s.size();) {
    const char c = s[i];
    const size_t skipped = SkipCommentOrLiteral(s, i);
    if (skipped != i) {
      if (c != '/') last = skipped;
      i = skipped;
      continue;
    }
    if (c == '\n' && in_directive && s[i - 1] != '\\') return {};
    if (IsNamePart(c)) {
      size_t end = i;
      while (end < s.size() && IsNamePart(s[end])) ++end;
      if (s.substr(i, end - i) == "extern") return {};
      last = i = end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      // A brace that opens the body of an unnamed struct or union is part of the type; any other is an initialiser.
      if (c == '{' && depth == 0) {
        const std::string_view before = s.substr(begin, i - begin);
        if (before.find("struct") == std::string_view::npos && before.find("union") == std::string_view::npos)
          initialized = true;
      }
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return {};
    } else if (depth == 0 && c == '<') {
      ++angles;
    } else if (depth == 0 && c == '>') {
      --angles;
    } else if (depth == 0 && c == '=') {
      initialized = true;
    } else if (depth == 0 && angles <= 0 && (c == ',' || c == ';')) {
      if (!initialized) places.push_back(last);
      initialized = false;
      if (c == ';') return places;
    }
    if (!std::isspace(static_cast<unsigned char>(c)) && c != '\\') last = i + 1;
    ++i;
  }
  return {};
}

// Returns whether `extern` precedes position `at` in the same declaration.
bool ExternBefore(std::string_view s, size_t at) {
  std::string_view head = s.substr(0, at);
  head.remove_prefix(at - std::min(at, kMostOfADeclaration));
  if (const size_t start = head.find_last_of(";{}"); start != std::string_view::npos) head.remove_prefix(start + 1);
  const size_t found = head.rfind("extern");
  return found != std::string_view::npos && (found == 0 || !IsNamePart(head[found - 1])) &&
         (found + 6 >= head.size() || !IsNamePart(head[found + 6])) &&
         head.substr(found).find('\n') == std::string_view::npos;
}

}  // namespace

std::string InitializeSharedVariables(std::string_view source) {
  std::string out;
  size_t done = 0;
  bool in_directive = false, line_is_blank = true;
  for (size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (c == '\n') {
      if (i == 0 || source[i - 1] != '\\') in_directive = false;
      line_is_blank = true;
      ++i;
      continue;
    }
    if (c == '#' && line_is_blank) in_directive = true;
    if (!std::isspace(static_cast<unsigned char>(c))) line_is_blank = false;
    const size_t skipped = SkipCommentOrLiteral(source, i);
    if (skipped != i) {
      i = skipped;
      continue;
    }
    if (!IsNamePart(c)) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < source.size() && IsNamePart(source[end])) ++end;
    if (source.substr(i, end - i) == "__shared__" && !ExternBefore(source, i)) {
      for (const size_t place : MissingInitializers(source, end, in_directive)) {
        out.append(source.substr(done, place - done)).append("{}");
        done = place;
      }
    }
    i = end;
  }
  out.append(source.substr(done));
  return out;
}

}  // namespace hone
