// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a model's edits break the file: the share of its replies that is lost to form instead of to ideas.
//
// Four in five of the compile errors in CuTeGen's published runs come from patches by line number that hit the wrong
// place. Here the same damage shows in two ways: an edit that cannot be put in place (search text that is not there,
// a region that does not exist, brackets that no longer match; seen before anything is compiled), and a file that
// the compiler refuses for its structure. Both count, first replies as well as repairs, so that a repair turn hides
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/tuner/strategy.h"

namespace hone {

struct StructureCount {
  int64_t replies = 0;      // that were to become a candidate
  int64_t not_applied = 0;  // of them, edits that could not be put in place or left no sound file
  int64_t broken = 0;       // candidates that the compiler refused for their structure
  int64_t failed() const { return not_applied + broken; }
  double rate() const { return replies == 0 ? 0 : static_cast<double>(failed()) / static_cast<double>(replies); }
  StructureCount& operator+=(const StructureCount& other) {
    replies += other.replies;
    not_applied += other.not_applied;
    broken += other.broken;
    return *this;
  }
};
StructureCount CountStructure(const RunView& view);

// "3 of 41 replies (7.3 %)"; "no replies" where there are none.
std::string StructureText(const StructureCount& count);

// Whether a problem of a node (agents/reply.h, agents/regions.h) is one of form. A refusal, an empty reply or a
// repeated idea is not.
bool IsStructuralProblem(std::string_view problem);
// Whether the first error of a compiler's text is about how a file hangs together: braces, definitions made twice,
// text outside of any function. g++, NVRTC and nvcc. A name that is not declared may be an edit that lost a
// function or a plain mistake; it does not count.
bool IsStructuralDiagnostic(std::string_view text);

}  // namespace hone
