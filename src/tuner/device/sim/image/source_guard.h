// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether device code leaves the compiler's hooks in place.
//
// The simulator's findings and times depend on every load and store of a candidate calling a hook. g++'s C++ has ways
// around the hooks (an attribute that switches the hooks off, inline assembly, builtins that stand for machine
// instructions, the simulator's own functions that make an access after announcing it). None of them is CUDA. The
// search is made in preprocessed text, so macros cannot hide a word, and only in the candidate's own text: headers are
// trusted, and a candidate cannot imitate one, because markers that would do so are refused before preprocessing.
//
// All functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone::sim {

struct SourceRefusal {
  Verdict verdict = Verdict::kRuleViolation;  // or kUnsupported: perhaps harmless, but unknown here
  std::string sentence;                       // "candidate.cu:3: the attribute 'optimize' …"
};

// Checks text before preprocessing for directives that would confuse the later check. `source` as the compiler gets it;
// `file` names it in messages.
std::optional<SourceRefusal> GuardRawSource(std::string_view source, std::string_view file);

// Checks text after preprocessing with g++ -E for words that would bypass the hooks. `file` as above.
std::optional<SourceRefusal> GuardPreprocessed(std::string_view text, std::string_view file);

// Returns preprocessed text in which the candidate's own line markers, which its `#line` directives choose, name files
// without folders and no file of the simulator. Headers have absolute paths, so the paths in the compiler's output then
// tell the candidate's text from headers'. Lines and the text itself stay.
std::string PlainFileNames(std::string_view text);

// Refuses a word `asm` left in the candidate's own text. Inline PTX is translated before preprocessing, so a remaining
// `asm` was assembled by the preprocessor and has not been checked.
std::optional<SourceRefusal> GuardTranslated(std::string_view text, std::string_view file);

}  // namespace hone::sim
