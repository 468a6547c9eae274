// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/read/pointer_declarations.h"

#include <algorithm>
#include <string_view>

namespace hone {
namespace {

bool IsToken(const CuSource& source, int i, std::string_view text) {
  return i >= 0 && i < static_cast<int>(source.tokens.size()) && source.token(i).text == text;
}
bool IsIdentifierAt(const CuSource& source, int i) {
  return i >= 0 && i < static_cast<int>(source.tokens.size()) && source.token(i).kind == TokenKind::kIdentifier;
}

// Returns the position of the ; or , that ends the expression beginning at `i`, or `limit` if it is further.
int EndOfValue(const CuSource& source, int i, int limit) {
  for (; i < limit; ++i) {
    if (source.token(i).match > i) {
      i = source.token(i).match;
    } else if (IsToken(source, i, ";") || IsToken(source, i, ",") || IsToken(source, i, ")")) {
      break;
    }
  }
  return std::min(i, limit);
}

// Returns whether the * at token `i` is part of a declaration and not a product: `float* p`, `Pack<4>* p`, `float *a =
// x, *b = y`.
bool BehindAType(const CuSource& source, int i) {
  if (IsToken(source, i - 1, ">") || IsToken(source, i - 1, "*") || IsToken(source, i - 1, ",")) return true;
  return IsIdentifierAt(source, i - 1) && !IsToken(source, i - 1, "else") && !IsToken(source, i - 1, "return") &&
         !IsToken(source, i - 1, "do");
}

// Returns the token in the value of an `auto` that makes it a pointer, x in x + i, &x[i] or reinterpret_cast<T*>(x);
// -1: it is none, as in x[i] or f(x).
int PointerOfAuto(const CuSource& source, int value, int end, const std::function<bool(int)>& is_pointer) {
  for (int k = value; k < end; ++k) {
    const bool cast = IsToken(source, k, "(") && IsToken(source, k - 1, ">");
    const bool call = IsToken(source, k, "(") && IsIdentifierAt(source, k - 1);
    if ((call && !cast) || IsToken(source, k, "[")) {
      if (source.token(k).match > k) k = source.token(k).match;
      continue;
    }
    if (!IsIdentifierAt(source, k) || !is_pointer(k)) continue;
    if (IsToken(source, k - 1, "*") || (IsToken(source, k + 1, "[") && !IsToken(source, k - 1, "&"))) return -1;
    return k;
  }
  return -1;
}

}  // namespace

std::optional<PointerDeclaration> PointerDeclarationAt(const CuSource& source, int i, int limit,
                                                       const std::function<bool(int)>& is_pointer) {
  const bool automatic = IsToken(source, i, "auto");
  if (!automatic && !(IsToken(source, i, "*") && BehindAType(source, i))) return std::nullopt;
  int name = i + 1;
  while (IsToken(source, name, "__restrict__") || IsToken(source, name, "__restrict") ||
         IsToken(source, name, "const") || (!automatic && IsToken(source, name, "*")))
    ++name;
  if (name >= limit || !IsIdentifierAt(source, name) || !IsToken(source, name + 1, "=")) return std::nullopt;
  PointerDeclaration declaration{name, name + 2, EndOfValue(source, name + 2, limit), -1};
  if (automatic) {
    declaration.base = PointerOfAuto(source, declaration.value, declaration.end, is_pointer);
  } else {
    for (int k = declaration.value; k < declaration.end && declaration.base < 0; ++k) {
      if (IsIdentifierAt(source, k) && is_pointer(k)) declaration.base = k;
    }
  }
  if (declaration.base < 0) return std::nullopt;
  return declaration;
}

std::optional<PointerMove> PointerMoveAt(const CuSource& source, int i, int limit) {
  PointerMove move{i, i + 2, 0, false};
  const bool first = IsToken(source, i - 1, ";") || IsToken(source, i - 1, "{") || IsToken(source, i - 1, "}");
  if (IsToken(source, i + 1, "+=") || IsToken(source, i + 1, "-=")) {
    if (IsToken(source, i - 1, "*")) return std::nullopt;
    move.end = EndOfValue(source, i + 2, limit);
    if (IsToken(source, i + 1, "+=")) move.value = i + 2;
  } else if (IsToken(source, i + 1, "=") && IsToken(source, i + 2, source.token(i).text) &&
             (IsToken(source, i + 3, "+") || IsToken(source, i + 3, "-"))) {
    if (IsToken(source, i - 1, "*") || IsIdentifierAt(source, i - 1)) return std::nullopt;
    move.end = EndOfValue(source, i + 4, limit);
    if (IsToken(source, i + 3, "+")) move.value = i + 4;
  } else if (!IsToken(source, i + 1, "++") && !IsToken(source, i + 1, "--") && !IsToken(source, i - 1, "++") &&
             !IsToken(source, i - 1, "--")) {
    return std::nullopt;
  } else if (IsToken(source, i - 1, "++") || IsToken(source, i - 1, "--")) {
    move.end = i + 1;
    if (IsToken(source, i + 1, "[")) return std::nullopt;  // ++x[i] changes an element
  }
  move.statement = first && IsToken(source, move.end, ";");
  return move;
}

}  // namespace hone
