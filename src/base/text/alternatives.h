// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes lists of what is allowed, for messages.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns the names of `choices` as "a", "a or b", or "a, b or c". `name` returns the name of one of them.
template <typename Choices, typename Name>
std::string Alternatives(const Choices& choices, const Name& name) {
  std::string text;
  size_t i = 0;
  for (const auto& choice : choices) {
    if (i > 0) text += i + 1 < choices.size() ? ", " : " or ";
    text += std::string_view(name(choice));
    ++i;
  }
  return text;
}

}  // namespace hone
