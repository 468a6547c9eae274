// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/embed_source.h"

#include <algorithm>
#include <cctype>

#include "tuner/model/builtin/cuda_lexer.h"

namespace hone {
namespace {

// Returns the word of a preprocessor directive, "define" of "#  define  NAME(x)"; `*rest` receives "NAME(x)".
std::string_view DirectiveWord(std::string_view directive, std::string_view* directive_argument) {
  size_t at = 1;
  while (at < directive.size() && (directive[at] == ' ' || directive[at] == '\t')) ++at;
  size_t end = at;
  while (end < directive.size() && std::isalpha(static_cast<unsigned char>(directive[end])) != 0) ++end;
  *directive_argument = directive.substr(end);
  while (!directive_argument->empty() && std::isspace(static_cast<unsigned char>(directive_argument->front())) != 0)
    directive_argument->remove_prefix(1);
  while (!directive_argument->empty() && std::isspace(static_cast<unsigned char>(directive_argument->back())) != 0)
    directive_argument->remove_suffix(1);
  return directive.substr(at, end - at);
}

void AddOnce(std::vector<std::string>& list, std::string_view text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.emplace_back(text);
}

}  // namespace

EmbeddedSource EmbedSource(std::string_view source) {
  EmbeddedSource result;
  const std::vector<Token> tokens = LexCuda(source);
  std::vector<TextEdit> edits;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.kind == TokenKind::kDirective) {
      std::string_view directive_argument;
      const std::string_view word = DirectiveWord(t.text, &directive_argument);
      if (word == "include") {
        AddOnce(result.includes, directive_argument);
        edits.push_back({t.begin, t.end, ""});
      } else if (word == "pragma" && directive_argument == "once") {
        edits.push_back({t.begin, t.end, ""});
      } else if (word == "define") {
        size_t end = 0;
        while (
            end < directive_argument.size() &&
            (std::isalnum(static_cast<unsigned char>(directive_argument[end])) != 0 || directive_argument[end] == '_'))
          ++end;
        AddOnce(result.macros, directive_argument.substr(0, end));
      }
      continue;
    }
    // With C linkage, the kernel would have the same name in every namespace.
    if (t.text == "extern" && i + 1 < tokens.size() && tokens[i + 1].text == "\"C\"") {
      const bool block = i + 2 < tokens.size() && tokens[i + 2].text == "{";
      edits.push_back({t.begin, tokens[i + 1].end, block ? "inline namespace c_linkage" : ""});
    }
  }
  result.text = ApplyEdits(source, std::move(edits));
  return result;
}

}  // namespace hone
