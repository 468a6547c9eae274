// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the pointers that a kernel's body derives from other pointers, `const float* row = x + r * d` or `auto row = x
// + r * d`, and the statements that move a pointer, `x += r * d`. All positions are indices of tokens.
#pragma once

#include <functional>
#include <optional>

#include "tuner/interop/read/cu_source.h"

namespace hone {

struct PointerDeclaration {
  int name = 0;            // the declared pointer's name
  int value = 0, end = 0;  // the initializer is [value, end); `end` is the ; or , after it
  int base = 0;            // the pointer that the initializer names first
};

// Returns the declaration in which token `i` is the * or the `auto`, looking no further than token `limit`.
// `is_pointer` says whether a token names a pointer that the caller follows. nullopt: token `i` belongs to no
// declaration, as in `*out = 2 * in[0]`, or the declared value does not come from such a pointer.
std::optional<PointerDeclaration> PointerDeclarationAt(const CuSource& source, int i, int limit,
                                                       const std::function<bool(int)>& is_pointer);

struct PointerMove {
  int first = 0, end = 0;  // the statement is [first, end]; `end` is the ; or , after it
  // The expression that is added stands in [value, end). `value` 0: the pointer moves by one, as by ++, or backwards.
  int value = 0;
  bool statement = false;  // a statement of its own, which runs once each time its block runs
};

// Returns how the statement at token `i`, which names a pointer p, moves it: p += e, p = p + e, p++. nullopt: p is not
// moved, or *p is changed instead.
std::optional<PointerMove> PointerMoveAt(const CuSource& source, int i, int limit);

}  // namespace hone
