// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares a candidate's device code so that it can stand inside a namespace of another program's source file.
//
// An #include cannot stand inside a namespace, a macro ignores namespaces, and a name with C linkage is the same in
// every namespace. Therefore #includes are removed and listed, macros are listed, and C linkage is removed; nothing
// else changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct EmbeddedSource {
  std::string text;                   // without #include, #pragma once and extern "C"
  std::vector<std::string> includes;  // "<cuda_fp16.h>", "\"helpers.cuh\"", in order, each once
  std::vector<std::string> macros;    // names that the text defines; the caller #undefs them after it
};

// Embeds `source`, a whole candidate. The launch plan stays, as a comment.
EmbeddedSource EmbedSource(std::string_view source);

}  // namespace hone
