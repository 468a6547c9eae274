// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/function_template.h"

#include <algorithm>

namespace hone {
namespace {

// Returns the tokens between the angle bracket at `open` and its partner, split at commas; `*close` receives the
// partner.
std::vector<std::pair<int, int>> AngleParts(const CuSource& s, int open, int* close) {
  std::vector<std::pair<int, int>> parts;
  int depth = 0, begin = open + 1;
  for (int i = open; i < static_cast<int>(s.tokens.size()); ++i) {
    if (s.token(i).match > i) i = s.token(i).match;
    if (s.TokenIs(i, "<")) ++depth;
    const bool end = s.TokenIs(i, ">") && --depth == 0;
    if (end || (s.TokenIs(i, ",") && depth == 1)) {
      if (begin < i) parts.emplace_back(begin, i);
      begin = i + 1;
    }
    if (end) {
      *close = i;
      return parts;
    }
    if (s.TokenIs(i, ";") || s.TokenIs(i, "{")) break;
  }
  *close = open;
  return {};
}

}  // namespace

int DefinitionStart(const CuSource& source, int body_open) {
  int first = body_open;
  while (first > 0) {
    const Token& before = source.token(first - 1);
    if (before.match >= 0 && before.match < first - 1 && before.text == ")") {
      first = before.match;
      continue;
    }
    if (before.kind == TokenKind::kDirective || before.text == ";" || before.text == "}" || before.text == "{") break;
    --first;
  }
  return first;
}

std::vector<std::string> TemplateNames(const CuSource& source, int body_open) {
  std::vector<std::string> names;
  const int first = DefinitionStart(source, body_open);
  if (!source.TokenIs(first, "template") || !source.TokenIs(first + 1, "<")) return names;
  int close = first;
  for (const auto& [a, b] : AngleParts(source, first + 1, &close)) {
    std::string name;
    for (int i = a; i < b && !source.TokenIs(i, "="); ++i) {
      if (source.token(i).kind == TokenKind::kIdentifier) name = std::string(source.token(i).text);
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::vector<std::string>> ExplicitInstantiations(const CuSource& source, const std::string& name) {
  std::vector<std::vector<std::string>> instantiations;
  for (int i = 0; i + 2 < static_cast<int>(source.tokens.size()); ++i) {
    if (!source.TokenIs(i, "template") || source.TokenIs(i + 1, "<")) continue;
    for (int k = i + 1; k < static_cast<int>(source.tokens.size()) && !source.TokenIs(k, ";") && !source.TokenIs(k, "("); ++k) {
      if (!source.TokenIs(k, name) || !source.TokenIs(k + 1, "<")) continue;
      int close = k;
      std::vector<std::string> arguments;
      for (const auto& [a, b] : AngleParts(source, k + 1, &close)) {
        const size_t from = source.token(a).begin, to = source.token(b - 1).end;
        arguments.push_back(source.text.substr(from, to - from));
      }
      if (source.TokenIs(close + 1, "(") &&
          std::find(instantiations.begin(), instantiations.end(), arguments) == instantiations.end())
        instantiations.push_back(arguments);
      break;
    }
  }
  return instantiations;
}

}  // namespace hone
