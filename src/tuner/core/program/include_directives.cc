// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads each logical line by itself. Where a raw string or a comment ends depends on the lines before and on the
// compiler's dialect, so a text could mislead a reader that follows them.
#include "tuner/core/program/include_directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hone {

namespace {

constexpr size_t kNowhere = std::string_view::npos;

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
// g++ reads a NUL as a blank.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0'; }

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}

// Returns the text with the trigraphs that matter to a directive replaced.
std::string WithoutTrigraphs(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    const std::string_view three = source.substr(i, 3);
    const bool hash = three == "?\?=", backslash = three == "?\?/";  // escaped, so that these are no trigraphs themselves
    text += hash ? '#' : backslash ? '\\' : source[i];
    if (hash || backslash) i += 2;
  }
  return text;
}

// Returns the text with spliced lines joined. `over_blanks`: blanks may stand between the backslash and the line break.
std::string JoinLines(std::string_view source, bool over_blanks) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      size_t end = i + 1;
      while (end < source.size() && (over_blanks ? IsBlank(source[end]) : source[end] == '\r')) ++end;
      if (end < source.size() && source[end] == '\n') {
        i = end;
        continue;
      }
    }
    text += source[i];
  }
  return text;
}

// Returns whether a directive may stand behind `before`, the part of its line in front of it: blanks and comments.
bool MayPrecedeDirective(std::string_view before) {
  for (;;) {
    before.remove_prefix(SkipBlanks(before, 0));
    if (before.substr(0, 2) != "/*") break;
    const size_t end = before.find("*/", 2);
    if (end == kNowhere) return false;
    before.remove_prefix(end + 2);
  }
  if (before.empty()) return true;
  // The comment that ends here may have begun on an earlier line.
  const size_t end = before.rfind("*/");
  return end != kNowhere && SkipBlanks(before, end + 2) == before.size();
}

// Returns the directive whose text begins at `begin`, up to the end of its line, with a blank for each comment. A comment
// may reach over the end of a line.
std::string DirectiveText(std::string_view text, size_t begin) {
  std::string directive;
  for (size_t i = begin; i < text.size() && text[i] != '\n';) {
    if (text.substr(i, 2) == "//") break;
    if (text.substr(i, 2) == "/*") {
      const size_t end = text.find("*/", i + 2);
      directive += ' ';
      i = end == kNowhere ? text.size() : end + 2;
      continue;
    }
    if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i];
      size_t end = i + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end, text.size());
      if (end < text.size() && text[end] == quote) {
        directive += text.substr(i, end + 1 - i);
        i = end + 1;
        continue;
      }
    }
    directive += text[i++];
  }
  return directive;
}

// Judges the operand at `at` of `what`: <path>, "path", or a name.
std::optional<IncludeRefusal> JudgeOperand(std::string_view text, size_t at, std::string_view what) {
  at = SkipBlanks(text, at);
  if (at == text.size()) return std::nullopt;  // an error for every compiler
  if (text[at] != '<' && text[at] != '"') {
    return IncludeRefusal{Verdict::kUnsupported,
                          fmt::format("error: the name that '{}' takes must be written out, not made by a macro", what)};
  }
  const size_t close = text.find(text[at] == '<' ? '>' : '"', at + 1);
  const std::string_view path = text.substr(at + 1, close == kNowhere ? close : close - at - 1);
  const size_t first = SkipBlanks(path, 0);
  if ((first < path.size() && path[first] == '/') || path.find("..") != kNowhere) {
    return IncludeRefusal{Verdict::kRuleViolation,
                          fmt::format("error: {} of '{}': a candidate may include the toolkit's headers by name only", what, path)};
  }
  return std::nullopt;
}

