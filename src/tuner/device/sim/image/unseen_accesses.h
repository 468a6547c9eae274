// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds loads and stores that -fsanitize=thread leaves without a hook: aggregates that a call takes by value straight from
// memory, or returns straight into it. The simulated GPU would neither time nor check them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hone::sim {

struct UnseenAccess {
  std::string function;  // whose body makes the call, as g++ names it
  std::string operand;   // as g++ prints it: MEM[(const struct S &)p_6(D)]
  bool store = false;    // the call returns into it
};

// The first such access in `dump`, the text that g++ 12 or newer writes for -fdump-tree-optimized; `assembly` is what it made of
// the same source, and tells variables from enumerators. A variable of the
// function itself is not memory here: no other thread reaches it, and the simulator does not count it. A pointer is taken to
// lead to memory, though it may lead to such a variable. Functions whose names begin with one
// of `exempt` are passed over.
std::optional<UnseenAccess> FindUnseenAccess(std::string_view dump, std::string_view assembly,
                                              std::initializer_list<std::string_view> exempt);

}  // namespace hone::sim
