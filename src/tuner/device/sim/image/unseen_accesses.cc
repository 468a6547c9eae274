// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/unseen_accesses.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace hone::sim {
namespace {

bool IsIdentifierPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Returns the end of the string literal that begins at `at`.
size_t AfterLiteral(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// A statement `LHS = CALLEE (ARGUMENTS);` in its parts.
struct Call {
  std::string_view target;  // empty: the result is discarded
  std::vector<std::string_view> arguments;
};

// Reads a statement of GCC's dump as a call; nullopt: it is something else.
std::optional<Call> AsCall(std::string_view statement) {
  const size_t end = statement.rfind(");");
  if (end == std::string_view::npos) return std::nullopt;
  for (const std::string_view word : {"if (", "switch (", "goto ", "return", "#", "<bb", "__asm__"}) {
    if (statement.substr(0, word.size()) == word) return std::nullopt;
  }
  std::vector<size_t> open;  // positions of the brackets that are open at character i
  std::vector<size_t> commas;
  size_t first = std::string_view::npos, assign = std::string_view::npos;
  for (size_t i = 0; i <= end; ++i) {
    const char c = statement[i];
    if (c == '"') {
      i = AfterLiteral(statement, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      if (open.empty()) {
        first = i;
        commas.clear();
      }
      open.push_back(i);
    } else if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    } else if (c == ',' && open.size() == 1) {
      commas.push_back(i);
    } else if (c == '=' && open.empty() && assign == std::string_view::npos && i > 0 && statement[i - 1] == ' ' &&
               statement.substr(i, 2) == "= ") {
      assign = i;
    }
  }
  // The arguments are the last outermost parentheses, after a name and a blank; the parentheses of a cast follow the
  // `=` directly.
  if (!open.empty() || first == std::string_view::npos || first == 0 || statement[first] != '(' || statement[first - 1] != ' ') {
    return std::nullopt;
  }
  const std::string_view callee =
      Trimmed(statement.substr(assign == std::string_view::npos ? 0 : assign + 1, first - (assign == std::string_view::npos ? 0 : assign + 1)));
  if (callee.empty() || callee.back() == '=') return std::nullopt;
  Call call;
  if (assign != std::string_view::npos) call.target = Trimmed(statement.substr(0, assign));
  size_t begin = first + 1;
  commas.push_back(end);
  for (const size_t comma : commas) {
    const std::string_view argument = Trimmed(statement.substr(begin, comma - begin));
    if (!argument.empty()) call.arguments.push_back(argument);
    begin = comma + 1;
  }
  return call;
}

// Returns the variable at the beginning of an operand: `loc` of loc.v[2], or `D.3072`.
std::string_view BaseName(std::string_view operand) {
  size_t end = 0;
  while (end < operand.size() && IsIdentifierPart(operand[end])) ++end;
  if (operand.substr(0, end) == "D" && operand.substr(end, 1) == ".") {
    ++end;
    while (end < operand.size() && std::isdigit(static_cast<unsigned char>(operand[end])) != 0) ++end;
  }
  return operand.substr(0, end);
}

// Returns whether an operand is a value (_12, x_5(D), ISRA.18_11(D)) and not a place in memory.
bool IsValue(std::string_view operand) {
  std::string_view name = operand;
  if (name.size() > 3 && name.substr(name.size() - 3) == "(D)") name.remove_suffix(3);
  const size_t mark = name.rfind('_');
  if (mark == std::string_view::npos || mark + 1 == name.size()) return false;
  return std::all_of(name.begin() + static_cast<ptrdiff_t>(mark) + 1, name.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsIdentifierPart(c) || c == '.'; });
}

// Returns whether `assembly` has a variable of this name, mangled or not: an object of static storage, or one of
// thread-local storage, which shared memory is.
bool IsVariable(std::string_view name, std::string_view assembly) {
  const std::string mangled = std::to_string(name.size()) + std::string(name);
  for (size_t at = assembly.find(name); at != std::string_view::npos; at = assembly.find(name, at + 1)) {
    size_t begin = at, end = at + name.size();
    while (begin > 0 && (IsIdentifierPart(assembly[begin - 1]) || assembly[begin - 1] == '.')) --begin;
    while (end < assembly.size() && (IsIdentifierPart(assembly[end]) || assembly[end] == '.')) ++end;
    const std::string_view symbol = assembly.substr(begin, end - begin);
    if (symbol != name && symbol.find(mangled) == std::string_view::npos) continue;
    const std::string_view after_symbol = assembly.substr(end);
    if (after_symbol.starts_with(", @object") || after_symbol.starts_with("@tls")) return true;
  }
  return false;
}

// Returns whether the operand may be memory that other threads see. `own`: the function's own variables.
bool IsMemory(std::string_view operand, const std::set<std::string, std::less<>>& own, std::string_view assembly) {
  constexpr std::string_view kView = "VIEW_CONVERT_EXPR<";
  if (operand.substr(0, kView.size()) == kView) {
    const size_t inner = operand.rfind(">(");
    if (inner != std::string_view::npos) return IsMemory(operand.substr(inner + 2, operand.size() - inner - 3), own, assembly);
  }
  if (operand.empty() || operand[0] == '"' || operand[0] == '&' || operand[0] == '-' || operand[0] == '{' || operand[0] == '<' ||
      std::isdigit(static_cast<unsigned char>(operand[0])) != 0) {
    return false;
  }
  if (operand[0] == '*') return true;
  if (operand.substr(0, 3) == "MEM" || operand.substr(0, 14) == "TARGET_MEM_REF") {
    const size_t parameter_begin = operand.find(")&");
    return parameter_begin == std::string_view::npos || !own.contains(BaseName(operand.substr(parameter_begin + 2)));
  }
  if (operand.find("->") != std::string_view::npos) return true;
  if (IsValue(operand)) return false;
  const std::string_view base = BaseName(operand);
  // g++ prints an enumerator, a constant such as Inf and a variable of static storage alike, as a name.
  return !base.empty() && !own.contains(base) && (base.size() < operand.size() || IsVariable(base, assembly));
}

// Returns the name that a line of declarations declares: l for `  struct S l[3];`. Nothing for static variables, which
// are memory.
std::optional<std::string> DeclaredName(std::string_view line) {
  line = Trimmed(line);
  if (line.empty() || line.back() != ';' || line.substr(0, 7) == "static ") return std::nullopt;
  line.remove_suffix(1);
  while (!line.empty() && line.back() == ']') line = line.substr(0, line.rfind('['));
  // An array of arrays, a function's pointer: the name is the last word that is no number.
  size_t begin = line.size();
  while (begin > 0 && (IsIdentifierPart(line[begin - 1]) || line[begin - 1] == '.')) --begin;
  const std::string_view name = line.substr(begin);
  if (name.empty()) return std::nullopt;
  return std::string(name);
}

}  // namespace