std::optional<IncludeRefusal> JudgeDirective(std::string_view text) {
  size_t at = SkipBlanks(text, 0), end = at;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  const std::string_view directive = text.substr(at, end - at);
  if (directive == "include" || directive == "include_next" || directive == "import" || directive == "embed") {
    return JudgeOperand(text, end, fmt::format("#{}", directive));
  }
  // Names that ask for files may stand in conditions, and in macros that conditions use.
  for (at = end; at < text.size(); at = end) {
    end = at + 1;
    if (!IsNamePart(text[at])) continue;
    while (end < text.size() && IsNamePart(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (directive == "pragma" && (name == "dependency" || name == "include_alias" || name == "pch_preprocess")) {
      return IncludeRefusal{Verdict::kRuleViolation, fmt::format("error: '#pragma {}' reads files of the host", name)};
    }
    if (name != "__has_include" && name != "__has_include_next" && name != "__has_embed") continue;
    const size_t open = SkipBlanks(text, end);
    if (open < text.size() && text[open] == '(') {
      if (auto refusal = JudgeOperand(text, open + 1, name)) return refusal;
    } else if (directive == "define") {
      return IncludeRefusal{Verdict::kUnsupported,
                            fmt::format("error: '{}' under the name of a macro: write it out with the header's name", name)};
    }
  }
  return std::nullopt;
}

std::optional<IncludeRefusal> JudgeJoined(std::string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    for (size_t at = begin; at < end; ++at) {
      const size_t sign = text[at] == '#' ? 1 : text.substr(at, 2) == "%:" ? 2 : 0;
      if (sign == 0 || !MayPrecedeDirective(text.substr(begin, at - begin))) continue;
      if (auto refusal = JudgeDirective(DirectiveText(text, at + sign))) return refusal;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

// Returns the text with blanks in place of its comments, or nullopt if compilers may differ in where one ends: the text has
// raw strings, spliced lines, trigraphs, quotes that do not end on their line, or a comment on a line that names a file.
std::optional<std::string> WithoutComments(std::string_view source) {
  for (const char* word : {"R\"", "??", "u8'", "__has_include", "__has_embed", "pragma"}) {
    if (source.find(word) != kNowhere) return std::nullopt;
  }
  if (JoinLines(source, /*over_blanks=*/true).size() != source.size()) return std::nullopt;
  std::string text(source);
  size_t line = 0;  // where the current line begins
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\n') line = i + 1;
    const std::string_view two = source.substr(i, 2);
    if (two == "/*" || two == "//") {
      const std::string_view before = source.substr(line, i - line);
      for (const char* word : {"include", "import", "embed"}) {
        if (before.find(word) != kNowhere) return std::nullopt;
      }
      const size_t close = two == "/*" ? source.find("*/", i + 2) : std::min(source.find('\n', i), source.size());
      if (close == kNowhere) return std::nullopt;
      const size_t end = two == "/*" ? close + 2 : close;
      std::fill(text.begin() + static_cast<ptrdiff_t>(i), text.begin() + static_cast<ptrdiff_t>(end), ' ');
      i = end - 1;
    } else if (c == '"' || c == '\'') {
      // 1'000 holds no character. An apostrophe behind a name does not occur outside of prefixes.
      if (c == '\'' && i > 0 && IsNamePart(source[i - 1])) {
        size_t begin = i;
        while (begin > 0 && (IsNamePart(source[begin - 1]) || source[begin - 1] == '\'' || source[begin - 1] == '.')) --begin;
        const bool separates = i + 1 < source.size() && IsNamePart(source[i + 1]);
        if (!separates || std::isdigit(static_cast<unsigned char>(source[begin])) == 0) return std::nullopt;
        continue;
      }
      size_t end = i + 1;
      while (end < source.size() && source[end] != c && source[end] != '\n') end += source[end] == '\\' ? 2 : 1;
      if (end >= source.size() || source[end] != c) return std::nullopt;
      i = end;
    }
  }
  return text;
}

std::optional<IncludeRefusal> JudgeReadings(std::string_view source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (source.substr(0, kByteOrderMark.size()) == kByteOrderMark) source.remove_prefix(kByteOrderMark.size());
  // Compilers and dialects differ in what joins lines, so each reading is judged.
  for (const bool trigraphs : {false, true}) {
    const std::string text = trigraphs ? WithoutTrigraphs(source) : std::string(source);
    if (trigraphs && text.size() == source.size()) break;
    for (const bool over_blanks : {false, true}) {
      if (auto refusal = JudgeJoined(JoinLines(text, over_blanks))) return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<IncludeRefusal> JudgeIncludes(std::string_view source) {
  std::optional<IncludeRefusal> refusal = JudgeReadings(source);
  if (!refusal) return std::nullopt;
  // A comment may speak of a directive.
  const std::optional<std::string> plain = WithoutComments(source);
  return plain ? JudgeReadings(*plain) : refusal;
}

}  // namespace hone
