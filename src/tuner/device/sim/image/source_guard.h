// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether device code leaves the compiler's hooks in place.
//
// What the simulator finds and what its times say rests on one thing: that every load and store of a candidate calls a
// hook. C++ as g++ speaks it has ways around that (an attribute that switches the hooks off, inline assembly, builtins
// that stand for machine instructions, functions of the simulator's own that do an access after having announced it).
// None of them is CUDA. They are looked for in the text as the preprocessor leaves it, so that it does not matter how a
// macro puts a word together, and only in what the candidate wrote itself: headers are trusted, and a candidate cannot
// pretend to be one, because markers that would say so are refused before anything is preprocessed.
//
// Pure functions of their input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/tuner/evaluation.h"

namespace hone::sim {

struct SourceRefusal {
  Verdict verdict = Verdict::kRuleViolation;  // or kUnsupported: harmless perhaps, but not known here
  std::string sentence;                       // "candidate.cu:3: the attribute 'optimize' …"
};

// Before preprocessing: directives that would confuse it. `source` as the compiler gets it; `file` names it in messages.
std::optional<SourceRefusal> GuardRawSource(std::string_view source, std::string_view file);

// After preprocessing with g++ -E: words that would go round the hooks. `file` as above.
std::optional<SourceRefusal> GuardPreprocessed(std::string_view text, std::string_view file);

// Whether a word `asm` is left in what the candidate wrote. Inline PTX is translated before preprocessing: what is left
// was put together by the preprocessor, and nobody has read it.
std::optional<SourceRefusal> GuardTranslated(std::string_view text, std::string_view file);

}  // namespace hone::sim
