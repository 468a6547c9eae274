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
  std::string function;  // the function whose body makes the call, as g++ names it
  std::string operand;   // the aggregate, as g++ prints it: MEM[(const struct S &)p_6(D)]
  bool store = false;    // true: the call returns into `operand`; false: it takes it as an argument
};

// Returns the first such access. `dump` is the text that g++ 12 or newer writes for -fdump-tree-optimized; `assembly`
// is the code for the same source, which tells variables from enumerators. Functions whose names begin with one of
// `exempt` are passed over. A function's own variables are not memory here: no other thread reaches them, and the
// simulator does not count them. What a pointer leads to counts as memory, even if it is such a variable.
std::optional<UnseenAccess> FindUnseenAccess(std::string_view dump, std::string_view assembly,
                                              std::initializer_list<std::string_view> exempt);

}  // namespace hone::sim
