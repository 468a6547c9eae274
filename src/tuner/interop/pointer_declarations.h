// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pointers that a kernel's body makes of others, and how it moves them: `const float* row = x + r * d`,
// `auto row = x + r * d`, `x += r * d`. Places are tokens of the file.
#pragma once

#include <functional>
#include <optional>

#include "tuner/interop/cu_source.h"

namespace hone {

struct PointerDeclaration {
  int name = 0;
  int value = 0, end = 0;  // of the initializer; `end` is the ; or , behind it
  int base = 0;            // the pointer that the initializer names first
};

// The declaration that token `i` stands in as its * or auto. `is_pointer` says whether a token names a pointer that is
// followed. nullopt: there is no such declaration, such as at `*out = 2 * in[0]`, or its value is no such pointer.
std::optional<PointerDeclaration> PointerDeclarationAt(const CuSource& source, int i, int limit,
                                                       const std::function<bool(int)>& is_pointer);

struct PointerMove {
  int first = 0, end = 0;  // of the statement, the ; or , behind it included
  // What is added, from `value` to `end`; `value` 0: one step, as ++ makes it, or something that is taken away.
  int value = 0;
  bool statement = false;  // it stands between ; { and }, so that it is done once each time its block is run
};

// How the pointer's name at token `i` is moved: p += e, p = p + e, p++. nullopt: it is not, or *p is what changes.
std::optional<PointerMove> PointerMoveAt(const CuSource& source, int i, int limit);

}  // namespace hone