std::optional<UnseenAccess> FindUnseenAccess(std::string_view dump, std::string_view assembly,
                                              std::initializer_list<std::string_view> exempt) {
  std::string function, signature;
  std::set<std::string, std::less<>> own;
  enum class Where { kOutside, kSignature, kDeclarations, kBody } where = Where::kOutside;
  for (size_t at = 0; at < dump.size();) {
    const size_t stop = std::min(dump.find('\n', at), dump.size());
    const std::string_view line = dump.substr(at, stop - at);
    at = stop + 1;
    if (line.substr(0, 12) == ";; Function ") {
      const std::string_view function_onwards = line.substr(12);
      function = std::string(function_onwards.substr(0, function_onwards.find(" (")));
      signature.clear();
      own.clear();
      where = Where::kSignature;
    } else if (where == Where::kSignature && line == "{") {
      // Parameters by value are the thread's own. That names within their types are added too does no harm.
      for (size_t i = 0; i < signature.size();) {
        size_t end = i;
        while (end < signature.size() && IsIdentifierPart(signature[end])) ++end;
        if (end > i) own.emplace(signature.substr(i, end - i));
        i = end + 1;
      }
      where = Where::kDeclarations;
    } else if (where == Where::kSignature) {
      signature = std::string(line);
    } else if (where == Where::kDeclarations && Trimmed(line).empty()) {
      where = Where::kBody;
    } else if (where == Where::kDeclarations) {
      if (std::optional<std::string> name = DeclaredName(line)) own.insert(std::move(*name));
    } else if (line == "}") {
      where = Where::kOutside;
    }
    const bool passed_over = std::any_of(exempt.begin(), exempt.end(), [&](std::string_view name) { return function.starts_with(name); });
    if (where != Where::kBody || passed_over) continue;
    const std::optional<Call> call = AsCall(Trimmed(line));
    if (!call) continue;
    if (IsMemory(call->target, own, assembly)) return UnseenAccess{function, std::string(call->target), true};
    for (const std::string_view argument : call->arguments) {
      if (IsMemory(argument, own, assembly)) return UnseenAccess{function, std::string(argument), false};
    }
  }
  return std::nullopt;
}

}  // namespace hone::sim
