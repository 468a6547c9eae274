// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares a candidate's device code for a namespace of another program's translation unit.
//
// Includes cannot be inside a namespace, macros ignore namespaces, and a name with C linkage is the same in all of
// them: includes are removed and listed, macros are listed, and C linkage is removed; nothing else changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct EmbeddedSource {
  std::string text;                   // without #include and #pragma once, extern "C" taken off
  std::vector<std::string> includes;  // "<cuda_fp16.h>", "\"helpers.cuh\"", in order, each once
  std::vector<std::string> macros;    // names that the text defines; undefine them after it
};

// Embeds `source`, a whole candidate. The launch plan stays, as a comment.
EmbeddedSource EmbedSource(std::string_view source);

}  // namespace hone
