// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/model/builtin/source_view.h"

namespace hone {
namespace {

// Returns the position after the newline that follows `at`, if only blanks or a // comment lie between; else `at`.
size_t EndOfLine(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
  if (text.substr(end).starts_with("//")) {
    const size_t newline = text.find('\n', end);
    return newline == std::string_view::npos ? text.size() : newline + 1;
  }
  return end < text.size() && text[end] == '\n' ? end + 1 : at;
}

// Returns whether the token may be the name of a function.
bool IsName(const Token& token) {
  static const std::set<std::string_view> not_names{"__launch_bounds__", "__attribute__", "alignas",  "__align__",
                                                    "decltype",          "noexcept",      "requires", "sizeof",
                                                    "static_assert",     "asm",           "__declspec"};
  return token.kind == TokenKind::kIdentifier && !not_names.contains(token.text);
}

// Returns the token after a balanced <…> that opens at `i`.
int AfterAngles(const std::vector<Token>& tokens, int i) {
  int depth = 0;
  for (; i < static_cast<int>(tokens.size()); ++i) {
    const Token& token = tokens[static_cast<size_t>(i)];
    if (Is(token, "<")) ++depth;
    if (Is(token, ">") && --depth == 0) return i + 1;
    if (Is(token, ">>") && (depth -= 2) <= 0) return i + 1;
    if ((Is(token, "(") || Is(token, "[") || Is(token, "{")) && token.match > i) i = token.match;
    if (Is(token, ";")) return i;
  }
  return i;
}

// Returns the index of the name before the parenthesis at `open`, as in f(, f<int>( and operator+(, or -1 if none is
// there.
int NameBefore(const std::vector<Token>& tokens, int first, int open) {
  const auto at = [&](int i) -> const Token& { return tokens[static_cast<size_t>(i)]; };
  // The name of an operator has up to three tokens between `operator` and the parenthesis, as in "operator new[](".
  for (int i = open - 1; i >= first && i >= open - 4; --i) {
    if (Is(at(i), "operator")) return i;
  }
  int i = open - 1;
  if (i > first && Is(at(i), ">")) {
    for (int depth = 0; i > first; --i) {
      if (Is(at(i), ">")) ++depth;
      if (Is(at(i), "<") && --depth == 0) break;
    }
    --i;
  }
  return i > first && IsName(at(i)) ? i : -1;
}

// A declaration at namespace scope, by the numbers of its tokens.
struct Declaration {
  int last = 0;         // its last token
  bool opens = false;   // a namespace or linkage block, which contains declarations
  std::string name;     // name of a function definition
  bool kernel = false;  // it is __global__
  int body = 0;         // the brace that opens the function's body
};

// Reads the declaration whose first token is `first`. Without a name, it is something else than a function definition,
// or could not be understood; `last` then says where to go on.
Declaration ReadDeclaration(const std::vector<Token>& tokens, int first) {
  const int count = static_cast<int>(tokens.size());
  const auto at = [&](int i) -> const Token& { return tokens[static_cast<size_t>(i)]; };
  Declaration d;
  d.last = first;
  if (at(first).kind == TokenKind::kDirective || Is(at(first), "}") || Is(at(first), ";")) return d;
  int i = first;
  // What came so far: a namespace or linkage block, a type's keyword, or an initialiser.
  bool block = false, type = false, value = false;
  while (i < count) {
    const Token& token = at(i);
    if (token.kind == TokenKind::kDirective) return d;  // an unfinished declaration; leave it to the prelude
    d.last = i;
    if (Is(token, ";")) return d;
    if (Is(token, "template") && i + 1 < count && Is(at(i + 1), "<")) {
      i = AfterAngles(tokens, i + 1);
      continue;
    }
    if (Is(token, "namespace") || (Is(token, "extern") && i + 1 < count && at(i + 1).kind == TokenKind::kString)) {
      block = true;
    }
    if ((Is(token, "struct") || Is(token, "class") || Is(token, "union") || Is(token, "enum")) && d.name.empty()) {
      type = true;
    }
    if (Is(token, "=") && d.name.empty()) value = true;
    if (Is(token, "__global__")) d.kernel = true;
    if (Is(token, "(") && d.name.empty() && !value) {
      if (const int name = NameBefore(tokens, first, i); name >= 0) {
        d.name = at(name).text;
        type = false;
      }
    }
    if (Is(token, "{")) {
      if (block && d.name.empty()) {
        d.opens = true;
        return d;
      }
      if (token.match < i) {  // not balanced: nothing can be said about the rest
        d.last = count - 1;
        d.name.clear();
        return d;
      }
      if (!d.name.empty() && !type && !value) {
        d.body = i;
        d.last = token.match;
        return d;
      }
      i = token.match;
    } else if ((Is(token, "(") || Is(token, "[")) && token.match > i) {
      i = token.match;
    } else if (Is(token, "}")) {
      d.name.clear();
      return d;
    }
    ++i;
  }
  d.last = count - 1;
  d.name.clear();
  return d;
}

// Returns the number, from 1, of the line at `offset`.
int LineAt(std::string_view text, size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

}  // namespace

std::vector<Region> SplitRegions(std::string_view source) {
  std::vector<Region> regions;
  size_t at = 0;
  const size_t open = source.find("/*hone");
  if (open != std::string_view::npos) {
    const size_t close = source.find("*/", open);
    if (close != std::string_view::npos) {
      at = EndOfLine(source, close + 2);
      regions.push_back({"plan", "plan", 0, at, ""});
    }
  }
  const std::vector<Token> tokens = LexCuda(source);
  std::map<std::string, int> uses_of_name;
  int preludes = 0;
  // Makes what lies before `end` and belongs to no region a prelude, or part of the one just before.
  const auto prelude = [&](size_t end) {
    if (end <= at) return;
    if (!regions.empty() && regions.back().kind == "prelude") {
      regions.back().end = end;
    } else {
      ++preludes;
      regions.push_back({preludes == 1 ? "prelude" : fmt::format("prelude-{}", preludes), "prelude", at, end, ""});
    }
    at = end;
  };
  for (int i = 0; i < static_cast<int>(tokens.size());) {
    const Token& first = tokens[static_cast<size_t>(i)];
    if (first.begin < at) {
      ++i;
      continue;
    }
    const Declaration d = ReadDeclaration(tokens, i);
    const size_t end = EndOfLine(source, tokens[static_cast<size_t>(d.last)].end);
    if (d.name.empty()) {
      prelude(end);
    } else {
      const int number = ++uses_of_name[d.name];
      Region region{number == 1 ? d.name : fmt::format("{}#{}", d.name, number), d.kernel ? "kernel" : "function", at,
                    end, ""};
      for (int t = i; t < d.body; ++t) {
        region.signature += (t == i ? "" : " ") + std::string(tokens[static_cast<size_t>(t)].text);
      }
      at = end;
      regions.push_back(std::move(region));
    }
    i = d.last + 1;
  }
  // Blank lines and comments at the end belong to the preceding region.
  if (at < source.size()) {
    if (regions.empty()) {
      regions.push_back({"prelude", "prelude", 0, source.size(), ""});
    } else {
      regions.back().end = source.size();
    }
  }
  return regions;
}

std::string RegionList(const std::vector<Region>& regions) {
  std::string text;
  for (const Region& region : regions) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", region.name, region.kind == "kernel" ? " (kernel)" : "");
  }
  return text;
}

RegionResult ReplaceRegions(std::string_view source, const std::vector<RegionBody>& bodies, bool add_prelude) {
  const std::vector<Region> regions = SplitRegions(source);
  const RegionBody* added = nullptr;  // a prelude for a source without one
  std::vector<const RegionBody*> new_bodies(regions.size(), nullptr);  // for each region; null: it stays
  for (const RegionBody& body : bodies) {
    const auto found =
        std::find_if(regions.begin(), regions.end(), [&](const Region& r) { return r.name == body.name; });
    if (found == regions.end() && add_prelude && body.name == "prelude") {
      if (added != nullptr) return {"", "region_twice", "the reply holds region 'prelude' twice: send it once"};
      added = &body;
      continue;
    }
    if (found == regions.end()) {
      return {"", "unknown_region",
              fmt::format("there is no region '{}'; there are: {}", body.name, RegionList(regions))};
    }
    const RegionBody*& place = new_bodies[static_cast<size_t>(found - regions.begin())];
    if (place != nullptr) {
      return {"", "region_twice", fmt::format("the reply holds region '{}' twice: send it once", body.name)};
    }
    place = &body;
  }
  std::string out;
  // Appends a new body, on lines of its own: the kept text before it may lack its last newline.
  const auto put = [&out](const std::string& text) {
    if (!out.empty() && out.back() != '\n') out += '\n';
    out += text;
    if (!out.empty() && out.back() != '\n') out += '\n';
  };
  const bool has_plan = !regions.empty() && regions.front().kind == "plan";
  if (added != nullptr && !has_plan) put(added->text);
  for (size_t i = 0; i < regions.size(); ++i) {
    if (new_bodies[i] != nullptr) {
      put(new_bodies[i]->text);
    } else {
      out += source.substr(regions[i].begin, regions[i].end - regions[i].begin);
    }
    if (i == 0 && added != nullptr && has_plan) put(added->text);
  }
  return {std::move(out), "", ""};
}

StructureFault CheckStructure(std::string_view source, const LaunchPlan& plan) {
  const std::vector<Token> tokens = LexCuda(source);
  int namespaces = 0;
  std::set<std::string_view> identifiers;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::kIdentifier) {
      identifiers.insert(token.text);
      namespaces += token.text == "namespace";
    }
  }
  for (const PlanEntry& entry : plan.entries) {
    if (!entry.is_launch() || plan.host_mode) continue;
    const std::string name = BaseName(entry.kernel);
    // A macro may make a kernel, so only a name that occurs nowhere is surely missing.
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            std::string::npos ||
        identifiers.contains(name)) {
      continue;
    }
    if (source.find(name, source.find("*/") == std::string_view::npos ? 0 : source.find("*/")) !=
        std::string_view::npos) {
      continue;  // in a macro's text
    }
    return {"kernel_missing", fmt::format("line {}: the plan launches '{}', which the code does not define", entry.line,
                                          name)};
  }
  // With #if, only one branch need be balanced.
  if (HasConditional(tokens)) return {};
  if (const Token* bracket = UnpairedBracket(tokens)) {
    return {"unbalanced_brackets",
            fmt::format("line {}: this '{}' has no partner", LineAt(source, bracket->begin), bracket->text)};
  }
  // Two namespaces may contain the same name.
  if (namespaces > 1) return {};
  std::map<std::string, size_t> definitions;
  for (const Region& region : SplitRegions(source)) {
    if (region.signature.empty()) continue;
    const auto [first, is_new] = definitions.emplace(region.signature, region.begin);
    if (is_new) continue;
    return {"duplicate_definition", fmt::format("'{}' is defined twice, at lines {} and {}", region.signature,
                                                LineAt(source, first->second), LineAt(source, region.begin))};
  }
  return {};
}

}  // namespace hone
