// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/highlight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text/markup.h"
#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/agents/diff.h"

namespace hone {
namespace {

// Returns whether the word is a keyword of C++ or CUDA.
bool IsKeyword(std::string_view word) {
  static const std::set<std::string_view> kWords = {
      "alignas",   "auto",     "bool",      "break",    "case",        "char",
      "class",     "const",    "constexpr", "continue", "default",     "do",
      "double",    "else",     "enum",      "extern",   "false",       "float",
      "for",       "if",       "inline",    "int",      "long",        "namespace",
      "return",    "short",    "signed",    "sizeof",   "static",      "struct",
      "switch",    "template", "true",      "typedef",  "typename",    "union",
      "unsigned",  "using",    "void",      "volatile", "while",       "asm",
      "half",      "half2",    "float2",    "float4",   "uint4",       "uint2",
      "int64_t",   "int32_t",  "uint32_t",  "size_t",   "static_cast", "reinterpret_cast",
      "threadIdx", "blockIdx", "blockDim",  "gridDim"};
  return kWords.count(word) != 0 || word.starts_with("__");
}

// Appends `text` to the last line, inside the element `tag`, which is closed at each line end and opened again on the
// next line.
void AppendInTag(std::vector<std::string>& lines, std::string_view text, const char* tag) {
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    if (!part.empty()) {
      const bool blank = part.find_first_not_of(" \t\r") == std::string_view::npos;
      lines.back() += tag == nullptr || blank ? EscapeMarkup(part) : fmt::format("<{0}>{1}</{0}>", tag, EscapeMarkup(part));
    }
    if (end == std::string_view::npos) return;
    lines.emplace_back();
    text.remove_prefix(end + 1);
  }
}

bool IsBare(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }

// Appends TOML with its tokens marked. Invalid TOML is appended unmarked; the plan's reader has already refused it.
void PutToml(std::vector<std::string>& lines, std::string_view text) {
  bool line_start = true;
  while (!text.empty()) {
    size_t length = 1;
    const char* tag = nullptr;
    const auto to = [&](size_t end) { return std::min(end, text.size()); };
    if (text[0] == '\n') {
      line_start = true;
      AppendInTag(lines, text.substr(0, 1), nullptr);
      text.remove_prefix(1);
      continue;
    }
    if (text[0] == ' ' || text[0] == '\t' || text[0] == '\r') {
      AppendInTag(lines, text.substr(0, 1), nullptr);
      text.remove_prefix(1);
      continue;
    }
    if (text[0] == '#') {
      length = to(text.find('\n'));
      tag = "i";
    } else if (text[0] == '[' && line_start && text.find_first_of("\",\n") > text.find(']')) {
      length = to(text.find('\n'));
      if (const size_t comment = text.find('#'); comment < length) length = comment;
      tag = "s";
    } else if (text.starts_with("\"\"\"") || text.starts_with("'''")) {
      const size_t end = text.find(text.substr(0, 3), 3);
      length = end == std::string_view::npos ? text.size() : end + 3;
      tag = "u";
    } else if (text[0] == '"' || text[0] == '\'') {
      while (length < text.size() && text[length] != text[0] && text[length] != '\n')
        length += text[0] == '"' && text[length] == '\\' ? 2 : 1;
      length = to(length + 1);
      tag = "u";
    } else if (IsBare(text[0])) {
      while (length < text.size() && IsBare(text[length])) ++length;
      const size_t after_name = text.find_first_not_of(" \t", length);
      tag = after_name != std::string_view::npos && text[after_name] == '=' ? "b" : "u";
    }
    line_start = false;
    AppendInTag(lines, text.substr(0, length), tag);
    text.remove_prefix(length);
  }
}

// Appends what stands between two tokens: white space and comments, one of which may be the plan.
void PutGap(std::vector<std::string>& lines, std::string_view text) {
  constexpr std::string_view kPlan = "/*hone";
  const auto add_plain = [&](std::string_view part) {
    if (!part.empty()) AppendInTag(lines, part, part.find('/') == std::string_view::npos ? nullptr : "i");
  };
  const size_t plan = text.find(kPlan);
  const size_t end = plan == std::string_view::npos ? plan : text.find("*/", plan);
  if (end == std::string_view::npos) return add_plain(text);
  add_plain(text.substr(0, plan));
  AppendInTag(lines, kPlan, "i");
  PutToml(lines, text.substr(plan + kPlan.size(), end - plan - kPlan.size()));
  add_plain(text.substr(end));
}

}  // namespace

std::vector<std::string> HighlightCuda(std::string_view text) {
  std::vector<std::string> lines(1);
  size_t at = 0;
  const auto gap = [&](size_t end) {
    if (end <= at) return;
    PutGap(lines, text.substr(at, end - at));
    at = end;
  };
  for (const Token& t : LexCuda(text)) {
    gap(t.begin);
    const char* tag = nullptr;
    switch (t.kind) {
      case TokenKind::kIdentifier:
        tag = IsKeyword(t.text) ? "b" : nullptr;
        break;
      case TokenKind::kNumber:
      case TokenKind::kString:
      case TokenKind::kCharacter:
        tag = "u";
        break;
      case TokenKind::kDirective:
        tag = "s";
        break;
      case TokenKind::kPunctuation:
        break;
    }
    AppendInTag(lines, t.text, tag);
    at = t.end;
  }
  gap(text.size());
  if (!text.empty() && text.back() == '\n') lines.pop_back();
  return lines;
}

std::string HighlightedSource(std::string_view text) {
  const std::vector<std::string> lines = HighlightCuda(text);
  const size_t width = std::to_string(lines.size()).size();
  std::string out = "<pre class=code tabindex=0>";
  for (size_t i = 0; i < lines.size(); ++i)
    out += fmt::format("<span data-n='{:>{}}'>{}</span>", i + 1, width, lines[i]);
  return out + "</pre>\n";
}

std::string HighlightedDiff(std::string_view before, std::string_view after, int context) {
  const std::vector<std::string> a = HighlightCuda(before), b = HighlightCuda(after);
  const std::vector<DiffLine> lines = DiffLines(before, after);
  // Marks the lines to show: the changed ones and `context` lines around each.
  std::vector<bool> shown(lines.size(), context < 0);
  for (size_t i = 0; context >= 0 && i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t near = static_cast<size_t>(context);
    for (size_t k = i > near ? i - near : 0; k < std::min(lines.size(), i + near + 1); ++k) shown[k] = true;
  }
  std::string out = "<pre class=code tabindex=0>";
  const size_t width = std::to_string(std::max(a.size(), b.size())).size();
  size_t i = 0, j = 0;
  bool skipped = false;
  for (size_t k = 0; k < lines.size(); ++k) {
    const DiffLine& line = lines[k];
    const std::string& html = line.mark == '-' ? a[std::min(i, a.size() - 1)] : b[std::min(j, b.size() - 1)];
    const std::string numbers = fmt::format("{:>{}} {:>{}}", line.mark == '+' ? "" : std::to_string(i + 1), width,
                                            line.mark == '-' ? "" : std::to_string(j + 1), width);
    i += line.mark != '+';
    j += line.mark != '-';
    if (!shown[k]) {
      if (!skipped) out += "<span class=gap>⋯</span>";
      skipped = true;
      continue;
    }
    skipped = false;
    const char* kind = line.mark == '+' ? " class=add" : line.mark == '-' ? " class=del" : "";
    out += fmt::format("<span{} data-n='{}'>{}{}</span>", kind, numbers, line.mark, html);
  }
  return out + "</pre>\n";
}

}  // namespace hone
