// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the table of embedded templates, which the build writes from the list in CMakeLists.txt.
#pragma once

#include <string_view>
#include <vector>

namespace hone {

struct EmbeddedPrompt {
  std::string_view name;
  std::string_view text;
};
std::vector<EmbeddedPrompt> EmbeddedPrompts();

}  // namespace hone
