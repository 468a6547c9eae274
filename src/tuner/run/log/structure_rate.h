// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts how often a model's replies fail because of their form (they break the file) and not because of their idea.
//
// Four in five of the compile errors in CuTeGen's published runs come from patches by line number that hit the wrong
// place. Here such damage appears in two ways: an edit that cannot be placed (search text not found, an unknown region,
// unbalanced brackets; found before compiling), and a file whose structure the compiler refuses. Both are counted, in
// first replies and in repairs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hone/tuner/strategy.h"

namespace hone {

struct StructureCount {
  int64_t replies = 0;      // replies that should have become a candidate
  int64_t not_applied = 0;  // edits among them that could not be placed or left a damaged file
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
// Counts over all replies of the run that should have become candidates.
StructureCount CountStructure(const RunView& view);

// Returns "3 of 41 replies (7.3 %)", or "no replies".
std::string StructureText(const StructureCount& count);

// Returns whether a node failed because its reply was malformed, by the node's `problem` (agents/reply.h,
// agents/regions.h). A refusal, an empty reply or a repeated idea is not malformed.
bool IsStructuralProblem(std::string_view problem);
// Returns whether the first error in a compiler's text concerns the file's structure: braces, duplicate definitions,
// text outside of functions. For g++, NVRTC and nvcc. An undeclared name may come from an edit that lost a function or
// from a plain mistake; it does not count.
bool IsStructuralDiagnostic(std::string_view text);

}  // namespace hone
