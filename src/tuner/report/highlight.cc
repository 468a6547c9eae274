// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/highlight.h"

#include <fmt/format.h>

#include <set>

#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/report/diff.h"
#include "tuner/report/html.h"

namespace hone {
namespace {

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

// Appends `text` in the tag, closing and opening it again at line ends.
void Put(std::vector<std::string>& lines, std::string_view text, const char* tag) {
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    if (!part.empty()) {
      const bool blank = part.find_first_not_of(" \t\r") == std::string_view::npos;
      lines.back() += tag == nullptr || blank ? EscapeHtml(part) : fmt::format("<{0}>{1}</{0}>", tag, EscapeHtml(part));
    }
    if (end == std::string_view::npos) return;
    lines.emplace_back();
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string> HighlightCuda(std::string_view text) {
  std::vector<std::string> lines(1);
  size_t at = 0;
  const auto gap = [&](size_t end) {  // white space and comments
    if (end <= at) return;
    const std::string_view between = text.substr(at, end - at);
    Put(lines, between, between.find('/') == std::string_view::npos ? nullptr : "i");
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
    Put(lines, t.text, tag);
    at = t.end;
  }
  gap(text.size());
  if (!text.empty() && text.back() == '\n') lines.pop_back();
  return lines;
}

std::string HighlightedDiff(std::string_view before, std::string_view after, int context) {
  const std::vector<std::string> a = HighlightCuda(before), b = HighlightCuda(after);
  const std::vector<DiffLine> lines = DiffLines(before, after);
  // Distance to the next change decides what is left out.
  std::vector<bool> shown(lines.size(), context < 0);
  for (size_t i = 0; context >= 0 && i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t near = static_cast<size_t>(context);
    for (size_t k = i > near ? i - near : 0; k < std::min(lines.size(), i + near + 1); ++k) shown[k] = true;
  }
  std::string out = "<pre class=code tabindex=0>";
  size_t i = 0, j = 0;
  bool skipped = false;
  for (size_t k = 0; k < lines.size(); ++k) {
    const DiffLine& line = lines[k];
    const std::string& html = line.mark == '-' ? a[std::min(i, a.size() - 1)] : b[std::min(j, b.size() - 1)];
    i += line.mark != '+';
    j += line.mark != '-';
    if (!shown[k]) {
      if (!skipped) out += "<span class=gap>⋯</span>";
      skipped = true;
      continue;
    }
    skipped = false;
    const char* kind = line.mark == '+' ? " class=add" : line.mark == '-' ? " class=del" : "";
    out += fmt::format("<span{}>{}{}</span>", kind, line.mark, html);
  }
  return out + "</pre>\n";
}

}  // namespace hone
