// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds pointers that a kernel's body derives from others, and their movements: `const float* row = x + r * d`, `auto
// row = x + r * d`, `x += r * d`. Positions are tokens of the file.
#pragma once

#include <functional>
#include <optional>

#include "tuner/interop/cu_source.h"

namespace hone {

struct PointerDeclaration {
  int name = 0;
  int value = 0, end = 0;  // range of the initializer; `end` is the ; or , after it
  int base = 0;            // the pointer that the initializer names first
};

// Returns the declaration in which token `i` is the * or auto. `is_pointer` says whether a token names a pointer being
// followed. nullopt: there is no such declaration, as in `*out = 2 * in[0]`, or its value is not such a pointer.
std::optional<PointerDeclaration> PointerDeclarationAt(const CuSource& source, int i, int limit,
                                                       const std::function<bool(int)>& is_pointer);

struct PointerMove {
  int first = 0, end = 0;  // range of the statement, including the ; or , after it
  // The distance added is in [value, end); `value` 0: one step, as by ++, or a subtraction.
  int value = 0;
  bool statement = false;  // true: a statement between ; { and }, executed once each time its block runs
};

// Returns how the pointer named at token `i` is moved: p += e, p = p + e, p++. nullopt: it is not, or *p is changed
// instead.
std::optional<PointerMove> PointerMoveAt(const CuSource& source, int i, int limit);

}  // namespace hone
