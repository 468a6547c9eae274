// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges the directives of a candidate that name files, before any compiler sees the text: a compiler's message could
// show a file of the host, or tell whether it exists.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone {

struct IncludeRefusal {
  Verdict verdict = Verdict::kRuleViolation;  // or kUnsupported: the name of the file is not known before preprocessing
  std::string sentence;                       // "error: #include of '/etc/passwd': …"
};

// Returns why `source` may not be given to a compiler: an absolute path, or one with "..", in #include, #import,
// #embed, __has_include or __has_embed; a name there that a macro makes; a pragma that reads a file. All spellings that a
// compiler may know are read: digraphs, trigraphs, comments and spliced lines. A directive within a comment
// counts only if compilers may differ in where the comment ends. The function is pure.
std::optional<IncludeRefusal> JudgeIncludes(std::string_view source);

}  // namespace hone
