// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/device_calls.h"

#include "tuner/interop/read/function_template.h"

namespace hone {
namespace {

bool IsIdentifierAt(const CuSource& s, int i) {
  return i >= 0 && i < static_cast<int>(s.tokens.size()) && s.token(i).kind == TokenKind::kIdentifier;
}

// Reads the function parameter in tokens [begin, end).
CuParameter ParameterAt(const CuSource& s, int begin, int end) {
  CuParameter p;
  int star = -1, name = -1;
  for (int i = begin; i < end && !s.TokenIs(i, "="); ++i) {
    if (s.TokenIs(i, "*") || s.TokenIs(i, "[")) star = star < 0 ? i : star;
    if (s.TokenIs(i, "const") && star < 0) p.to_const = true;
    if (IsIdentifierAt(s, i) && !s.TokenIs(i, "const") && !s.TokenIs(i, "__restrict__") && !s.TokenIs(i, "__restrict"))
      name = i;
  }
  if (name < 0) return p;
  p.name = std::string(s.token(name).text);
  p.pointer = star >= 0;
  for (int i = begin; i < (star >= 0 && star < name ? star : name); ++i) {
    if (!s.TokenIs(i, "const") && !s.TokenIs(i, "&")) p.type += (p.type.empty() ? "" : " ") + std::string(s.token(i).text);
  }
  return p;
}

}  // namespace

std::optional<CallSite> EnclosingCall(const CuSource& source, int i, int begin) {
  CallSite site;
  for (int k = i - 1; k > begin; --k) {
    if (source.token(k).match >= 0 && source.token(k).match < k) {
      k = source.token(k).match;
      continue;
    }
    if (source.TokenIs(k, ";") || source.TokenIs(k, "{")) return std::nullopt;
    if (source.TokenIs(k, ",")) ++site.argument;
    if (!source.TokenIs(k, "(")) continue;
    int name = k - 1;
    if (source.TokenIs(name, ">")) {
      int depth = 0;
      for (; name > begin; --name) {
        if (source.TokenIs(name, ">")) ++depth;
        if (source.TokenIs(name, "<") && --depth == 0) break;
      }
      --name;
      site.explicit_template_arguments = true;
    }
    site.name = IsIdentifierAt(source, name) ? std::string(source.token(name).text) : "";
    // A parenthesis without a name before it, or a cast's, is part of the argument: the call is further out.
    if (site.name.empty() || site.name.ends_with("_cast")) {
      site = {};
      continue;
    }
    if (site.name == "if" || site.name == "for" || site.name == "while" || site.name == "switch") return std::nullopt;
    return site;
  }
  return std::nullopt;
}

std::optional<DeviceFunction> FindDeviceFunction(const CuSource& source, const std::string& name) {
  for (int i = 0; i + 1 < static_cast<int>(source.tokens.size()); ++i) {
    if (!IsIdentifierAt(source, i) || !source.TokenIs(i, name) || !source.TokenIs(i + 1, "(")) continue;
    const int close = source.token(i + 1).match;
    if (close < 0 || !source.TokenIs(close + 1, "{") || source.token(close + 1).match < 0) continue;
    DeviceFunction f;
    f.body_open = close + 1;
    f.body_close = source.token(close + 1).match;
    f.template_parameters = TemplateNames(source, f.body_open);
    int begin = i + 2;
    for (int k = i + 2; k <= close; ++k) {
      if (k < close && source.token(k).match > k) {
        k = source.token(k).match;
        continue;
      }
      if (k != close && !source.TokenIs(k, ",")) continue;
      if (begin < k) f.parameters.push_back(ParameterAt(source, begin, k));
      begin = k + 1;
    }
    return f;
  }
  return std::nullopt;
}

}  // namespace hone
