// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate's device code made fit to stand in a namespace of somebody else's translation unit.
//
// Includes cannot stay inside a namespace, macros know none, and a name with C linkage is the same in all of them:
// those three are taken out, listed and taken back; nothing else is touched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct EmbeddedSource {
  std::string text;                   // without #include and #pragma once, extern "C" taken off
  std::vector<std::string> includes;  // "<cuda_fp16.h>", "\"helpers.cuh\"", in order, each once
  std::vector<std::string> macros;    // names that the text defines, to be undefined after it
};

// `source`: a whole candidate. Its launch plan stays, as the comment it is.
EmbeddedSource EmbedSource(std::string_view source);

}  // namespace hone
