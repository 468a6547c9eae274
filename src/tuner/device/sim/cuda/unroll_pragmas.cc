// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See unroll_pragmas.h. The text is processed line by line, since a pragma is a whole line.
#include "tuner/device/sim/cuda/unroll_pragmas.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tuner/device/sim/cuda/asm_statement.h"

namespace hone {
namespace {

std::string_view TakeWord(std::string_view s, size_t& i) {
  while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
  const size_t begin = i;
  while (i < s.size() && (std::isalnum(static_cast<unsigned char>(s[i])) || s[i] == '_')) ++i;
  return s.substr(begin, i - begin);
}

// Returns the count of a line `#pragma unroll …`: kMaxUnroll when none is given; nullopt when it is another line or its
// count is not a literal.
std::optional<int> UnrollCount(std::string_view line) {
  size_t i = 0;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
  if (i >= line.size() || line[i] != '#') return std::nullopt;
  ++i;
  if (TakeWord(line, i) != "pragma" || TakeWord(line, i) != "unroll") return std::nullopt;
  std::string directive(line.substr(i));
  const size_t comment = directive.find("//");
  if (comment != std::string::npos) directive.resize(comment);
  std::string digits;
  for (const char c : directive) {
    if (std::isspace(static_cast<unsigned char>(c)) || c == '(' || c == ')') continue;
    if (!std::isdigit(static_cast<unsigned char>(c))) return std::nullopt;
    digits += c;
  }
  if (digits.empty()) return kMaxUnroll;
  if (digits.size() > 6) return kMaxUnroll;
  return std::clamp(std::stoi(digits), 0, kMaxUnroll);
}

// Returns whether the next token from `position` begins a loop.
bool LoopFollows(std::string_view s, size_t position) {
  while (position < s.size()) {
    if (std::isspace(static_cast<unsigned char>(s[position]))) {
      ++position;
    } else if (s[position] == '/' && SkipCommentOrLiteral(s, position) != position) {
      position = SkipCommentOrLiteral(s, position);
    } else {
      const std::string_view word = TakeWord(s, position);
      return word == "for" || word == "while" || word == "do";
    }
  }
  return false;
}

}  // namespace

std::string RewriteUnrollPragmas(std::string_view source) {
  std::string out;
  size_t i = 0;
  bool line_start = true;
  while (i < source.size()) {
    if (line_start) {
      const size_t end = std::min(source.find('\n', i), source.size());
      const std::string_view line = source.substr(i, end - i);
      const std::optional<int> count = UnrollCount(line);
      if (count && LoopFollows(source, end)) {
        out += "#pragma GCC unroll " + std::to_string(*count);
        i = end;
        continue;
      }
    }
    line_start = false;
    const size_t skipped = SkipCommentOrLiteral(source, i);
    const size_t end = skipped == i ? i + 1 : skipped;
    if (source[end - 1] == '\n') line_start = true;
    out.append(source.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace hone
